import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { constVoid } from "effect/Function"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"
import * as Instant from "../instant.ts"
import { within } from "../within.ts"
import * as SingleFlight from "./singleFlight.ts"

/** The pause between two searches, in milliseconds. It differs, so that the processes of a fleet do not search together. */
const pauseMillis = { from: 750, to: 1_250 }

/** A caller waits for a search for at most this long, before it gets the failure that is remembered. */
const patienceMillis = 600

/** A search that takes longer has lost its timers, so another one may begin. */
const overdueMillis = 10_000

/**
 * Searches for a token of another process while callers ask and the failure of the last token request is remembered. The failure protects
 * the token endpoint, and a search sends nothing to it. All callers together cause one search about once a second.
 */
export const make = Effect.fnUntraced(function*(
  clock: Clock.Clock,
  search: Effect.Effect<void>
): Effect.fn.Return<Effect.Effect<void>, never, Scope.Scope> {
  const searches = yield* SingleFlight.make<void, never>(clock)
  const now = () => Instant.now(clock)
  let nextAt: Instant.Instant | undefined

  const isPaused = () => nextAt !== undefined && !Instant.reached(now(), nextAt)

  const begin = Effect.map(Random.nextRange(pauseMillis.from, pauseMillis.to), (pause) => {
    // another caller may have begun one meanwhile, and it may have ended
    if (searches.isUnderWay() || isPaused()) return
    nextAt = Instant.later(now(), pause)
    searches.begin(search, overdueMillis)
  })
  return Effect.suspend(() =>
    !searches.isUnderWay() && isPaused()
      ? Effect.void
      : Effect.zipRight(begin, Effect.suspend(searches.outcome)).pipe(
        within(patienceMillis, constVoid),
        Effect.ignore,
        Effect.withClock(clock)
      )
  )
})
