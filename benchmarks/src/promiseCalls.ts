/** The size of a large body. */
export const downloadBytes = 10_000_000
