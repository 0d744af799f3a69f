import { Simulator } from "@credit-data/simulator"
import { Effect } from "effect"
import { execFileSync, spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { median, type Measurement } from "./report.ts"

const folder = fileURLToPath(new URL("../../packages/cli/", import.meta.url))

const rounds = 15

const node = (): string =>
  execFileSync("npx", ["-y", "-p", "node@24", "node", "-p", "process.execPath"]).toString().trim()

/** How long commands take, against a program that does nothing. All take turns, because the machine may be busy for a while. */
export const commandLine: Effect.Effect<ReadonlyArray<Measurement>> = Effect.gen(function*() {
  const output = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "credit-data-bench-"))),
    (output) => Effect.sync(() => rmSync(output, { recursive: true, force: true }))
  )
  execFileSync("npx", ["-y", "pnpm@10.34.9", "run", "bundle"], { cwd: folder, stdio: "ignore" })
  const env = { ...process.env, ...yield* Simulator.variables, XDG_CACHE_HOME: output }
  const binary = node()
  const program = join(folder, "dist/credit-data.js")
  const millis = (args: ReadonlyArray<string>) =>
    Effect.async<number>((resume) => {
      const from = performance.now()
      spawn(binary, args, { env, stdio: "ignore" }).on("exit", () => resume(Effect.succeed(performance.now() - from)))
    })
  const commands = {
    bare: ["-e", "0"],
    help: [program, "--help"],
    cached: [program, "token", "--cache"],
    fresh: [program, "token"]
  }
  const round = Effect.all({
    bare: millis(commands.bare),
    help: millis(commands.help),
    cached: millis(commands.cached),
    fresh: millis(commands.fresh)
  })
  // the first round fills the caches
  yield* round
  const times = yield* Effect.replicateEffect(round, rounds)
  const bare = median(times.map(({ bare }) => bare))
  const ratio = (name: keyof typeof commands) => median(times.map((each) => each[name])) / bare
  return [
    { what: "`node -e 0` on Node 24", value: bare, unit: "ms" },
    { what: "`credit-data --help`", value: ratio("help"), unit: "× bare node", atMost: 1.6 },
    { what: "`credit-data token --cache`, cached", value: ratio("cached"), unit: "× bare node", atMost: 2.2 },
    { what: "`credit-data token`", value: ratio("fresh"), unit: "× bare node", atMost: 6.5 }
  ]
}).pipe(Effect.scoped, Effect.provide(Simulator.layer()), Effect.orDie)
