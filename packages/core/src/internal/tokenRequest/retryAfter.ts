import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"

const cap = Duration.seconds(60)

/** The oldest of the three forms of an HTTP date, asctime's, doesn't say that it is in GMT. */
const inGmt = (date: string) => date.endsWith("GMT") ? date : `${date} GMT`

/**
 * The wait that a `Retry-After` header asks for (RFC 9110, section 10.2.3): whole seconds or an HTTP date. Capped, so
 * that a server can't silence a program; nothing where it makes no sense.
 */
export const parse = (header: string, now: DateTime.Utc): Option.Option<Duration.Duration> => {
  const text = header.trim()
  const wait = /^\d+$/.test(text)
    ? Option.some(Number(text) * 1000)
    : /^[A-Z][a-z]+,? /.test(text)
    ? Option.map(
      DateTime.make(Date.parse(inGmt(text))),
      (date) => DateTime.toEpochMillis(date) - DateTime.toEpochMillis(now)
    )
    : Option.none()
  return wait.pipe(
    Option.filter((millis) => millis >= 0),
    Option.map((millis) => Duration.min(Duration.millis(millis), cap))
  )
}
