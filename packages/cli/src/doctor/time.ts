const minute = 60
const hour = 60 * minute
const day = 24 * hour

const plural = (count: number, unit: string): string => `${count} ${unit}${count === 1 ? "" : "s"}`

/** A length of time in the largest unit of which there are at least two, except for a second. */
export const length = (millis: number): string => {
  const seconds = Math.round(millis / 1_000)
  if (seconds < 2 * minute) return plural(seconds, "second")
  if (seconds < 2 * hour) return plural(Math.round(seconds / minute), "minute")
  if (seconds < 2 * day) return plural(Math.round(seconds / hour), "hour")
  return plural(Math.floor(seconds / day), "day")
}

/** An instant in UTC, to the second. */
export const instant = (millis: number): string => new Date(millis).toISOString().replace(/\.\d+Z$/, "Z")

/** A date in UTC. */
export const date = (millis: number): string => new Date(millis).toISOString().slice(0, 10)
