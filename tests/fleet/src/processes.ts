// How long this many processes wait for the first token, over one Redis: a line of JSON with the milliseconds of each round. The
// arguments are the number of processes and of rounds. `pnpm bench growth` runs it.

import { Simulator } from "@credit-data/simulator"
import { startRedis } from "@credit-data/test-support/redisServer"
import { NodeRuntime } from "@effect/platform-node"
import { Console, Duration, Effect, Layer, Logger } from "effect"
import { askAll, startWorkers } from "./fleet.ts"

const [processes = 1, rounds = 1] = process.argv.slice(2).map(Number)

Effect.gen(function*() {
  const workers = yield* startWorkers(processes)
  const redis = (yield* startRedis()).url
  // each round has a new endpoint, and with it a new token
  const round = Effect.gen(function*() {
    const variables = yield* Effect.provide(Simulator.variables, yield* Layer.build(Simulator.layer()))
    yield* askAll(workers, { do: "start", variables, redis })
    // the connections are made in the background
    yield* Effect.sleep(Duration.millis(processes * 40))
    const start = performance.now()
    yield* askAll(workers, { do: "get" })
    const millis = performance.now() - start
    yield* askAll(workers, { do: "close" })
    return millis
  }).pipe(Effect.scoped)
  yield* Console.log(JSON.stringify(yield* Effect.replicateEffect(round, rounds)))
}).pipe(
  Effect.scoped,
  Effect.provide(Logger.remove(Logger.defaultLogger)),
  NodeRuntime.runMain({ disablePrettyLogger: true })
)
