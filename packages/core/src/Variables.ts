/**
 * Reads the variables that configure a program.
 *
 * @since 1.0.0
 */
import type * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import type * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import * as configuration from "./internal/configuration.ts"
import * as validation from "./internal/validation.ts"

const header = "The configuration is incomplete or wrong."

/** The variables whose values the operator of the service issues. */
const issued = /^\S*(AUDIENCE|BASE_URL|AUTH_V\d_URL|CLIENT_ID|CLIENT_SECRET)\b/

const whereToGetThem = (lines: ReadonlyArray<string>): string =>
  `${
    lines.some((line) => issued.test(line))
      ? "The operator of the service issues the addresses and the credentials. "
      : ""
  }Every variable: https://github.com/credit-data/credit-data/blob/main/docs/configuration.md`

const print = (lines: ReadonlyArray<string>): string =>
  [header, ...lines.map((line) => `- ${line}`), whereToGetThem(lines)].join("\n")

/**
 * Reads a struct of Configs. Missing and wrong variables are reported in one `ConfigError`, which prints a line for each of them. The
 * lines of this package's Configs show no value, but those of other Configs can.
 *
 * @since 1.0.0
 * @category config
 * @example
 * ```ts
 * import { ClientCredentials, Variables } from "@credit-data/core"
 *
 * export const credentials = Variables.read(ClientCredentials.config)
 * ```
 */
export function read<Fields extends Record<string, Config.Config<unknown>>>(
  fields: Fields
): Effect.Effect<{ [Name in keyof Fields]: Config.Config.Success<Fields[Name]> }, ConfigError.ConfigError>
export function read(
  fields: Record<string, Config.Config<unknown>>
): Effect.Effect<Record<string, unknown>, ConfigError.ConfigError> {
  return configuration.readAll(fields, print)
}

/**
 * A variable with a few accepted values. The error for another value names the variable and the accepted ones.
 *
 * @since 1.0.0
 * @category config
 * @example
 * ```ts
 * import { Variables } from "@credit-data/core"
 *
 * export const color = Variables.literal("MY_SERVICE_COLOR", { description: "the color of the service", values: ["blue", "green"] })
 * ```
 */
export const literal = <Value extends string>(name: string, options: {
  /** What the variable is. The error for a missing variable shows it. */
  readonly description: string
  readonly values: ReadonlyArray<Value>
}): Config.Config<Value> => {
  const { description, values } = options
  const accepted = values.join(" or ")
  return configuration.variable(
    { name, what: `${description}, ${accepted}` },
    (text) => {
      const value = values.find((value) => value === text)
      return value === undefined ? Either.left(`Expected ${accepted}`) : Either.right(value)
    }
  )
}

/**
 * A variable that contains a secret, such as an address with a password. The error for a wrong value names the variable and what
 * was expected, and does not show the value.
 *
 * @since 1.0.0
 * @category config
 * @example
 * ```ts
 * import { Variables } from "@credit-data/core"
 *
 * export const key = Variables.redacted("MY_SERVICE_KEY", {
 *   description: "the key of the service",
 *   problem: (key) => key.length < 32 ? "Expected at least 32 characters" : undefined
 * })
 * ```
 */
export const redacted = (name: string, options: {
  /** What the variable is. The error for a missing variable shows it. */
  readonly description: string
  /** An example of a value. The error for a missing variable shows it too. */
  readonly example?: string | undefined
  /** What was expected instead of a wrong value. It must not contain the value. Default: any non-empty text. */
  readonly problem?: ((text: string) => string | undefined) | undefined
}): Config.Config<Redacted.Redacted> => {
  const { description, example, problem = () => undefined } = options
  return configuration.variable(
    { name, what: description, example },
    (text) =>
      Either.flatMap(validation.text(text), (text) => {
        const expected = problem(text)
        return expected === undefined ? Either.right(Redacted.make(text)) : Either.left(expected)
      })
  )
}

/**
 * The `ConfigError` for an invalid option, for adapters and other layers. It names the option and what was expected. Never pass
 * the value.
 *
 * @since 1.0.0
 * @category errors
 * @example
 * ```ts
 * import { Variables } from "@credit-data/core"
 *
 * export const error = Variables.invalid(["deadline"], "Expected a finite duration above zero")
 * ```
 */
export const invalid: (option: ReadonlyArray<string>, expected: string) => ConfigError.ConfigError =
  configuration.invalid
