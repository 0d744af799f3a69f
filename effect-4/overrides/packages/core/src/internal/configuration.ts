import type * as Arr from "effect/Array"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import { ownReason } from "./readFault.ts"

// Reads variables, and reports what is wrong with a variable or an option. A report never contains a value.

/** A checked value, or the reason why it was refused. The reason never contains the value. */
export type Parsed<A> = Result.Result<A, string>

/** A variable, and its description in the error for a missing variable. */
export interface Variable {
  readonly name: string
  readonly what: string
  readonly example?: string | undefined
}

interface Problem {
  readonly path: ReadonlyArray<string>
  readonly reason: string
  readonly isMissing?: boolean
}

/** A `ConfigError` that lists what is wrong. */
class ConfigProblems extends Config.ConfigError {
  readonly problems: ReadonlyArray<Problem>
  readonly #text: string

  constructor(
    problems: ReadonlyArray<Problem>,
    text = problems.map(({ path, reason }) => `(Invalid data at ${path.join(".")}: "${reason}")`).join(" and ")
  ) {
    super(new Schema.SchemaError(new SchemaIssue.InvalidValue({ message: text })))
    this.problems = problems
    this.#text = text
  }

  override get message() {
    return this.#text
  }

  override toString() {
    return this.#text
  }
}

/** A Config that reads one variable. The error for a wrong value names the variable and what was expected. */
export const variable = <A>({ example, name, what }: Variable, parse: (text: string) => Parsed<A>): Config.Config<A> =>
  Config.schema(
    Schema.String.annotate({ message: example === undefined ? what : `${what}, for example ${example}` }),
    name
  ).pipe(
    Config.mapEffect((text) => Effect.fromResult(Result.mapError(parse(text), (reason) => invalid([name], reason))))
  )

/** A `ConfigError` for an option that is wrong. */
export const invalid = (path: ReadonlyArray<string>, reason: string): Config.ConfigError =>
  new ConfigProblems([{ path, reason: ownReason(reason) }])

/** A `ConfigError` for an option that could not be read. */
export const unavailable = (path: ReadonlyArray<string>, reason: string): Config.ConfigError =>
  new ConfigProblems([{ path, reason }], `(Source unavailable at ${path.join(".")}: "${ownReason(reason)}")`)

const issuesOf = SchemaIssue.makeFormatterStandardSchemaV1()

/** What is wrong. The issue of a wrong value could quote it. */
const problemsOf = (error: Config.ConfigError, isMissing = false): ReadonlyArray<Problem> => {
  if (error instanceof ConfigProblems) return error.problems
  const { cause } = error
  if (cause._tag === "SourceError") return [{ path: ["The variables could not be read"], reason: cause.message }]
  return issuesOf(cause.issue).issues.map(({ message, path = [] }) => ({
    path: path.map(String),
    reason: isMissing ? message : "Expected another value",
    isMissing
  }))
}

/** `Config.option` finds nothing where a value is missing, and fails with every other error. */
const isMissing = (config: Config.Config<unknown>): Effect.Effect<boolean> =>
  Effect.match(Config.option(config), { onFailure: () => false, onSuccess: Option.isNone })

/** Combines several errors into one. */
export const together = (errors: Arr.NonEmptyReadonlyArray<Config.ConfigError>): Config.ConfigError =>
  new ConfigProblems(errors.flatMap((error) => problemsOf(error)))

/** Reads several variables. All problems are reported in one error, which prints one line for each variable. */
export const readAll = Effect.fnUntraced(function*(
  fields: Record<string, Config.Config<unknown>>,
  print: (lines: ReadonlyArray<string>) => string
): Effect.fn.Return<Record<string, unknown>, Config.ConfigError> {
  const values: Record<string, unknown> = {}
  const problems: Array<Problem> = []
  for (const [name, config] of Object.entries(fields)) {
    const result = yield* Effect.result(config)
    if (Result.isSuccess(result)) values[name] = result.success
    else problems.push(...problemsOf(result.failure, yield* isMissing(config)))
  }
  const lines = problems.map(({ isMissing, path, reason }) =>
    `${path.join("_")}${isMissing === true ? " is missing" : ""}: ${reason}`
  )
  return problems.length === 0
    ? values
    : yield* Effect.fail(new ConfigProblems(problems, print(Array.from(new Set(lines)))))
})
