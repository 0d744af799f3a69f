import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { constVoid } from "effect/Function"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"
import * as Instant from "../instant.ts"
import { within } from "../within.ts"
import * as SingleFlight from "./singleFlight.ts"

/** The pause between two lookups, in milliseconds. It differs, so that the processes of a fleet do not look at the same time. */
const lookupPauseMillis = { from: 750, to: 1_250 }

/** A caller waits for a lookup for at most this long, before it gets the failure that is remembered. */
const patienceMillis = 600

/** A lookup that takes longer has lost its timers, so another lookup may begin. */
const overdueMillis = 10_000

/**
 * Looks into the shared store for a token of another process, while callers request tokens and the failure of the last token
 * request is remembered. The failure protects the token endpoint, and a lookup sends nothing to it. All callers together cause
 * one lookup about once a second.
 */
export const make = Effect.fnUntraced(function*(
  clock: Clock.Clock,
  lookUp: Effect.Effect<void>
): Effect.fn.Return<Effect.Effect<void>, never, Scope.Scope> {
  const lookups = yield* SingleFlight.make<void, never>()
  const now = () => Instant.now(clock)
  let nextAt: Instant.Instant | undefined

  const isPaused = (at: Instant.Instant) =>
    !lookups.isUnderWay(at) && nextAt !== undefined && !Instant.reached(at, nextAt)

  const begin = Effect.map(Random.nextRange(lookupPauseMillis.from, lookupPauseMillis.to), (pause) => {
    // while the pause was drawn, another caller may have begun a lookup, which may have ended already
    const at = now()
    if (lookups.isUnderWay(at) || isPaused(at)) return
    nextAt = Instant.later(at, pause)
    lookups.begin(at, lookUp, overdueMillis)
  })
  return Effect.suspend(() =>
    isPaused(now())
      ? Effect.void
      : Effect.zipRight(begin, Effect.suspend(lookups.outcome)).pipe(
        within(patienceMillis, constVoid),
        Effect.ignore,
        Effect.withClock(clock)
      )
  )
})
