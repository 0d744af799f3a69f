// Runs a tier of the tests several times while every core is kept busy by something else, and prints each test that failed at least
// once. Arguments: how often (10 by default), and `test` (the default), `system` or `effect-4`.

import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { availableParallelism, tmpdir } from "node:os"
import { join } from "node:path"

interface Report {
  readonly testResults: ReadonlyArray<{
    readonly name: string
    readonly message: string
    readonly assertionResults: ReadonlyArray<{
      readonly fullName: string
      readonly status: string
      readonly failureMessages: ReadonlyArray<string>
    }>
  }>
}

const [times = "10", tier = "test"] = process.argv.slice(2)
const tiers: Readonly<Record<string, ReadonlyArray<string>>> = {
  test: ["node_modules/.bin/vitest", "run", "--config", "vitest.workspace.ts"],
  system: ["node_modules/.bin/vitest", "run", "--config", "vitest.workspace.ts", "--mode", "system"],
  "effect-4": ["npx", "-y", "pnpm@10.34.9", "--dir", "effect-4", "test"]
}
const [program = "", ...args] = tiers[tier] ?? []
if (program === "" || !/^[1-9]\d*$/.test(times)) {
  console.error(`Usage: stability [times] [${Object.keys(tiers).join("|")}]`)
  process.exit(2)
}

// these packages are not committed
if (tier === "effect-4") spawnSync("npx", ["-y", "pnpm@10.34.9", "run", "effect-4:write"], { stdio: "inherit" })

const folder = mkdtempSync(join(tmpdir(), "stability-"))
const busy: ReadonlyArray<ChildProcess> = Array.from(
  { length: availableParallelism() },
  () => spawn(process.execPath, ["-e", "for (;;) {}"], { stdio: "ignore" })
)
// they must not keep this program alive after its last run
for (const child of busy) child.unref()
process.once("exit", () => {
  for (const child of busy) child.kill("SIGKILL")
  rmSync(folder, { recursive: true, force: true })
})

const failures = new Map<string, Array<string>>()
const failed = (test: string, message: string) => failures.set(test, [...failures.get(test) ?? [], message])

for (let run = 1; run <= Number(times); run++) {
  const file = join(folder, `${run}.json`)
  const startedAt = performance.now()
  const { signal, status, stderr, stdout } = spawnSync(program, [...args, "--reporter=json", `--outputFile=${file}`], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"]
  })
  const seconds = Math.round((performance.now() - startedAt) / 1_000)
  let count = 0
  try {
    const { testResults }: Report = JSON.parse(readFileSync(file, "utf8"))
    for (const { assertionResults, message, name } of testResults) {
      const inFile = assertionResults.filter((test) => test.status === "failed")
      count += inFile.length
      for (const { failureMessages, fullName } of inFile) {
        failed(`${name.replace(`${process.cwd()}/`, "")} › ${fullName}`, failureMessages[0] ?? "")
      }
      if (inFile.length === 0 && message !== "") failed(name, message)
    }
  } catch {
    // a run that was ended from outside has no report
  }
  if (status !== 0 && count === 0) {
    const printed = `${stdout}\n${stderr}`.trim().split("\n").slice(-10).join("\n")
    failed("the run itself", `${signal ?? `exit code ${status}`}\n${printed}`)
  }
  console.log(`run ${run}: ${status === 0 ? "passed" : `${count} failed`} in ${seconds} s`)
}

for (const [test, messages] of failures) {
  console.log(`\nfailed ${messages.length} of ${times} times: ${test}`)
  console.log(messages[0]?.split("\n").slice(0, 12).join("\n"))
}
console.log(failures.size === 0 ? "\nNo test failed." : `\n${failures.size} tests failed at least once.`)
process.exitCode = failures.size === 0 ? 0 : 1
