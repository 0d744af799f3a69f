// @ts-check
// Prints how many tests passed, failed and were skipped, and the name of each skipped test to stderr. Exits with 1 if no test passed, or if
// a test was skipped. Uses Node only, because the stage `stranger` runs before anything is installed.
//
//   node tools/ci/count.mjs FILE [listed]
//
// The file is a report of vitest in JSON, or what its default reporter printed. With `listed`, tests may be skipped: those that
// effect-4/exceptions.ts lists.

import { readFileSync } from "node:fs"

/** @typedef {{ passed: number, failed: number, skipped: ReadonlyArray<string> | number }} Counts */

/**
 * @typedef {object} Report
 * @property {number} numPassedTests
 * @property {number} numFailedTests
 * @property {ReadonlyArray<{ assertionResults: ReadonlyArray<{ fullName: string, status: string }> }>} testResults
 */

/**
 * @param {Report} report
 * @returns {Counts}
 */
const ofReport = ({ numFailedTests, numPassedTests, testResults }) => ({
  passed: numPassedTests,
  failed: numFailedTests,
  skipped: testResults.flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => !["passed", "failed"].includes(status))
    .map(({ fullName }) => fullName)
})

/**
 * @param {string} log
 * @returns {Counts}
 */
const ofLog = (log) => {
  const line = /^ +Tests .*$/m.exec(log)?.[0] ?? ""
  /** @param {string} word */
  const number = (word) => Number(new RegExp(`(\\d+) ${word}`).exec(line)?.[1] ?? 0)
  return { passed: number("passed"), failed: number("failed"), skipped: number("skipped") + number("todo") }
}

const [file = "", listed] = process.argv.slice(2)
const text = readFileSync(file, "utf8")
const { failed, passed, skipped } = file.endsWith(".json") ? ofReport(JSON.parse(text)) : ofLog(text)
const names = typeof skipped === "number" ? [] : skipped
const count = typeof skipped === "number" ? skipped : names.length
for (const name of names) console.error(`skipped: ${name}`)
console.log(passed, failed, count)
if (passed === 0 || count > 0 && listed === undefined) process.exitCode = 1
