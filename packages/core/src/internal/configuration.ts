import type * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Config from "effect/Config"
import * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import { flow } from "effect/Function"
import * as Either from "effect/Either"

// How variables are read, and how what is wrong with them or with an option is reported: never with a value.

/** A checked value, or what was expected in its place. The reason never holds the value. */
export type Parsed<A> = Either.Either<A, string>

/** A variable, and what the error says about it when it is missing. */
export interface Variable {
  readonly name: string
  readonly what: string
  readonly example?: string | undefined
}

/** A Config that reads one variable. When it is faulty, the error names it together with what was expected. */
export const variable = <A>({ example, name, what }: Variable, parse: (text: string) => Parsed<A>): Config.Config<A> =>
  Config.primitive(what, flow(parse, Either.mapLeft((reason) => invalid([], reason)))).pipe(
    Config.orElseIf({
      if: ConfigError.isMissingDataOnly,
      orElse: () => Config.fail(example === undefined ? what : `${what}, for example ${example}`)
    }),
    Config.nested(name)
  )

/** A `ConfigError` for an option that is wrong. */
export const invalid = (path: ReadonlyArray<string>, reason: string): ConfigError.ConfigError =>
  ConfigError.InvalidData([...path], reason)

/** A `ConfigError` for an option that could not be read. */
export const unavailable = (path: ReadonlyArray<string>, reason: string): ConfigError.ConfigError =>
  ConfigError.SourceUnavailable([...path], reason, Cause.empty)

/** Several of them as one. */
export const together = (errors: Arr.NonEmptyReadonlyArray<ConfigError.ConfigError>): ConfigError.ConfigError =>
  errors.reduce(ConfigError.And)

type Problem = Exclude<ConfigError.ConfigError, ConfigError.And | ConfigError.Or>

interface Line {
  readonly path: ReadonlyArray<string>
  readonly text: string
}

const lineOf = (problem: Problem, message = problem.message): Line => ({
  path: problem.path,
  text: problem._op === "MissingData" ? ` is missing: ${message}` : `: ${message}`
})

/** A line for every single problem. For a missing variable the provider has its whole name, and our fallback what it is. */
const linesOf = (error: ConfigError.ConfigError): ReadonlyArray<Line> => {
  if (error._op === "And") return [...linesOf(error.left), ...linesOf(error.right)]
  if (error._op !== "Or") return [lineOf(error)]
  const { left, right } = error
  return left._op === "MissingData" && right._op === "MissingData" ? [lineOf(left, right.message)] : linesOf(left)
}

/** The same error, which prints one line for each variable. */
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

/** Reads several variables. All that is missing or wrong is one error, printed from a line for each variable. */
export const readAll = (
  fields: Record<string, Config.Config<unknown>>,
  print: (lines: ReadonlyArray<string>) => string
): Effect.Effect<Record<string, unknown>, ConfigError.ConfigError> =>
  Effect.mapError(Config.all(fields), readable(print))
