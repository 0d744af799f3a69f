import * as DateTime from "effect/DateTime"

/**
 * An instant in both forms, to the second: a time that is calculated from a remaining life differs by a millisecond each time.
 * Local time without a zone has confused the scripts of users of other tools.
 */
export const instant = (at: DateTime.Utc) => {
  const epochSeconds = Math.round(DateTime.toEpochMillis(at) / 1_000)
  return { iso: new Date(epochSeconds * 1_000).toISOString().replace(".000Z", "Z"), epochSeconds }
}
