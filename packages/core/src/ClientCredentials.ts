/**
 * The client id and the client secret that the operator of the service issued.
 *
 * @since 1.0.0
 */
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import type * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { flow, pipe } from "effect/Function"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as configuration from "./internal/configuration.ts"
import * as field from "./internal/field.ts"

/**
 * The id and the secret with which a client proves its identity (service contract, section 2). The secret is treated like a
 * password: it is `Redacted` as soon as it is read, and leaves the program only in the body of a token request.
 *
 * @since 1.0.0
 * @category models
 */
export interface ClientCredentials {
  readonly clientId: string
  readonly clientSecret: Redacted.Redacted
}

/**
 * Credentials as a value, or an effect that reads them: a Config, or a call to a secret manager. The effect is run when the
 * layer is built, and once more when the token endpoint refuses the client, so that a rotated secret is read.
 *
 * @since 1.0.0
 * @category models
 */
export type Source<E = never, R = never> = ClientCredentials | Effect.Effect<ClientCredentials, E, R>

/** A file that holds a secret usually ends with one line break, which is not part of the secret. */
const clientSecret = flow(
  (value: unknown) => Predicate.isString(value) ? value.replace(/\r?\n$/, "") : value,
  field.text,
  Either.map((text) => Redacted.make(text))
)

const redactedSecret = (secret: unknown): field.Parsed<Redacted.Redacted> =>
  Redacted.isRedacted(secret) ? clientSecret(Redacted.value(secret)) : Either.left("Expected a Redacted")

/**
 * The variables from which the credentials are read: `CREDIT_DATA_CLIENT_ID` and `CREDIT_DATA_CLIENT_SECRET`. One line break at
 * the end of the secret is dropped.
 *
 * @since 1.0.0
 * @category config
 * @example
 * ```ts
 * import { ClientCredentials } from "@credit-data/core"
 * import { Config } from "effect"
 *
 * // the secret from another variable
 * export const credentials = Config.all({
 *   ...ClientCredentials.config,
 *   clientSecret: Config.redacted("PARTNER_SECRET")
 * })
 * ```
 */
export const config = {
  clientId: configuration.variable(
    { name: "CREDIT_DATA_CLIENT_ID", what: "the client id that the operator issued" },
    field.identifier
  ),
  clientSecret: configuration.variable(
    { name: "CREDIT_DATA_CLIENT_SECRET", what: "the client secret that the operator issued" },
    clientSecret
  )
} satisfies { readonly [K in keyof ClientCredentials]: Config.Config<ClientCredentials[K]> }

/**
 * Checks both fields and drops one line break at the end of the secret. The error names the field and never shows its value.
 *
 * @since 1.0.0
 * @category validation
 */
export const validate = (
  credentials: ClientCredentials
): Either.Either<ClientCredentials, ConfigError.ConfigError> => {
  // an effect without types may have returned anything
  if (!Predicate.isRecord(credentials)) return field.at(["credentials"])(Either.left("Expected a client id and secret"))
  const fields = {
    clientId: pipe(field.identifier(credentials.clientId), field.at(["credentials", "clientId"])),
    clientSecret: pipe(
      redactedSecret(credentials.clientSecret),
      field.at(["credentials", "clientSecret"])
    )
  }
  return Either.andThen(field.problems(fields), Either.all(fields))
}
