import * as Arr from "effect/Array"
import type * as ConfigError from "effect/ConfigError"
import * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as configuration from "./configuration.ts"

export type Parsed<A> = configuration.Parsed<A>

/** Adds the name of the checked option to the error. */
export const at = (path: ReadonlyArray<string>) => <A>(parsed: Parsed<A>): Either.Either<A, ConfigError.ConfigError> =>
  Either.mapLeft(parsed, (reason) => configuration.invalid(path, reason))

/** All problems of the options, each with the name of its option. */
export const problems = (
  options: Record<string, Either.Either<unknown, ConfigError.ConfigError>>
): Either.Either<void, ConfigError.ConfigError> => {
  return Arr.match(Arr.getLefts(Object.values(options)), {
    onEmpty: () => Either.void,
    onNonEmpty: (errors) => Either.left(configuration.together(errors))
  })
}

/** Text with at least one visible character, and without characters that cannot be printed or encoded. */
export const text = (value: unknown): Parsed<string> =>
  !Predicate.isString(value)
    ? Either.left("Expected text")
    : /^[\s\p{Cf}]*$/u.test(value)
    ? Either.left("Expected text that isn't blank")
    : /[\p{Cc}\p{Zl}\p{Zp}]/u.test(value)
    ? Either.left("Expected text without control characters, line breaks included")
    : !value.isWellFormed()
    ? Either.left("Expected well-formed Unicode text, without a lone surrogate")
    : /^[\p{Cf}\p{DI}]|[\p{Cf}\p{DI}]$/u.test(value)
    ? Either.left(
      "Expected text without invisible characters at its ends, such as a byte order mark or a zero-width space"
    )
    : Either.right(value)

/** Text without blanks at its ends: they are invisible, and never part of an identifier. */
export const identifier = (value: unknown): Parsed<string> =>
  Either.filterOrLeft(
    text(value),
    (text) => text === text.trim(),
    () => "Expected text without blanks at its ends"
  )

/** Whether quotes surround a text, as in a file that no shell has read. */
export const isQuoted = (text: string): boolean => /^(["'`]).*\1$|^[“„‘«].*[“”’»]$/su.test(text)

/** A finite duration above zero. */
export const duration = (input: Duration.DurationInput): Parsed<Duration.Duration> => {
  const decoded = Option.filter(Duration.decodeUnknown(input), Duration.isFinite)
  return Option.isSome(decoded) && Duration.greaterThan(decoded.value, Duration.zero)
    ? Either.right(decoded.value)
    : Either.left("Expected a finite duration above zero")
}
