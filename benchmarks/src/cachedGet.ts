import { AccessTokens } from "@credit-data/core"
import { Effect, Layer, Ref } from "effect"
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
  const ratios: Array<number> = []
  const baseline: Array<number> = []
  for (let round = 0; round < rounds; round++) {
    const reference = yield* timePerRun(Ref.get(ref))
    const own = yield* timePerRun(get)
    // the first round is a warm-up
    if (round === 0) continue
    baseline.push(reference)
    ratios.push(own / reference)
  }
  return [{
    what: "`get` of a cached token",
    value: median(ratios),
    unit: `× Ref.get (${median(baseline).toFixed(0)} ns)`,
    atMost: 3
  }]
}).pipe(Effect.provide(AccessTokens.layer().pipe(Layer.provide(instantEndpoint))), Effect.scoped)
