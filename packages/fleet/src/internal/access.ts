import type { AccessToken } from "@credit-data/core/AccessToken"
import { clientOf, disconnected, Instant } from "@credit-data/core/Internal"
import type * as TokenEndpoint from "@credit-data/core/TokenEndpoint"
import * as TokenEvent from "@credit-data/core/TokenEvent"
import type { StoreStatus } from "@credit-data/core/TokenStatus"
import type * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { StoreError } from "../StoreError.ts"
import * as Lines from "./logLines.ts"

// How a faulty or slow store is handled: it never becomes a failure of a caller.

/** The store may delay one token request by this long in total, apart from the wait for another process. */
const budgetMillis = 600

/**
 * The time is counted in steps of this length, which may take longer. A process that gets no CPU therefore does not mistake
 * its own slowness for the store's.
 */
const stepMillis = 50

/** After this many consecutive token requests with a fault, the store is left alone for some time. */
const faultsToPause = 3
const pauseMillis = 10_000

/** The store is faulty, and the process requests its own token. The fault is already reported. */
export class WithoutStore extends Data.TaggedError("WithoutStore")<{}> {}

type Run = <A>(operation: Effect.Effect<A, StoreError>) => Effect.Effect<A, WithoutStore>

/** What to do about a fault, for the engineer on call. */
const todo: Readonly<Record<TokenEvent.StoreFailure, string>> = {
  Unavailable: "Check that the store runs, and its address and credentials.",
  Timeout: "Check whether the store is slow, or whether a firewall drops the connection.",
  Refused: "Check the memory and the permissions of the store, and whether it is a read-only replica.",
  Sealing: "The client secret has fewer than 32 characters: ask the operator for a longer one."
}

/** The uses of the store by one token request. */
export type Session = Effect.Effect.Success<Effect.Effect.Success<ReturnType<typeof make>>["session"]>

/** Guards the token requests of a process against a faulty store, and reports how the store is used. */
export const make = Effect.fnUntraced(function*(
  clock: Clock.Clock,
  { clientId, environment, url: tokenEndpoint }: Pick<TokenEndpoint.Service, "clientId" | "environment" | "url">
) {
  const where = `${tokenEndpoint} (${clientOf(environment.name, clientId)})`
  const listeners = new Set<(event: TokenEvent.TokenEvent) => Effect.Effect<void>>()
  const millis = () => Instant.monotonicMillis(clock)
  const counts = { tokensTaken: 0, failuresTaken: 0, published: 0, faults: 0 }
  const taken = new WeakSet<AccessToken>()
  let hasWarned = false
  let consecutive = 0
  let pausedUntil = -Infinity
  let lastUsedAt: DateTime.Utc | undefined
  let lastFault: { readonly at: DateTime.Utc; readonly reason: TokenEvent.StoreFailure } | undefined

  const present = () => DateTime.unsafeMake(clock.unsafeCurrentTimeMillis())

  const fault = Effect.fnUntraced(function*(reason: TokenEvent.StoreFailure, code: string, hint: string) {
    const isFirst = lastFault === undefined
    const at = present()
    lastUsedAt = at
    lastFault = { at, reason }
    counts.faults++
    consecutive++
    if (consecutive >= faultsToPause) pausedUntil = millis() + pauseMillis
    const event = TokenEvent.StoreFailed({ at, tokenEndpoint, reason })
    yield* Effect.forEach(listeners, (listener) => listener(event), { discard: true })
    if (isFirst) {
      yield* Lines.storeUnusable(code, where, hint)
    }
  })

  const worked = Effect.suspend(() => {
    consecutive = 0
    lastUsedAt = present()
    if (lastFault === undefined) return Effect.void
    lastFault = undefined
    return Lines.storeWorks(where)
  })

  const session = () => {
    let isFaulty = false
    const fail = Effect.fnUntraced(function*(reason: TokenEvent.StoreFailure, code: string, hint = todo[reason]) {
      if (!isFaulty) {
        isFaulty = true
        yield* fault(reason, code, hint)
      }
      return yield* new WithoutStore()
    })
    const within = (budget: { left: number }): Run => (operation) => {
      const limit = Effect.gen(function*() {
        while (budget.left > 0) {
          const step = Math.min(budget.left, stepMillis)
          budget.left -= step
          yield* Effect.sleep(Duration.millis(step))
        }
        return yield* new StoreError({ reason: "Timeout", code: "Timeout" })
      })
      // a lease is given back while the request is interrupted, and an engine may ignore an interruption
      return Effect.raceFirst(disconnected(operation), Effect.interruptible(limit)).pipe(
        // a program's own engine may throw
        Effect.catchAllDefect(() => Effect.fail(new StoreError({ reason: "Refused", code: "Defect" }))),
        Effect.catchAll(({ code, hint, reason }) => fail(reason, code, hint))
      )
    }
    const unhurried: Run = (operation) => Effect.suspend(() => within({ left: budgetMillis })(operation))
    return {
      /** Runs an operation for which a caller waits, within what is left of the budget. */
      withinBudget: within({ left: budgetMillis }),
      /** Runs an operation for which no caller waits, or while the process waits for another process anyway. Only a fault counts. */
      unhurried,
      /** The client secret is too short for the store. */
      cannotSeal: fail("Sealing", "Sealing"),
      /** The token request has ended. Without a fault, the store works. */
      end: Effect.suspend(() => isFaulty ? Effect.void : worked)
    }
  }

  return {
    /** Fails while the store is left alone. */
    session: Effect.suspend(() => millis() < pausedUntil ? Effect.fail(new WithoutStore()) : Effect.succeed(session())),
    /** Counts a token that was taken from the store. */
    took: (token: AccessToken): void => {
      counts.tokensTaken++
      taken.add(token)
    },
    tookFailure: (): void => {
      counts.failuresTaken++
    },
    /** Whether a token was taken from the store. */
    wasTaken: (token: AccessToken): boolean => taken.has(token),
    published: (): void => {
      counts.published++
    },
    /** A value cannot be opened. */
    unusable: Effect.suspend(() => {
      if (hasWarned) return Effect.void
      hasWarned = true
      return Lines.valueUnusable(where)
    }),
    status: Effect.sync((): StoreStatus => ({
      ...counts,
      lastUsedAt: Option.fromNullable(lastUsedAt),
      lastFault: Option.fromNullable(lastFault)
    })),
    listen: (listener: (event: TokenEvent.TokenEvent) => Effect.Effect<void>) =>
      Effect.asVoid(Effect.acquireRelease(
        Effect.sync(() => listeners.add(listener)),
        () => Effect.sync(() => listeners.delete(listener))
      ))
  }
})
