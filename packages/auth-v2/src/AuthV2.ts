/**
 * Auth V2, the current token endpoint: `POST {authV2Url}/oauth2/token`.
 *
 * @since 1.0.0
 */
import * as Adapter from "@credit-data/core/Adapter"

/**
 * The optional settings of the token request and of the supply. Each has a default.
 *
 * @since 1.0.0
 * @category models
 */
export interface Settings extends Adapter.Settings {}

/**
 * The options of Auth V2.
 *
 * @since 1.0.0
 * @category models
 */
export type Options<E = never, R = never> = Adapter.Options<"authV2Url", true, E, R>

/**
 * The options of `layerConfig`. What is omitted comes from `config`, and the settings have defaults.
 *
 * @since 1.0.0
 * @category models
 */
export type ConfigOptions<E = never, R = never> = Adapter.ConfigOptions<"authV2Url", true, E, R>

/** Service contract, section 4.1. */
const adapter = Adapter.make({
  version: "V2",
  path: "/oauth2/token",
  field: "authV2Url",
  variable: "CREDIT_DATA_AUTH_V2_URL",
  description: "the address of the authorization server of Auth V2",
  example: "https://oauth.sandbox.example",
  scopes: true
})

/**
 * Only the token endpoint, for a program that keeps its tokens itself. Each `requestToken` sends one token request, and
 * another one if the client is refused and its credentials have changed.
 *
 * @since 1.0.0
 * @category layers
 */
export const layerTokenEndpoint = adapter.layerTokenEndpoint

/**
 * The supply of tokens from Auth V2 (service contract, section 4.1).
 *
 * Building the layer fails with a `ConfigError` that names faulty options, or with the error of the effect that reads the credentials.
 *
 * Assign this layer to a const, and provide that const wherever tokens are needed, because two calls of `layer` build two supplies.
 *
 * @since 1.0.0
 * @category layers
 * @example
 * ```ts
 * import { AuthV2 } from "@credit-data/auth-v2"
 * import { ClientCredentials } from "@credit-data/core"
 * import { Config } from "effect"
 *
 * export const Auth = AuthV2.layer({
 *   environment: {
 *     name: "sandbox",
 *     audience: "https://api.sandbox.example",
 *     baseUrl: "https://api.sandbox.example",
 *     authV2Url: "https://oauth.sandbox.example"
 *   },
 *   credentials: Config.all(ClientCredentials.config),
 *   scopes: ["data-access:all"]
 * })
 * ```
 */
export const layer = adapter.layer

/**
 * The Configs that `layerConfig` reads its options from. To replace one of them, pass another Config as the option of the same name.
 *
 * | field | variable |
 * | --- | --- |
 * | `environment` | `CREDIT_DATA_ENVIRONMENT` |
 * | `audience` | `CREDIT_DATA_AUDIENCE` |
 * | `baseUrl` | `CREDIT_DATA_BASE_URL` |
 * | `authV2Url` | `CREDIT_DATA_AUTH_V2_URL` |
 * | `clientId` | `CREDIT_DATA_CLIENT_ID` |
 * | `clientSecret` | `CREDIT_DATA_CLIENT_SECRET` |
 * | `scopes` | `CREDIT_DATA_SCOPES` |
 *
 * @since 1.0.0
 * @category config
 * @example
 * ```ts
 * import { AuthV2 } from "@credit-data/auth-v2"
 * import { Config } from "effect"
 *
 * export const Auth = AuthV2.layerConfig({
 *   clientSecret: Config.redacted("PARTNER_SECRET")
 * })
 * ```
 */
export const config = adapter.config

/**
 * Only the token endpoint, with its options read from variables. For a supply whose tokens several processes share: `SharedTokens` of
 * `@credit-data/fleet`.
 *
 * @since 1.0.0
 * @category layers
 */
export const layerTokenEndpointConfig = adapter.layerTokenEndpointConfig

/**
 * The supply of tokens from Auth V2, with its options read from variables. `AuthV1.layerConfig()` has the same type, so only one word of
 * your code differs between V1 and V2.
 *
 * Building the layer fails with a `ConfigError` that lists missing and wrong variables. With the option `credentials`, it can also fail
 * with the error of the effect that reads them.
 *
 * @since 1.0.0
 * @category layers
 * @example
 * ```ts
 * import { AuthV2 } from "@credit-data/auth-v2"
 *
 * export const Auth = AuthV2.layerConfig() // was: AuthV1.layerConfig()
 * ```
 */
export const layerConfig = adapter.layerConfig
