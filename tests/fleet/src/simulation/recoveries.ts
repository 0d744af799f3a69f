import { Recovery, TokenLife } from "@credit-data/core/Internal"
import type { Duration } from "effect"

/** What follows a failure: a retry within the flight, or the state that remembers the failure. */
export type Next = { readonly _tag: "Retry" } | { readonly _tag: "GaveUp"; readonly state: TokenLife.State }

export const after = (state: TokenLife.State, failed: Recovery.Failed, pause: Duration.Duration): Next => {
  const { isRetried, nextTryAt } = Recovery.decide(state, failed, pause)
  return isRetried ? { _tag: "Retry" } : { _tag: "GaveUp", state: TokenLife.gaveUp(state, failed.error, nextTryAt) }
}
