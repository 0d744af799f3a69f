import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Fiber, Logger, LogLevel } from "effect"
import { writeFileSync } from "node:fs"
import { cpus } from "node:os"
import { cachedGet } from "./cachedGet.ts"
import { authenticatedCall } from "./calls.ts"
import { coldCallers } from "./coldCallers.ts"
import { commandLine } from "./commandLine.ts"
import { growth } from "./growth.ts"
import { fleet } from "./fleet.ts"
import { idleProxy } from "./idleProxy.ts"
import { memory } from "./memory.ts"
import { compare, writeComparison } from "./peers/compare.ts"
import { promise } from "./promise.ts"
import { allMet, table } from "./report.ts"
import { sharedTokens } from "./sharedTokens.ts"
import { transports } from "./transports.ts"
import { telemetry } from "./telemetry.ts"
import { sustained } from "./sustained.ts"
import { understanding } from "./understanding.ts"

const scenarios = {
  cachedGet,
  telemetry,
  sharedTokens,
  coldCallers,
  memory,
  authenticatedCall,
  promise,
  understanding,
  idleProxy,
  growth,
  fleet,
  commandLine
}

/** The benchmarks that print their own table and write it to `results`. */
const pages = {
  transports: (machine: string) => Effect.as(transports(machine), true),
  peers: compare
}

/** What only runs if the command line names it: a benchmark that takes long, and writing the comparison without measuring it. */
const named = { sustained, comparison: () => Effect.as(writeComparison, true) }

/** Runs a scenario in a new fiber, because values that a layer sets in a fiber, such as a clock, can outlive the layer. */
const inItsOwnFiber = <A, E>(scenario: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.flatten(Effect.flatMap(Effect.fork(scenario), Fiber.await))

const machine = `Node ${process.versions.node}, ${cpus().length} × ${cpus()[0]?.model ?? "unknown"}.`

const names = process.argv.slice(2)

/** All benchmarks, or those that the command line names. */
const chosen = <A>(all: Readonly<Record<string, A>>): ReadonlyArray<A> =>
  Object.entries(all).filter(([name]) => names.length === 0 || names.includes(name)).map(([, each]) => each)

Effect.gen(function*() {
  yield* Console.log(`${machine}\n`)
  const rows = (yield* Effect.forEach(chosen(scenarios), inItsOwnFiber)).flat()
  if (rows.length > 0) yield* Console.log(`${table(rows)}\n`)
  if (names.length === 0) {
    const text = `# Figures with a threshold\n\n${machine} \`bench\` without arguments writes this page.\n\n${
      table(rows)
    }\n`
    yield* Effect.sync(() => writeFileSync(new URL("../results/figures.md", import.meta.url), text))
  }
  const namedOnes = names.length === 0 ? [] : chosen<(machine: string) => Effect.Effect<boolean, unknown>>(named)
  const met = yield* Effect.forEach([...chosen(pages), ...namedOnes], (page) => page(machine))
  return allMet(rows) && !met.includes(false)
}).pipe(
  // what a supply logs would stand between the tables
  Effect.provide(Logger.minimumLogLevel(LogLevel.None)),
  Effect.flatMap((met) => met ? Effect.void : Effect.fail("A threshold was missed.")),
  NodeRuntime.runMain
)
