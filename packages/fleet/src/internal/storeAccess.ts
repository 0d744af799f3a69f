import * as TokenEvent from "@credit-data/core/TokenEvent"
import type { StoreStatus } from "@credit-data/core/TokenStatus"
import { Broadcast, Instant, SafeLog, within } from "@credit-data/core/Internal"
import type * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import { StoreError } from "../StoreError.ts"
import { toleranceMillis } from "./content.ts"

/** The store may delay one token request by this long in total, apart from the wait for another process. */
const budgetMillis = 600

/**
 * The time is counted in steps of this length, which may take longer. A process that gets no CPU therefore does not mistake
 * its own slowness for the store's.
 */
const stepMillis = 50

/** Ends an operation that cannot be interrupted. */
const longestOperation = Duration.seconds(10)

/** After this many consecutive token requests with a fault, the store is left alone for some time. */
const faultsToPause = 3
const pauseMillis = 10_000

/** The store is faulty, and the process requests its own token. The fault is already reported. */
export class Alone extends Data.TaggedError("Alone")<{}> {}

/** The uses of the store by one token request. */
export interface Session {
  /** Runs an operation for which a caller waits, within what is left of the budget. */
  readonly withinBudget: <A>(operation: Effect.Effect<A, StoreError>) => Effect.Effect<A, Alone>
  /** Runs an operation for which no caller waits, or while the process waits for another process anyway. Only a fault counts. */
  readonly unhurried: Session["withinBudget"]
  /** The store cannot be used for another reason. */
  readonly fail: (reason: TokenEvent.StoreFailure) => Effect.Effect<never, Alone>
  /** The token request has ended. Without a fault, the store works. */
  readonly end: Effect.Effect<void>
}

/** Guards the token requests of this process against a faulty store. */
export interface StoreAccess {
  /** Fails while the store is left alone. */
  readonly session: Effect.Effect<Session, Alone>
  readonly taken: (what: "tokensTaken" | "failuresTaken") => Effect.Effect<void>
  readonly published: (content: "Token" | "Failure") => Effect.Effect<void>
  /**
   * By how much the clocks of the store and of this process disagree with the publisher's clock about the end of a token's life.
   */
  readonly skewed: (millis: number) => Effect.Effect<void>
  readonly status: Effect.Effect<StoreStatus>
  readonly events: Stream.Stream<TokenEvent.TokenEvent>
  readonly eventsLost: () => number
}

/** What to do about a fault, for the engineer on call. */
const todo: Readonly<Record<TokenEvent.StoreFailure, string>> = {
  Unavailable: "Check that the store runs, and its address and credentials.",
  Timeout: "Check whether the store is slow, or whether a firewall drops the connection.",
  Refused: "Check the memory and the permissions of the store, and whether it is a read-only replica.",
  Sealing: "The client secret has fewer than 32 characters: ask the operator for a longer one."
}

const timeout = () => new StoreError({ reason: "Timeout", code: "Timeout" })

export const make = Effect.fnUntraced(function*(
  { clock, tokenEndpoint }: { readonly clock: Clock.Clock; readonly tokenEndpoint: string }
): Effect.fn.Return<StoreAccess, never, Scope.Scope> {
  const { lost, publish, stream } = yield* Broadcast.make<TokenEvent.TokenEvent>(64)
  const millis = () => Instant.monotonicMillis(clock)
  const counts = { tokensTaken: 0, failuresTaken: 0, published: 0, faults: 0 }
  let consecutive = 0
  let pausedUntil = -Infinity
  let isSkewReported = false
  let lastFault: { readonly at: DateTime.Utc; readonly reason: TokenEvent.StoreFailure } | undefined

  const present = () => DateTime.unsafeMake(clock.unsafeCurrentTimeMillis())

  const fault = Effect.fnUntraced(function*(reason: TokenEvent.StoreFailure, code: string, hint = todo[reason]) {
    const isFirst = lastFault === undefined
    const at = present()
    lastFault = { at, reason }
    counts.faults++
    consecutive++
    if (consecutive >= faultsToPause) pausedUntil = millis() + pauseMillis
    yield* publish(() => TokenEvent.StoreFailed({ at, tokenEndpoint, reason }))
    if (isFirst) {
      yield* SafeLog.logWarning(
        `The shared store of access tokens cannot be used (${code}). This process requests its own tokens from ` +
          `${tokenEndpoint} until the store works again. ${hint}`
      )
    }
    return yield* new Alone()
  })

  const worked = Effect.suspend(() => {
    consecutive = 0
    if (lastFault === undefined) return Effect.void
    lastFault = undefined
    return SafeLog.logInfo(`The shared store of access tokens for ${tokenEndpoint} works again.`)
  })

  const session = (): Session => {
    let left = budgetMillis
    let isFaulty = false
    const fail = (reason: TokenEvent.StoreFailure, code: string = reason, hint?: string) =>
      Effect.suspend(() => {
        isFaulty = true
        return fault(reason, code, hint)
      })
    const timed = <A>(operation: Effect.Effect<A, StoreError>, isFree: boolean): Effect.Effect<A, Alone> =>
      Effect.suspend(() => {
        const startedAt = millis()
        let steps = 0
        const spend = Effect.sync(() => {
          left = Math.max(0, left - Math.min(millis() - startedAt, (steps + 1) * stepMillis))
        })
        const limit = Effect.gen(function*() {
          for (let rest = isFree ? budgetMillis : left; rest > 0; rest -= stepMillis) {
            yield* Effect.sleep(Duration.millis(Math.min(rest, stepMillis)))
            steps++
          }
          return yield* timeout()
        })
        return operation.pipe(
          // an engine of the user may die
          Effect.catchAllDefect(() => Effect.fail(new StoreError({ reason: "Refused", code: "Defect" }))),
          Effect.raceFirst(limit),
          within(longestOperation, timeout),
          Effect.tap(isFree ? Effect.void : spend),
          Effect.catchAll(({ code, hint, reason }) => Effect.zipRight(spend, fail(reason, code, hint)))
        )
      })
    return {
      withinBudget: (operation) => timed(operation, false),
      unhurried: (operation) => timed(operation, true),
      fail: (reason) => fail(reason),
      end: Effect.suspend(() => isFaulty ? Effect.void : worked)
    }
  }

  return {
    session: Effect.suspend(() => millis() < pausedUntil ? Effect.fail(new Alone()) : Effect.succeed(session())),
    taken: (what) =>
      Effect.sync(() => {
        counts[what]++
      }),
    published: (content) =>
      Effect.suspend(() => {
        counts.published++
        return publish(() => TokenEvent.Published({ at: present(), tokenEndpoint, content }))
      }),
    skewed: (millis) =>
      Effect.suspend(() => {
        if (millis <= toleranceMillis || isSkewReported) return Effect.void
        isSkewReported = true
        return SafeLog.logWarning(
          `A clock is wrong by ${
            Math.round(millis / 1_000)
          } s: the shared token of ${tokenEndpoint} expires earlier by the clock of ` +
            "the process that published it than by the clocks of the store and of this process. The earlier time counts. Check the clocks."
        )
      }),
    status: Effect.sync(() => ({
      ...counts,
      available: lastFault === undefined,
      lastFault: Option.fromNullable(lastFault)
    })),
    events: stream,
    eventsLost: lost
  }
})
