/**
 * Auth V1, the legacy token endpoint: `POST {authV1Url}/oauth/token`. It reached its sunset at the end of 2024.
 *
 * Clients of Data Access V1 are not migrated to Auth V2, because the Data Access V1 endpoints reached their sunset in the same year
 * (service contract, section 9).
 *
 * @since 1.0.0
 */
import * as AccessTokens from "@credit-data/core/AccessTokens"
import * as ClientCredentials from "@credit-data/core/ClientCredentials"
import * as Environment from "@credit-data/core/Environment"
import * as TokenEndpoint from "@credit-data/core/TokenEndpoint"
import { SafeLog, sharedLayer } from "@credit-data/core/Internal"
import type * as TokenError from "@credit-data/core/TokenError"
import * as Variables from "@credit-data/core/Variables"
import * as HttpClient from "@effect/platform/HttpClient"
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
 * The options of Auth V1. There is no option for scopes: the server decides what a token covers.
 *
 * @since 1.0.0
 * @category models
 */
export interface Options<E = never, R = never> extends Settings {
  /** The environment, with its V1 authorization server. */
  readonly environment: Environment.Environment & { readonly authV1Url: string }
  /** The client's credentials: a value, a Config, or an effect such as a call to a secret manager. */
  readonly credentials: ClientCredentials.Source<E, R>
}

/** The path of the token endpoint (service contract, section 4.2). */
const path = "/oauth/token"

const retired =
  "Auth V1 reached its sunset at the end of 2024 and is probably gone: use AuthV2.layerConfig() instead of " +
  "AuthV1.layerConfig(), with CREDIT_DATA_AUTH_V2_URL and CREDIT_DATA_SCOPES set; the credentials do not change. " +
  "Clients of Data Access V1 are not migrated: ask the operator."

/** The host name of a retired server does not resolve, or the server responds that the path does not exist. */
const hint = (error: TokenError.TokenError): string | undefined =>
  (error._tag === "TransportError" && error.reason === "NameNotFound") ||
    (error._tag === "ServerError" && (error.status === 404 || error.status === 410))
    ? retired
    : undefined

/**
 * Only the token endpoint, for a program that keeps its tokens itself. Each `requestToken` sends one token request. The layer
 * logs a warning when it is built: V1 is past its sunset.
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
      Effect.tap(
        TokenEndpoint.make({
          ...options,
          authorizationServer: "authV1Url",
          version: "V1",
          path,
          requestedScopes: Option.none(),
          coverage: "AnyScope",
          hint
        }),
        SafeLog.logWarning(
          "Auth V1 is past its sunset (end of 2024). Swap AuthV1 for AuthV2, unless you are a client of Data Access V1."
        )
      )
    ), { services: [HttpClient.HttpClient], hasMore: Effect.isEffect(options.credentials) })

/**
 * The supply of tokens from Auth V1 (service contract, section 4.2). The layer logs one warning when it is built: V1 is past
 * its sunset.
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
export const config = {
  ...Environment.config,
  authV1Url: Environment.url("CREDIT_DATA_AUTH_V1_URL", {
    description: "the address of the authorization server of Auth V1",
    example: "https://auth.sandbox.example",
    path
  }),
  ...ClientCredentials.config
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
  const { audience, authV1Url, baseUrl, environment } = settings
  const others = { environment, audience, baseUrl, authV1Url }
  return Effect.map(
    credentials === undefined ? Variables.read({ ...others, clientId, clientSecret }) : Variables.read(others),
    ({ audience, authV1Url, baseUrl, environment }) => ({
      ...settings,
      environment: { name: environment, audience, baseUrl, authV1Url },
      credentials: credentials ?? Config.all({ clientId, clientSecret })
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
 * The supply of tokens from Auth V1, with its options read from the environment. `AuthV2.layerConfig()` has the same type,
 * so a program switches between V1 and V2 by changing one word.
 *
 * Building the layer fails with one `ConfigError`, which has a line for each faulty variable. The lines show examples, and
 * never a value. With the option `credentials`, the layer can also fail with the error of the effect that reads them.
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
