/**
 * Reading the variables that a program is configured with.
 *
 * @since 0.1.0
 */
import type * as Config from "effect/Config"
import * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"

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

const header = "The configuration is incomplete or wrong."

const whereToGetThem =
  "The operator of the service issues these values. To try without an account, run the simulator, which " +
  "prints a working set: npx -y pnpm@10.34.9 simulator"

/** The same error, which prints one line for each variable. */
const readable = (error: ConfigError.ConfigError): ConfigError.ConfigError => {
  const text = [header, ...linesOf(error).map(({ path, text }) => `- ${path.join("_")}${text}`), whereToGetThem].join(
    "\n"
  )
  const printed: ConfigError.ConfigError = {
    ...error,
    _tag: "ConfigError",
    [ConfigError.ConfigErrorTypeId]: ConfigError.ConfigErrorTypeId,
    message: text
  }
  return Object.assign(printed, { toString: () => text })
}

/**
 * Reads a Config. Everything that is missing or wrong is one `ConfigError`, which prints a line for each variable: its name, what
 * it is and an example, and never a value.
 *
 * @since 0.1.0
 * @category config
 * @example
 * ```ts
 * import { ClientCredentials, Variables } from "@credit-data/core"
 * import { Config } from "effect"
 *
 * export const credentials = Variables.read(Config.all(ClientCredentials.config))
 * ```
 */
export const read = <A>(config: Config.Config<A>): Effect.Effect<A, ConfigError.ConfigError> =>
  Effect.mapError(config, readable)
