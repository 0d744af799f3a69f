import type { TokenError } from "@credit-data/core"
import { Instant, Recovery, TokenLife } from "@credit-data/core/Unstable"
import { Duration } from "effect"

/** What follows a failure: a retry within the flight, or the state that remembers the failure. */
export type Next = { readonly _tag: "Retry" } | { readonly _tag: "GaveUp"; readonly state: TokenLife.State }

type Outcome = { readonly _tag: "Retry" } | {
  readonly _tag: "GaveUp"
  readonly error: TokenError.TokenError
  /** The time from the failure to the next attempt. */
  readonly pause: number
}

const decide = (state: TokenLife.State, failed: Recovery.Failed, pause: Duration.Duration) =>
  Recovery.decide<Outcome>(state, failed, pause, {
    retry: () => ({ _tag: "Retry" }),
    giveUp: (error, { failure }) => ({
      _tag: "GaveUp",
      error,
      pause: failure === undefined ? 0 : Instant.millisBetween(failed.at, failure.nextTryAt)
    })
  })

const kept = new Map<TokenError.TokenError, Map<number, Outcome>>()

/**
 * The decision of `Recovery.decide`. It builds an error, which takes 100 µs, so a decision is kept for all failures that equal the
 * first one but for their time.
 */
export const after = (state: TokenLife.State, failed: Recovery.Failed, pause: Duration.Duration): Next => {
  const hasToken = TokenLife.servable(state, failed.at) !== undefined
  const timeLeft = Instant.millisBetween(failed.at, failed.endsAt)
  // one number for all that the decision depends on, because a text would take longer than the decision
  const key = ((Duration.toMillis(pause) * 100_000 + timeLeft) * 10 + failed.retriesLeft) * 2 + (hasToken ? 1 : 0)
  let ofError = kept.get(failed.error)
  if (ofError === undefined) kept.set(failed.error, ofError = new Map())
  let outcome = ofError.get(key)
  if (outcome === undefined) ofError.set(key, outcome = decide(state, failed, pause))
  return outcome._tag === "Retry"
    ? outcome
    : { _tag: "GaveUp", state: TokenLife.failed(state, outcome.error, Instant.later(failed.at, outcome.pause)) }
}
