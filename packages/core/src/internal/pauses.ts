// The pauses after failed token requests, in milliseconds. What waits, and every text that names a pause, follows from this table.

/**
 * The pause after a failure that is not retryable.
 * @limit time
 */
export const refusalPause = 30_000

/**
 * The pause after a retryable failure without `Retry-After`. It doubles with each further failure. The second half of it is random.
 * @limit time
 */
export const shortestPause = 1_000

/**
 * The longest pause after retryable failures, whether the response has a `Retry-After` or not.
 * @limit time
 */
export const longestPause = 60_000

/** The longest pauses, by the status of the response. */
const longestPauses: { readonly [status: number]: number; readonly other: number } = { other: longestPause }

/** The longest pause after retryable failures with this status. */
export const longestPauseAfter = (status?: number): number =>
  (status === undefined ? undefined : longestPauses[status]) ?? longestPauses.other
