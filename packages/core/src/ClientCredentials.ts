/**
 * The client id and the client secret that the operator of the service issued.
 *
 * @since 1.0.0
 */
import type * as Config from "effect/Config"
import type * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import * as configuration from "./internal/configuration.ts"
import * as source from "./internal/layerSource.ts"
import * as validation from "./internal/validation.ts"

/**
 * The id and the secret with which a client proves its identity (service contract, section 2).
 *
 * @since 1.0.0
 * @category models
 */
export interface ClientCredentials {
  readonly clientId: string
  /** Any `Redacted` text, except for the secret of an access token. */
  readonly clientSecret: Redacted.Redacted & { readonly "~use"?: "client secret" }
}

/**
 * Credentials as a value, or an effect that reads them: a Config, or, with `from`, a call to a secret manager. The effect is run when
 * the layer is built, again when the token endpoint refuses the client, and by `refresh`, so that a rotated secret is read.
 *
 * The effect runs without your program's services and fiber-local values. Name a service that it needs with `from`.
 *
 * @since 1.0.0
 * @category models
 */
export type Source<E = never, R = never> =
  | ClientCredentials
  | Effect.Effect<ClientCredentials, E>
  | FromService<E, R>

/**
 * Credentials that are read with a service, as `from` makes them.
 *
 * @since 1.0.0
 * @category models
 */
export interface FromService<out E, out R> extends source.FromService<ClientCredentials, E, R> {}

/**
 * Credentials that are read with a service, such as a secret manager. Where a layer is built with two such services, it makes two token
 * supplies. The effect runs without other services of your program: provide those to the service.
 *
 * @since 1.0.0
 * @category constructors
 * @example
 * ```ts
 * import { AuthV2 } from "@credit-data/auth-v2"
 * import { ClientCredentials } from "@credit-data/core"
 * import { Context, Effect } from "effect"
 *
 * class Vault extends Context.Tag("my-service/Vault")<Vault, {
 *   readonly read: (name: string) => Effect.Effect<ClientCredentials.ClientCredentials>
 * }>() {}
 *
 * export const Auth = AuthV2.layerConfig({
 *   credentials: ClientCredentials.from(Vault, (vault) => vault.read("credit-data"))
 * })
 * ```
 */
export const from: <I, S, E>(
  service: source.Tag<I, S>,
  read: (service: S) => Effect.Effect<ClientCredentials, E>
) => FromService<E, I> = source.fromService

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
    validation.identifier
  ),
  clientSecret: configuration.variable(
    { name: "CREDIT_DATA_CLIENT_SECRET", what: "the client secret that the operator issued" },
    validation.clientSecret
  )
} satisfies { readonly [K in keyof ClientCredentials]: Config.Config<ClientCredentials[K]> }
