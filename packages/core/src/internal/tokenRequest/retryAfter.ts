import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"

const cap = Duration.seconds(60)

/** The oldest of the three forms of an HTTP date, asctime, is in GMT but has no `GMT` at its end. */
const inGmt = (date: string) => date.endsWith("GMT") ? date : `${date} GMT`

/**
 * The wait that a `Retry-After` header requests (RFC 9110, section 10.2.3): whole seconds or an HTTP date. The wait is limited,
 * so that a server cannot stop a program for long. An invalid header is ignored.
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
