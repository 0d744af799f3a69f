import { AccessTokens } from "@credit-data/core"
import { Clock, Effect, Layer } from "effect"
import { endpoint, token } from "./endpoint.ts"
import type { Measurement } from "./report.ts"

const gets = 1_000_000
/** So often, 55 minutes pass between two gets. */
const steps = 10_000

/** The size of the heap in bytes after garbage collection. Requires `--expose-gc`. */
const heap = Effect.promise(async () => {
  for (let round = 0; round < 5; round++) {
    globalThis.gc?.()
    await new Promise((resume) => setImmediate(resume))
  }
  return process.memoryUsage().heapUsed
})

/** A clock that advances only when `pass` is called. */
const makeClock = () => {
  let millis = 0
  const clock: Clock.Clock = {
    ...Clock.make(),
    unsafeCurrentTimeMillis: () => millis,
    unsafeCurrentTimeNanos: () => BigInt(millis) * 1_000_000n,
    currentTimeMillis: Effect.sync(() => millis),
    currentTimeNanos: Effect.sync(() => BigInt(millis) * 1_000_000n),
    // deadlines must not end
    sleep: () => Effect.never
  }
  return { clock, pass: (by: number) => (millis += by) }
}

/** The heap after 1 000 000 gets, in which tokens are renewed, as a ratio to the heap after a tenth of them. */
export const memory: Effect.Effect<ReadonlyArray<Measurement>, unknown> = Effect.suspend(() => {
  const { clock, pass } = makeClock()
  let requests = 0
  const counted = endpoint(() => token(`token-${++requests}`, "1 hour"))
  return Effect.gen(function*() {
    const { get } = yield* AccessTokens.AccessTokens
    const work = Effect.fnUntraced(function*(share: number) {
      for (let step = 0; step < steps * share; step++) {
        pass(55 * 60 * 1_000)
        for (let each = 0; each < gets / steps; each++) yield* get
      }
      return yield* heap
    })
    const before = yield* work(0.1)
    const after = yield* work(0.9)
    return [
      { what: "1 000 000 gets", value: requests, unit: "token requests" },
      { what: "heap after them", value: after / before, unit: "× the heap after a tenth of them", atMost: 1.02 }
    ]
  }).pipe(Effect.provide(AccessTokens.layer().pipe(Layer.provide(counted))), Effect.withClock(clock))
})
