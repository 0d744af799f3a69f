import { AccessTokens } from "@credit-data/core"
import { Telemetry } from "@credit-data/telemetry"
import { Context, Effect, Layer } from "effect"
import { timePerRun } from "./cachedGet.ts"
import { instantEndpoint } from "./endpoint.ts"
import { median, type Measurement } from "./report.ts"

const rounds = 15

/** The time of `get` with a cached token and with telemetry, as a ratio to `get` without telemetry in the same round. */
export const telemetry: Effect.Effect<ReadonlyArray<Measurement>, unknown> = Effect.gen(function*() {
  const supply = AccessTokens.layer().pipe(Layer.provide(instantEndpoint))
  const { get: bare } = Context.get(yield* Layer.build(supply), AccessTokens.AccessTokens)
  const context = yield* Layer.build(Layer.provideMerge(Telemetry.layer(), Layer.fresh(supply)))
  const { get: observed } = Context.get(context, AccessTokens.AccessTokens)
  const ratios: Array<number> = []
  for (let round = 0; round < rounds; round++) {
    // the order changes with each round, because the second profits from what the first warmed up
    const [first, second] = round % 2 === 0 ? [bare, observed] : [observed, bare]
    const times = [yield* timePerRun(first), yield* timePerRun(second)] as const
    if (round > 0) ratios.push(round % 2 === 0 ? times[1] / times[0] : times[0] / times[1])
  }
  return [{ what: "`get` of a cached token, with metrics", value: median(ratios), unit: "× without", atMost: 1.1 }]
}).pipe(Effect.scoped)
