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
import { sharedLayer } from "@credit-data/core/Internal"
import * as Variables from "@credit-data/core/Variables"
import * as HttpClient from "@effect/platform/HttpClient"
import type * as Arr from "effect/Array"
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"

/**
 * The optional settings of the token request and of the supply. Each has a default.
 *
 * @since 1.0.0
 * @category models
 */
export interface Settings extends TokenEndpoint.Settings, AccessTokens.Settings {}

/**
 * The options of Auth V2.
 *
 * @since 1.0.0
 * @category models
 */
export interface Options<E = never, R = never> extends Settings {
  /** The environment, with its V2 authorization server. */
  readonly environment: Environment.Environment & { readonly authV2Url: string }
  /** The client's credentials: a value, a Config, or an effect such as a call to a secret manager. */
  readonly credentials: ClientCredentials.Source<E, R>
  /** The scopes to request: at least one. Order and duplicates do not matter. */
  readonly scopes: Arr.NonEmptyReadonlyArray<AccessScope.AccessScope>
}

/** The path of the token endpoint (service contract, section 4.1). */
const path = "/oauth2/token"

/**
 * Only the token endpoint, for a program that keeps its tokens itself. Each `requestToken` sends one token request.
 *
 * Building the layer fails with a `ConfigError` that names the faulty options, or with the error of the effect that reads the
 * credentials.
 *
 * @since 1.0.0
 * @category layers
 */
export const layerTokenEndpoint = <E = never, R = never>(
  options: Options<E, R>
): Layer.Layer<TokenEndpoint.TokenEndpoint, ConfigError.ConfigError | E, HttpClient.HttpClient | R> =>
  sharedLayer(() =>
    Layer.effect(
      TokenEndpoint.TokenEndpoint,
      TokenEndpoint.make({
        ...options,
        authorizationServer: "authV2Url",
        version: "V2",
        path,
        requestedScopes: Option.some(options.scopes),
        coverage: "GrantedScopes"
      })
    ), { services: [HttpClient.HttpClient], hasMore: Effect.isEffect(options.credentials) })

/**
 * The supply of tokens from Auth V2 (service contract, section 4.1).
 *
 * Building the layer fails with a `ConfigError` that names the faulty options, or with the error of the effect that reads the
 * credentials.
 *
 * Effect shares layers by reference. Assign this layer to a const, and provide that const wherever tokens are needed. Two
 * calls of `layer` build two supplies, which send two token requests.
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
  sharedLayer(() => AccessTokens.layer(options).pipe(Layer.provide(layerTokenEndpoint(options))), {
    services: [HttpClient.HttpClient],
    hasMore: Effect.isEffect(options.credentials)
  })

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
 * The options of `layerConfig`. What is omitted comes from `config`, and the settings have defaults.
 *
 * @since 1.0.0
 * @category models
 */
export interface ConfigOptions<E = never, R = never> extends Settings, Partial<typeof config> {
  /**
   * Credentials that do not come from variables: an effect, such as a call to a secret manager, or a value. With them, `clientId` and
   * `clientSecret` are not read.
   */
  readonly credentials?: ClientCredentials.Source<E, R> | undefined
}

/** Reads all variables together, so that one error lists everything that is missing. */
const read = <E, R>(
  { credentials, ...given }: ConfigOptions<E, R>
): Effect.Effect<Options<E | ConfigError.ConfigError, R>, ConfigError.ConfigError> => {
  const { clientId, clientSecret, ...settings } = { ...config, ...given }
  const { audience, authV2Url, baseUrl, environment, scopes } = settings
  const others = { environment, audience, baseUrl, authV2Url, scopes }
  return Effect.map(
    credentials === undefined ? Variables.read({ ...others, clientId, clientSecret }) : Variables.read(others),
    ({ audience, authV2Url, baseUrl, environment, scopes }) => ({
      ...settings,
      environment: { name: environment, audience, baseUrl, authV2Url },
      credentials: credentials ?? Config.all({ clientId, clientSecret }),
      scopes
    })
  )
}

/**
 * Only the token endpoint, with its options read from the environment, as `layerConfig` does. For a supply whose tokens
 * several processes share: `SharedTokens` of `@credit-data/fleet`.
 *
 * Building the layer fails in the same cases as `layerConfig`.
 *
 * @since 1.0.0
 * @category layers
 */
export const layerTokenEndpointConfig = <E = never, R = never>(
  options: ConfigOptions<E, R> = {}
): Layer.Layer<TokenEndpoint.TokenEndpoint, ConfigError.ConfigError | E, HttpClient.HttpClient | R> =>
  sharedLayer(() => Layer.unwrapEffect(Effect.map(read(options), layerTokenEndpoint)), {
    services: [HttpClient.HttpClient],
    hasMore: options.credentials !== undefined
  })

/**
 * The supply of tokens from Auth V2, with its options read from the environment. `AuthV1.layerConfig()` has the same type,
 * so a program switches between V1 and V2 by changing one word.
 *
 * Building the layer fails with one `ConfigError`, which has a line for each faulty variable. The lines show examples, and
 * never a value. With the option `credentials`, the layer can also fail with the error of the effect that reads them.
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
export const layerConfig: {
  <E = never, R = never>(
    options?: ConfigOptions<E, R>
  ): Layer.Layer<AccessTokens.AccessTokens, ConfigError.ConfigError | E, HttpClient.HttpClient | R>
  // the last one, so that `ReturnType` shows it
  (options?: ConfigOptions): Layer.Layer<AccessTokens.AccessTokens, ConfigError.ConfigError, HttpClient.HttpClient>
} = <E, R>(
  options: ConfigOptions<E, R> = {}
): Layer.Layer<AccessTokens.AccessTokens, ConfigError.ConfigError | E, HttpClient.HttpClient | R> =>
  sharedLayer(() => Layer.unwrapEffect(Effect.map(read(options), layer)), {
    services: [HttpClient.HttpClient],
    hasMore: options.credentials !== undefined
  })
