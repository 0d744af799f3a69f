import type { StoreStatus } from "@credit-data/core/TokenStatus"
import * as TokenEvent from "@credit-data/core/TokenEvent"
import { within } from "@credit-data/core/Unstable"
import type * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as PubSub from "effect/PubSub"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { StoreError } from "../StoreError.ts"

/** Faulty operations of the store may delay one token request by this long in total. */
const budgetMillis = 600

/** After so many consecutive faults, the store is left alone for some time. */
const faultsToOpen = 3
const openMillis = 10_000

/** The store is faulty, and the process goes on alone. It was reported already. */
export class Alone extends Data.TaggedError("Alone")<{}> {}

/** The uses of the store by one token request. */
export interface Session {
  /** Runs an operation within what is left of the budget. */
  readonly use: <A>(operation: Effect.Effect<A, StoreError>) => Effect.Effect<A, Alone>
}

/** Guards the token requests of this process against a faulty store. */
export interface StoreAccess {
  /** Fails while the store is left alone. */
  readonly session: Effect.Effect<Session, Alone>
  /** Reports that the store cannot be used for another reason. */
  readonly fault: (reason: TokenEvent.StoreFailure) => Effect.Effect<Alone>
  readonly taken: (slot: "tokensTaken" | "failuresTaken") => Effect.Effect<void>
  readonly published: (content: "Token" | "Failure") => Effect.Effect<void>
  readonly status: Effect.Effect<StoreStatus>
  readonly events: Stream.Stream<TokenEvent.TokenEvent>
}

// a logger that throws does not end a token request
const log = (message: Effect.Effect<void>) => Effect.catchAllCause(message, () => Effect.void)

export const make = Effect.fnUntraced(function*(
  { clock, tokenEndpoint }: { readonly clock: Clock.Clock; readonly tokenEndpoint: string }
): Effect.fn.Return<StoreAccess, never, Scope.Scope> {
  const hub = yield* Effect.acquireRelease(PubSub.sliding<TokenEvent.TokenEvent>(64), PubSub.shutdown)
  const millis = () => Number(clock.unsafeCurrentTimeNanos()) / 1e6
  const counts = { tokensTaken: 0, failuresTaken: 0, published: 0, faults: 0 }
  let consecutive = 0
  let closedAt = -Infinity
  let lastFault: TokenEvent.StoreFailure | undefined

  const announce = (event: (at: DateTime.Utc) => TokenEvent.TokenEvent) =>
    Effect.suspend(() => PubSub.publish(hub, event(DateTime.unsafeMake(clock.unsafeCurrentTimeMillis()))))

  const fault = (reason: TokenEvent.StoreFailure) =>
    Effect.gen(function*() {
      const isFirst = lastFault === undefined
      lastFault = reason
      counts.faults++
      consecutive++
      if (consecutive >= faultsToOpen) closedAt = millis() + openMillis
      yield* announce((at) => TokenEvent.StoreFailed({ at, tokenEndpoint, reason }))
      if (isFirst) {
        yield* log(Effect.logWarning(
          `The shared store of access tokens cannot be used (${reason}). This process requests its own tokens from ` +
            `${tokenEndpoint} until the store works again.`
        ))
      }
      return new Alone()
    })

  const worked = Effect.suspend(() => {
    consecutive = 0
    if (lastFault === undefined) return Effect.void
    lastFault = undefined
    return log(Effect.logInfo(`The shared store of access tokens for ${tokenEndpoint} works again.`))
  })

  const session = (): Session => {
    let left = budgetMillis
    return {
      use: (operation) =>
        Effect.suspend(() => {
          const startedAt = millis()
          return operation.pipe(
            Effect.mapError(({ reason }): TokenEvent.StoreFailure => reason),
            // an engine of the user may die
            Effect.catchAllDefect(() => Effect.fail("Refused" as const)),
            within(Duration.millis(left), () => "Timeout" as const),
            Effect.tap(worked),
            Effect.catchAll((reason) => {
              left = Math.max(0, left - (millis() - startedAt))
              return Effect.flatMap(fault(reason), Effect.fail)
            })
          )
        })
    }
  }

  return {
    session: Effect.suspend(() => millis() < closedAt ? Effect.fail(new Alone()) : Effect.succeed(session())),
    fault,
    taken: (slot) =>
      Effect.sync(() => {
        counts[slot]++
      }),
    published: (content) =>
      Effect.suspend(() => {
        counts.published++
        return announce((at) => TokenEvent.Published({ at, tokenEndpoint, content }))
      }),
    status: Effect.sync(() => ({
      ...counts,
      available: millis() >= closedAt,
      lastFault: Option.fromNullable(lastFault)
    })),
    events: Stream.fromPubSub(hub)
  }
})
