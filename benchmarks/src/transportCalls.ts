/** The number of calls in a figure. */
export const calls = 500

/** How many of the concurrent calls are in flight at the same time. */
export const concurrent = 8

/** How many calls a process makes before the measurement. */
export const warmUpCalls = 200
