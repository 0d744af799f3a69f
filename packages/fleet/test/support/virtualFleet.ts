import type { AccessToken, TokenError } from "@credit-data/core"
import type { StoreEngine, StoreError } from "@credit-data/fleet"
import * as VirtualClock from "@credit-data/test-support/virtualClock"
import { assert } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber, Option, Redacted } from "effect"
import { makeMemory, makeServer, type Process, startProcess } from "./fleet.ts"

/** A fleet in virtual time. The wall clocks of its processes differ by up to four seconds. */
export const setUp = Effect.fnUntraced(function*(options: {
  readonly size?: number
  readonly store?: (store: StoreEngine.Service) => StoreEngine.Service
  /** What happens to the store before the first process starts. */
  readonly before?: (store: StoreEngine.Service) => Effect.Effect<unknown, StoreError.StoreError>
} = {}) {
  const time = VirtualClock.make()
  let storeBack = 0
  const memory = yield* makeMemory.pipe(Effect.withClock(time.clockOf(() => -storeBack)))
  yield* Effect.orDie(options.before?.(memory) ?? Effect.void)
  const store = options.store?.(memory) ?? memory
  const server = makeServer()
  let back = 0
  const start = (ahead: number, credentials?: Effect.Effect<string>) =>
    startProcess(server, store, credentials).pipe(Effect.withClock(time.clockOf(() => ahead - back)))
  const fleet = yield* Effect.forEach(
    Array.from({ length: options.size ?? 2 }),
    (_, index) => start((index % 5 - 2) * 1_000)
  )
  /** What processes get that request tokens at the same time. */
  const ask = Effect.fnUntraced(function*(processes: ReadonlyArray<Process>, within = 30_000) {
    const fibers = yield* Effect.forEach(processes, ({ tokens }) => Effect.fork(Effect.exit(tokens.get)))
    yield* time.pass(within)
    return yield* Effect.forEach(fibers, Fiber.join)
  })
  const get = (process: Process, within?: number) =>
    Effect.flatMap(
      ask([process], within),
      ([outcome]) => outcome === undefined ? Effect.die(new Error("No outcome.")) : Effect.succeed(outcome)
    )
  /** Sets all wall clocks back, except for the store's. */
  const setBack = (millis: number) => {
    back = millis
  }
  const setStoreBack = (millis: number) => {
    storeBack = millis
  }
  return { ...time, ask, fleet, get, server, setBack, setStoreBack, start }
})

export const textOf = (outcome: Exit.Exit<AccessToken.AccessToken, TokenError.TokenError>) =>
  Exit.match(outcome, {
    onFailure: (cause) =>
      Option.match(Cause.failureOption(cause), { onNone: () => "defect", onSome: ({ _tag }) => _tag }),
    onSuccess: ({ secret }) => Redacted.value(secret)
  })

export const one = ([first]: ReadonlyArray<Process>): Process => {
  assert.isDefined(first)
  return first
}

export const storeOf = ({ tokens }: Process) => Effect.map(tokens.status, ({ store }) => Option.getOrThrow(store))
