// Requests a token many times. Prints the outcome of each request, and how much the memory of the process grew.

import { AuthV2 } from "@credit-data/auth-v2"
import { TokenEndpoint } from "@credit-data/core"
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer, Schedule } from "effect"
import { transport } from "../../src/programOptions.ts"

const times = 10

const memory = () => process.memoryUsage().rss / 1024 / 1024

Effect.gen(function*() {
  const endpoint = yield* TokenEndpoint.TokenEndpoint
  const outcome = Effect.map(
    Effect.flip(endpoint.requestToken({ _tag: "Nothing" })),
    (error) => "rule" in error ? error.rule : error._tag
  )
  // the first request loads modules, which also takes memory
  yield* outcome
  const before = memory()
  let peak = before
  const watch = Effect.sync(() => {
    peak = Math.max(peak, memory())
  })
  yield* Effect.forkScoped(Effect.repeat(watch, Schedule.spaced("5 millis")))
  const outcomes: Array<string> = []
  for (let count = 0; count < times; count++) {
    outcomes.push(yield* outcome)
    yield* watch
  }
  yield* Console.log(JSON.stringify({ outcomes, grownMiB: Math.round(peak - before) }))
}).pipe(
  Effect.scoped,
  Effect.provide(Layer.provide(AuthV2.layerTokenEndpointConfig(), transport)),
  NodeRuntime.runMain
)
