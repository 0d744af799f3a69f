import type * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Config from "effect/Config"
import * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import { flow } from "effect/Function"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import { ownReason } from "./readFault.ts"

// Reads variables, and reports what is wrong with a variable or an option. A report never contains a value.

/** A checked value, or the reason why it was refused. The reason never contains the value. */
export type Parsed<A> = Either.Either<A, string>

/** A variable, and its description in the error for a missing variable. */
export interface Variable {
  readonly name: string
  readonly what: string
  readonly example?: string | undefined
}

/** Whether quotes surround a text, as in a file that no shell has read. */
export const isQuoted = (text: string): boolean => /^(["'`]).*\1$|^[“„‘«].*[“”’»]$/su.test(text)

/** Adds to the reason that quotes around a refused value are no part of it. `docker run --env-file` keeps the quotes of a file. */
const unquoted = <A>(parse: (text: string) => Parsed<A>) => (text: string): Parsed<A> =>
  Either.mapLeft(
    parse(text),
    (reason) => isQuoted(text) ? `${reason}. Write the value without the quotes around it` : reason
  )

/** A Config that reads one variable. The error for a wrong value names the variable and what was expected. */
export const variable = <A>({ example, name, what }: Variable, parse: (text: string) => Parsed<A>): Config.Config<A> =>
  Config.primitive(
    what,
    flow(
      // a provider of the program may return anything
      (value: unknown) => Predicate.isString(value) ? unquoted(parse)(value) : Either.left("Expected text"),
      Either.mapLeft((reason) => invalid([], reason))
    )
  ).pipe(
    Config.orElseIf({
      if: ConfigError.isMissingDataOnly,
      orElse: () => Config.fail(example === undefined ? what : `${what}, for example ${example}`)
    }),
    Config.nested(name)
  )

/** A `ConfigError` for an option that is wrong. */
export const invalid = (path: ReadonlyArray<string>, reason: string): ConfigError.ConfigError =>
  ConfigError.InvalidData([...path], ownReason(reason))

/** A `ConfigError` for an option that could not be read. */
export const unavailable = (path: ReadonlyArray<string>, reason: string): ConfigError.ConfigError =>
  ConfigError.SourceUnavailable([...path], ownReason(reason), Cause.empty)

/** Combines several errors into one. */
export const together = (errors: Arr.NonEmptyReadonlyArray<ConfigError.ConfigError>): ConfigError.ConfigError =>
  errors.reduce(ConfigError.And)

type Problem = Exclude<ConfigError.ConfigError, ConfigError.And | ConfigError.Or>

interface Line {
  readonly path: ReadonlyArray<string>
  readonly text: string
}

const lineOf = (problem: Problem): Line => ({
  path: problem.path,
  text: problem._op === "MissingData" ? ` is missing: ${problem.message}` : `: ${problem.message}`
})

/** A line for each problem. For a missing variable, `left` has the full name from the provider, and `right` our description. */
const linesOf = (error: ConfigError.ConfigError): ReadonlyArray<Line> => {
  if (error._op === "And") return [...linesOf(error.left), ...linesOf(error.right)]
  if (error._op !== "Or") return [lineOf(error)]
  const { left, right } = error
  if (left._op === "And" || !ConfigError.isMissingDataOnly(left)) return linesOf(left)
  // a variable that only the second of two providers has may be wrong there
  if (!ConfigError.isMissingDataOnly(right)) return linesOf(right)
  const text = linesOf(right)[0]?.text ?? ""
  return linesOf(left).map(({ path }) => ({ path, text }))
}

/** A copy of the error that prints one line for each variable. */
const readable = (print: (lines: ReadonlyArray<string>) => string) => (error: ConfigError.ConfigError) => {
  const text = print(linesOf(error).map(({ path, text }) => `${path.join("_")}${text}`))
  const printed: ConfigError.ConfigError = {
    ...error,
    _tag: "ConfigError",
    [ConfigError.ConfigErrorTypeId]: ConfigError.ConfigErrorTypeId,
    message: text
  }
  return Object.assign(printed, { toString: () => text })
}

/** Reads several variables. All problems are reported in one error, which prints one line for each variable. */
export const readAll = (
  fields: Record<string, Config.Config<unknown>>,
  print: (lines: ReadonlyArray<string>) => string
): Effect.Effect<Record<string, unknown>, ConfigError.ConfigError> =>
  Effect.mapError(Config.all(fields), readable(print))
