import type * as Arr from "effect/Array"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"

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
  readonly kind: "Invalid data" | "Missing data" | "Source unavailable"
}

const issueOf = ({ path, reason }: Problem) =>
  new SchemaIssue.Pointer(path, new SchemaIssue.InvalidValue({ message: reason }))

/** A `ConfigError` that lists what is wrong. */
class ConfigProblems extends Config.ConfigError {
  readonly problems: Arr.NonEmptyReadonlyArray<Problem>
  readonly #text: string | undefined

  constructor(problems: Arr.NonEmptyReadonlyArray<Problem>, text?: string) {
    const [first, ...others] = problems
    super(
      new Schema.SchemaError(
        new SchemaIssue.Composite(Schema.Unknown.ast, [issueOf(first), ...others.map(issueOf)])
      )
    )
    this.problems = problems
    this.#text = text
  }

  override get message() {
    return this.#text ??
      this.problems.map(({ kind, path, reason }) => `(${kind} at ${path.join(".")}: "${reason}")`).join(" and ")
  }

  override toString() {
    return this.message
  }
}

/** A Config that reads one variable. The error for a wrong value names the variable and what was expected. */
export const variable = <A>(
  { example, name, what }: Variable,
  parse: (text: string) => Parsed<A>
): Config.Config<A> => {
  const description = example === undefined ? what : `${what}, for example ${example}`
  return Config.schema(
    // the message is what an error prints that does not come from `readAll`
    Schema.String.annotate({ description, message: `${name} is missing: ${description}` }),
    name
  ).pipe(
    Config.mapEffect((text) => Effect.fromResult(Result.mapError(parse(text), (reason) => invalid([name], reason))))
  )
}

/** A `ConfigError` for an option that is wrong. */
export const invalid = (path: ReadonlyArray<string>, reason: string): Config.ConfigError =>
  new ConfigProblems([{ path, reason, kind: "Invalid data" }])

/** A `ConfigError` for an option that could not be read. */
export const unavailable = (path: ReadonlyArray<string>, reason: string): Config.ConfigError =>
  new ConfigProblems([{ path, reason, kind: "Source unavailable" }])

const problemIn = (issue: SchemaIssue.Issue, isMissing: boolean, path: ReadonlyArray<string>): Problem => {
  if (issue._tag === "Pointer") return problemIn(issue.issue, isMissing, [...path, ...issue.path.map(String)])
  if (issue._tag === "Encoding") return problemIn(issue.issue, isMissing, path)
  const description = issue._tag === "InvalidType" ? issue.ast.annotations?.["description"] : undefined
  return isMissing
    ? { path, reason: typeof description === "string" ? description : "there is no value", kind: "Missing data" }
    : { path, reason: "Expected another value", kind: "Invalid data" }
}

const problemsOf = (error: Config.ConfigError, isMissing = false): Arr.NonEmptyReadonlyArray<Problem> => {
  if (error instanceof ConfigProblems) return error.problems
  return error.cause._tag === "SchemaError"
    ? [problemIn(error.cause.issue, isMissing, [])]
    : [{ path: [], reason: error.cause.message, kind: "Source unavailable" }]
}

/** `Config.option` finds nothing where a value is missing, and fails with every other error. */
const isMissing = (config: Config.Config<unknown>): Effect.Effect<boolean> =>
  Effect.match(Config.option(config), { onFailure: () => false, onSuccess: Option.isNone })

/** Combines several errors into one. */
export const together = (errors: Arr.NonEmptyReadonlyArray<Config.ConfigError>): Config.ConfigError => {
  const [first, ...others] = errors
  return new ConfigProblems([...problemsOf(first), ...others.flatMap((error) => problemsOf(error))])
}

const lineOf = ({ kind, path, reason }: Problem): string =>
  kind === "Source unavailable" && path.length === 0
    ? `The source of the variables could not be read: ${reason}`
    : `${path.join("_")}${kind === "Missing data" ? " is missing" : ""}: ${reason}`

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
  const [first, ...others] = problems
  return first === undefined
    ? values
    : yield* Effect.fail(new ConfigProblems([first, ...others], print(Array.from(new Set(problems.map(lineOf))))))
})
