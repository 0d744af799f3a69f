// Runs Stryker on the library packages, which are those without a command, and writes what it found to `scores.json` and `scores.md`.
// Arguments: packages, or none for all. Exits with 1 if the score of a package that was run is below 90 %. It edits the sources while it runs.

import { spawnSync } from "node:child_process"
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { equivalent } from "./equivalent.ts"
import { type Measured, table } from "./table.ts"

const lowest = 90

interface Report {
  readonly files: Readonly<Record<string, { readonly source: string; readonly mutants: ReadonlyArray<Mutant> }>>
}

interface Mutant {
  readonly mutatorName: string
  readonly replacement: string
  readonly status: string
  readonly location: { readonly start: Position; readonly end: Position }
}

interface Position {
  readonly line: number
  readonly column: number
}

const isLibrary = (name: string): boolean =>
  !("bin" in JSON.parse(readFileSync(`packages/${name}/package.json`, "utf8")))

/** The files of a package that are mutated. The contract of stores is a list of tests: stores that break it show that it can fail. */
const filesOf = (name: string): ReadonlyArray<string> =>
  readdirSync(`packages/${name}/src`, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && file !== "index.ts" && file !== "StoreContract.ts")
    .map((file) => `packages/${name}/src/${file}`)
    .toSorted()

/** The text that a mutant replaces. */
const original = (source: string, { end, start }: Mutant["location"]): string => {
  const lines = source.split("\n").slice(start.line - 1, end.line)
  return lines.map((line, at) =>
    line.slice(at === 0 ? start.column - 1 : 0, at === lines.length - 1 ? end.column - 1 : undefined)
  ).join("\n")
}

/** What Stryker found in a file. */
const measured = (file: string, { mutants, source }: Report["files"][string], date: string): Measured => {
  const lives = mutants.filter(({ status }) => status === "Survived" || status === "NoCoverage")
  const texts = lives.map((mutant) => ({
    line: mutant.location.start.line,
    from: original(source, mutant.location),
    to: mutant.replacement
  }))
  const isEquivalent = ({ from, to }: typeof texts[number]) =>
    equivalent.some((each) => file.endsWith(each.file) && each.from === from && each.to === to)
  return {
    date,
    killed: mutants.filter(({ status }) => status === "Killed").length,
    // on a busy machine this says little
    timedOut: mutants.filter(({ status }) => status === "Timeout").length,
    equivalent: texts.filter(isEquivalent).length,
    survivors: texts.filter((each) => !isEquivalent(each)).map(({ from, line, to }) =>
      `${line}: ${from.replace(/\s+/g, " ")} -> ${to.replace(/\s+/g, " ")}`.slice(0, 160)
    )
  }
}

const given = process.argv.slice(2)
const libraries = readdirSync("packages").filter(isLibrary)
const unknown = given.filter((name) => !libraries.includes(name))
if (unknown.length > 0) {
  console.error(`Unknown: ${unknown.join(", ")}. The libraries are ${libraries.join(", ")}.`)
  process.exit(2)
}

const scoresFile = "tools/mutation/scores.json"
const scores: Record<string, Measured> = JSON.parse(readFileSync(scoresFile, "utf8"))
// files that no longer exist
const all = libraries.flatMap(filesOf)
for (const file of Object.keys(scores)) if (!all.includes(file)) delete scores[file]

const failed = (given.length > 0 ? given : libraries).filter((name) => {
  console.log(`\n== ${name}`)
  const report = `packages/${name}/.stryker/mutation.json`
  rmSync(report, { force: true })
  spawnSync("node_modules/.bin/stryker", ["run", "tools/mutation/stryker.config.mjs"], {
    env: {
      ...process.env,
      NODE_OPTIONS: "--import=tsx",
      MUTATED_PACKAGE: name,
      MUTATED_FILES: filesOf(name).join(",")
    },
    stdio: "inherit"
  })
  const found: Report = JSON.parse(readFileSync(report, "utf8"))
  const date = new Date().toISOString().slice(0, 10)
  for (const [file, each] of Object.entries(found.files)) scores[file] = measured(file, each, date)
  const sorted = Object.fromEntries(Object.entries(scores).toSorted(([a], [b]) => a.localeCompare(b)))
  const { markdown, score } = table(sorted)
  writeFileSync(scoresFile, `${JSON.stringify(sorted, null, 2)}\n`)
  writeFileSync("tools/mutation/scores.md", markdown)
  spawnSync("node_modules/.bin/dprint", ["fmt", "tools/mutation/scores.md"])
  return score(name) < lowest
})

if (failed.length > 0) console.error(`Below ${lowest} %: ${failed.join(", ")}`)
process.exitCode = failed.length > 0 ? 1 : 0
