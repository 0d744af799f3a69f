import { Effect } from "effect"
import { execFileSync, spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { median, type Measurement } from "./report.ts"

const folder = fileURLToPath(new URL("../../packages/cli/", import.meta.url))

const rounds = 15

const millis = (args: ReadonlyArray<string>) => {
  const from = performance.now()
  spawnSync(process.execPath, args)
  return performance.now() - from
}

/** How long the help takes, against a program that does nothing. Both take turns, because the machine may be busy for a while. */
export const commandLine: Effect.Effect<ReadonlyArray<Measurement>> = Effect.sync(() => {
  execFileSync("npx", ["-y", "pnpm@10.34.9", "run", "bundle"], { cwd: folder, stdio: "ignore" })
  const times = Array.from({ length: rounds }, () => ({
    bare: millis(["-e", "0"]),
    help: millis([`${folder}dist/credit-data.js`, "--help"])
  }))
  const bare = median(times.map(({ bare }) => bare))
  return [
    { what: "`node -e 0`", value: bare, unit: "ms" },
    {
      what: "`credit-data --help`",
      value: median(times.map(({ help }) => help)) / bare,
      unit: "× bare node",
      atMost: 4
    }
  ]
})
