import type * as Clock from "effect/Clock"

/**
 * Limits how often requests are sent again, over all calls of a client: never more often than calls were sent for the first time,
 * within the last five to ten seconds. A reset of all connections then at most doubles the load, as with the budget of tower.
 */
export interface ResendBudget {
  /** A call is sent for the first time. */
  readonly sent: () => void
  /** Takes a resend from the budget, if there is one. */
  readonly take: () => boolean
}

const halfMillis = 5_000

export const make = (clock: Clock.Clock): ResendBudget => {
  let since = 0
  let left = 0
  let leftBefore = 0
  const refresh = () => {
    const now = Number(clock.unsafeCurrentTimeNanos() / 1_000_000n)
    if (now - since < halfMillis) return
    leftBefore = now - since < 2 * halfMillis ? left : 0
    left = 0
    since = now
  }
  return {
    sent: () => {
      refresh()
      left++
    },
    take: () => {
      refresh()
      if (left > 0) left--
      else if (leftBefore > 0) leftBefore--
      else return false
      return true
    }
  }
}
