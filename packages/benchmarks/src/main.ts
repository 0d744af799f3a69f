import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Fiber } from "effect"
import { cpus } from "node:os"
import { cachedGet } from "./cachedGet.ts"
import { authenticatedCall, lateRejections } from "./calls.ts"
import { coldCallers } from "./coldCallers.ts"
import { deadEndpoint } from "./deadEndpoint.ts"
import { memory } from "./memory.ts"
import { compare } from "./peers/compare.ts"
import { allMet, table } from "./report.ts"
import { failingRenewal, shortLifetime } from "./underLoad.ts"

const scenarios = [
  cachedGet,
  coldCallers,
  shortLifetime,
  failingRenewal,
  deadEndpoint,
  memory,
  authenticatedCall,
  lateRejections
]

/** What a layer has set in a fiber, a clock of its own for one, may outlive the region that it was provided to. */
const inItsOwnFiber = <A, E>(scenario: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.flatten(Effect.flatMap(Effect.fork(scenario), Fiber.await))

const machine = `Node ${process.versions.node}, ${cpus().length} × ${cpus()[0]?.model ?? "unknown"}.`

Effect.gen(function*() {
  yield* Console.log(`${machine}\n`)
  const rows = (yield* Effect.forEach(scenarios, inItsOwnFiber)).flat()
  yield* Console.log(`${table(rows)}\n`)
  const isFirst = yield* compare(machine)
  if (!allMet(rows) || !isFirst) return yield* Effect.fail("A bar was missed.")
}).pipe(NodeRuntime.runMain)
