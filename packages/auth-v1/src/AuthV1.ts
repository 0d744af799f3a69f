/**
 * Auth V1, the legacy token endpoint: `POST {authV1Url}/oauth/token`. It was retired at the end of 2024.
 *
 * Clients of Data Access V1 are not migrated to Auth V2 (service contract, section 9).
 *
 * @since 1.0.0
 */
import * as Adapter from "@credit-data/core/Adapter"
import type * as TokenEndpoint from "@credit-data/core/TokenEndpoint"

/**
 * The optional settings of the token request and of the supply. Each has a default.
 *
 * @since 1.0.0
 * @category models
 */
export interface Settings extends Adapter.Settings {}

/**
 * The options of Auth V1. There is no option for scopes: the server decides what a token covers.
 *
 * @since 1.0.0
 * @category models
 */
export type Options<E = never, R = never> = Adapter.Options<"authV1Url", false, E, R>

/**
 * The options of `layerConfig`. What is omitted comes from `config`, and the settings have defaults.
 *
 * @since 1.0.0
 * @category models
 */
export type ConfigOptions<E = never, R = never> = Adapter.ConfigOptions<"authV1Url", false, E, R>

const end = "Auth V1 was retired at the end of 2024"

const retired = `${end}, so its server is probably gone. ` +
  "In a migration, set CREDIT_DATA_AUTH=v2; " +
  "otherwise use AuthV2.layerConfig() instead of AuthV1.layerConfig(), with " +
  "CREDIT_DATA_AUTH_V2_URL and CREDIT_DATA_SCOPES set. The credentials do not change. " +
  "Clients of Data Access V1 are not migrated: ask the operator."

/** The host name of a retired server does not resolve, or the server responds that the path does not exist. */
const hint = ({ reason, status }: TokenEndpoint.Symptom): string | undefined =>
  reason === "NameNotFound" || status === 404 || status === 410 ? retired : undefined

/** Service contract, section 4.2. */
const adapter = Adapter.make({
  version: "V1",
  path: "/oauth/token",
  field: "authV1Url",
  variable: "CREDIT_DATA_AUTH_V1_URL",
  description: "the address of the authorization server of Auth V1",
  example: "https://auth.sandbox.example",
  scopes: false,
  hint,
  warning: `${end}. Replace AuthV1 with AuthV2, unless you are a client of Data Access V1.`
})

/**
 * Only the token endpoint, for a program that keeps its tokens itself. Each `requestToken` sends one token request, and
 * another one if the client is refused and its credentials have changed. The layer logs a warning when it is built: V1 was retired.
 *
 * @since 1.0.0
 * @category layers
 */
export const layerTokenEndpoint = adapter.layerTokenEndpoint

/**
 * The supply of tokens from Auth V1 (service contract, section 4.2). The layer logs one warning when it is built: V1 was retired.
 *
 * Building the layer fails with a `ConfigError` that names faulty options, or with the error of the effect that reads the credentials.
 *
 * Assign this layer to a const, and provide that const wherever tokens are needed, because two calls of `layer` build two supplies.
 *
 * @since 1.0.0
 * @category layers
 * @example
 * ```ts
 * import { AuthV1 } from "@credit-data/auth-v1"
 * import { ClientCredentials } from "@credit-data/core"
 * import { Config } from "effect"
 *
 * export const Auth = AuthV1.layer({
 *   environment: {
 *     name: "sandbox",
 *     audience: "https://api.sandbox.example",
 *     baseUrl: "https://api.sandbox.example",
 *     authV1Url: "https://auth.sandbox.example"
 *   },
 *   credentials: Config.all(ClientCredentials.config)
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
 * | `authV1Url` | `CREDIT_DATA_AUTH_V1_URL` |
 * | `clientId` | `CREDIT_DATA_CLIENT_ID` |
 * | `clientSecret` | `CREDIT_DATA_CLIENT_SECRET` |
 *
 * @since 1.0.0
 * @category config
 * @example
 * ```ts
 * import { AuthV1 } from "@credit-data/auth-v1"
 * import { Config } from "effect"
 *
 * export const Auth = AuthV1.layerConfig({
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
 * The supply of tokens from Auth V1, with its options read from variables. `AuthV2.layerConfig()` has the same type, so only one word of
 * your code differs between V1 and V2.
 *
 * Building the layer fails with a `ConfigError` that lists missing and wrong variables. With the option `credentials`, it can also fail
 * with the error of the effect that reads them.
 *
 * @since 1.0.0
 * @category layers
 * @example
 * ```ts
 * import { AuthV1 } from "@credit-data/auth-v1"
 *
 * export const Auth = AuthV1.layerConfig()
 * ```
 */
export const layerConfig = adapter.layerConfig
