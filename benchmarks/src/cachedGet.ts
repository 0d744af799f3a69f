import { AccessTokens } from "@credit-data/core"
import { Cache, Duration, Effect, Layer, Ref } from "effect"
import { instantEndpoint } from "./endpoint.ts"
import { median, type Measurement } from "./report.ts"

const operations = 300_000
const rounds = 9

/** The time of one operation in a running fiber, in nanoseconds. */
export const timePerRun = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.gen(function*() {
    let left = operations
    const start = process.hrtime.bigint()
    yield* Effect.whileLoop({ while: () => left-- > 0, body: () => effect, step: () => {} })
    return Number(process.hrtime.bigint() - start) / operations
  })

/** The time of `get` with a cached token, as a ratio to `Ref.get` in the same round. */
export const cachedGet: Effect.Effect<ReadonlyArray<Measurement>, unknown> = Effect.gen(function*() {
  const { get } = yield* AccessTokens.AccessTokens
  const ref = yield* Ref.make(yield* get)
  const cache = yield* Cache.make({ capacity: 1, timeToLive: Duration.infinity, lookup: () => get })
  const [cached] = yield* Effect.cachedInvalidateWithTTL(get, "1 hour")
  const competitors = { get, "Cache.get": cache.get("token"), cachedInvalidateWithTTL: cached }

  const ratios: Record<string, Array<number>> = {}
  const baseline: Array<number> = []
  for (let round = 0; round < rounds; round++) {
    const reference = yield* timePerRun(Ref.get(ref))
    if (round > 0) baseline.push(reference)
    for (const [name, effect] of Object.entries(competitors)) {
      const ratio = (yield* timePerRun(effect)) / reference
      if (round > 0) (ratios[name] ??= []).push(ratio)
    }
  }
  return Object.entries(ratios).map(([name, all]) => ({
    what: name === "get" ? "`get` of a cached token" : `for comparison: \`${name}\``,
    value: median(all),
    unit: `× Ref.get (${median(baseline).toFixed(0)} ns)`,
    ...(name === "get" ? { atMost: 3 } : {})
  }))
}).pipe(Effect.provide(AccessTokens.layer().pipe(Layer.provide(instantEndpoint))), Effect.scoped)
