import * as DateTime from "effect/DateTime"

/** An instant in both forms. Local time without a zone has confused the scripts of users of other tools. */
export const instant = (at: DateTime.Utc) => ({
  iso: DateTime.formatIso(at),
  epochSeconds: Math.floor(DateTime.toEpochMillis(at) / 1_000)
})
