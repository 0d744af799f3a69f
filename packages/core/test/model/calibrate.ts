// Shows that the model-based test finds bugs: plants one bug after another, and expects the test to fail each time. Each search begins
// with another seed, and a bug that shows only after rare histories can escape one search, but not ten.

import { spawnSync } from "node:child_process"
import { bugs } from "./bugs.ts"

const run = (bug?: number) => {
  const { status, stdout, stderr } = spawnSync(
    "node_modules/.bin/vitest",
    ["run", "--config", "packages/core/test/model/calibrate.config.ts"],
    {
      env: { ...process.env, NO_COLOR: "1", ...(bug === undefined ? {} : { PLANTED_BUG: String(bug) }) },
      encoding: "utf8",
      timeout: 120_000
    }
  )
  return { passed: status === 0, output: stdout + stderr }
}

const searches = 10

const clean = run()
console.log(`${clean.passed ? "passes" : "FAILS"}  without a bug`)

const missed = bugs.filter((bug, index) => {
  let { output, passed } = run(index)
  for (let search = 2; passed && search <= searches; search++) ({ output, passed } = run(index))
  const found = !passed && /Property failed|Test timed out/.test(output)
  const example = /Counterexample: \[(.*?)( \/\*|$)/m.exec(output)?.[1] ??
    (/There is no place.*/.exec(output)?.[0] ?? "")
  console.log(`${found ? "found " : "MISSED"}  ${bug.name.padEnd(80)} ${example.slice(0, 160)}`)
  return !found
})

console.log(`\n${bugs.length - missed.length} of ${bugs.length} bugs found`)
process.exitCode = clean.passed && missed.length === 0 ? 0 : 1
