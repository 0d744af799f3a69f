/**
 * Auth V2, the current token endpoint: `POST {authV2Url}/oauth2/token`.
 *
 * @since 1.0.0
 */
import * as AccessScope from "@credit-data/core/AccessScope"
import * as AccessTokens from "@credit-data/core/AccessTokens"
import * as ClientCredentials from "@credit-data/core/ClientCredentials"
import * as Environment from "@credit-data/core/Environment"
import * as TokenEndpoint from "@credit-data/core/TokenEndpoint"
import * as Variables from "@credit-data/core/Variables"
import type * as HttpClient from "@effect/platform/HttpClient"
import type * as Arr from "effect/Array"
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"

/**
 * What can be set and has a default: of the token request and of the supply of tokens.
 *
 * @since 1.0.0
 * @category models
 */
export interface Settings extends TokenEndpoint.Settings, AccessTokens.Settings {}

/**
 * Credentials that do not come from the variables `CREDIT_DATA_CLIENT_ID` and `CREDIT_DATA_CLIENT_SECRET`.
 *
 * @since 1.0.0
 * @category models
 */
export interface CredentialsSetting<E, R> {
  /** An effect, such as a call to a secret manager, or a value. */
  readonly credentials: ClientCredentials.Source<E, R>
}

/**
 * What Auth V2 has to know.
 *
 * @since 1.0.0
 * @category models
 */
export interface Options<E = never, R = never> extends Settings {
  /** The environment, with its V2 authorization server. */
  readonly environment: Environment.Environment & { readonly authV2Url: string }
  /** The client's credentials: a value, a Config, or an effect such as a call to a secret manager. */
  readonly credentials: ClientCredentials.Source<E, R>
  /** The scopes to ask for: at least one. Order and repetition don't matter. */
  readonly scopes: Arr.NonEmptyReadonlyArray<AccessScope.AccessScope>
}

/** The path of the token endpoint (service contract, section 4.1). */
const path = "/oauth2/token"

/**
 * The token endpoint alone, for a program that keeps its tokens itself: each `requestToken` is one token request.
 *
 * Fails when it is built: with a `ConfigError` that names the faulty options, or as the credentials' effect does.
 *
 * @since 1.0.0
 * @category layers
 */
export const layerTokenEndpoint = <E = never, R = never>(
  options: Options<E, R>
): Layer.Layer<TokenEndpoint.TokenEndpoint, ConfigError.ConfigError | E, HttpClient.HttpClient | R> =>
  Layer.effect(
    TokenEndpoint.TokenEndpoint,
    TokenEndpoint.make({
      ...options,
      authorizationServer: "authV2Url",
      path,
      requestedScopes: Option.some(options.scopes),
      coverage: "GrantedScopes"
    })
  )

/**
 * The supply of tokens from Auth V2 (service contract, section 4.1).
 *
 * Fails when it is built: with a `ConfigError` that names the faulty options, or as the credentials' effect does.
 *
 * Layers are shared by reference: bind this one to a const and give it to all that need tokens. Two calls of `layer`
 * make two supplies, and two token requests.
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
export const layer = <E = never, R = never>(
  options: Options<E, R>
): Layer.Layer<AccessTokens.AccessTokens, ConfigError.ConfigError | E, HttpClient.HttpClient | R> =>
  AccessTokens.layer(options).pipe(Layer.provide(layerTokenEndpoint(options)))

/**
 * Where the options are read from: a plain struct of Configs, so that one of them is replaced by spreading.
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
 *   ...AuthV2.config,
 *   clientSecret: Config.redacted("PARTNER_SECRET")
 * })
 * ```
 */
export const config = {
  ...Environment.config,
  authV2Url: Environment.url("CREDIT_DATA_AUTH_V2_URL", {
    description: "the address of the authorization server of Auth V2",
    example: "https://oauth.sandbox.example",
    path
  }),
  ...ClientCredentials.config,
  scopes: AccessScope.config
}

/**
 * The supply of tokens from Auth V2, with its options read from the environment: the same type as `AuthV1.layerConfig()`
 * gives, so that changing one word swaps V1 for V2.
 *
 * Fails with one `ConfigError` that has a line for each faulty variable, with an example and never a value. With `credentials`
 * in the settings, the variables of the credentials are not read, and it can fail as that effect does.
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
export function layerConfig<E = never, R = never>(
  fields: Omit<typeof config, keyof ClientCredentials.ClientCredentials>,
  settings: Settings & CredentialsSetting<E, R>
): Layer.Layer<AccessTokens.AccessTokens, ConfigError.ConfigError | E, HttpClient.HttpClient | R>
export function layerConfig(
  fields?: typeof config,
  settings?: Settings
): Layer.Layer<AccessTokens.AccessTokens, ConfigError.ConfigError, HttpClient.HttpClient>
export function layerConfig<E = never, R = never>(
  { clientId = config.clientId, clientSecret = config.clientSecret, ...others }:
    & Omit<typeof config, keyof ClientCredentials.ClientCredentials>
    & Partial<typeof config> = config,
  settings: Settings & { readonly credentials?: ClientCredentials.Source<E, R> } = {}
): Layer.Layer<AccessTokens.AccessTokens, ConfigError.ConfigError | E, HttpClient.HttpClient | R> {
  // with the credentials among the variables, everything that is missing is reported together
  const variables = settings.credentials === undefined
    ? Variables.read({ ...others, clientId, clientSecret })
    : Variables.read(others)
  return Layer.unwrapEffect(
    Effect.map(
      variables,
      ({ audience, authV2Url, baseUrl, environment, scopes }) =>
        layer<E | ConfigError.ConfigError, R>({
          ...settings,
          environment: { name: environment, audience, baseUrl, authV2Url },
          credentials: settings.credentials ?? Config.all({ clientId, clientSecret }),
          scopes
        })
    )
  )
}
