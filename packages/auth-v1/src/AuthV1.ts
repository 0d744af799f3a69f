/**
 * Auth V1, the legacy token endpoint: `POST {authV1Url}/oauth/token`. It sunset at the end of 2024.
 *
 * Clients of Data Access V1 stay on it: they are not migrated to V2 (service contract, section 9).
 *
 * @since 1.0.0
 */
import * as AccessTokens from "@credit-data/core/AccessTokens"
import * as ClientCredentials from "@credit-data/core/ClientCredentials"
import * as Environment from "@credit-data/core/Environment"
import * as TokenEndpoint from "@credit-data/core/TokenEndpoint"
import type * as TokenError from "@credit-data/core/TokenError"
import * as Variables from "@credit-data/core/Variables"
import type * as HttpClient from "@effect/platform/HttpClient"
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
 * What Auth V1 has to know. It knows no scopes: a token covers what the server decides.
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
  "Auth V1 reached its sunset at the end of 2024 and is probably gone: use AuthV2.layerConfig() in place of " +
  "AuthV1.layerConfig(), with CREDIT_DATA_AUTH_V2_URL and CREDIT_DATA_SCOPES set; the credentials stay the same. " +
  "Clients of Data Access V1 aren't migrated: ask the operator."

/** A server that has been switched off has no name any more, or says that the path isn't there. */
const hint = (error: TokenError.TokenError): string | undefined =>
  (error._tag === "TransportError" && error.reason === "NameNotFound") ||
    (error._tag === "ServerError" && (error.status === 404 || error.status === 410))
    ? retired
    : undefined

/**
 * The token endpoint alone, for a program that keeps its tokens itself: each `requestToken` is one token request. Warns,
 * when it is built, that V1 is past its sunset.
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
    Effect.tap(
      TokenEndpoint.make({
        ...options,
        authorizationServer: "authV1Url",
        path,
        requestedScopes: Option.none(),
        coverage: "AnyScope",
        hint
      }),
      Effect.logWarning(
        "Auth V1 is past its sunset (end of 2024). Swap AuthV1 for AuthV2, unless you are a client of Data Access V1."
      )
    )
  )

/**
 * The supply of tokens from Auth V1 (service contract, section 4.2). Warns once, when it is built, that V1 is past its
 * sunset.
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
  AccessTokens.layer(options).pipe(Layer.provide(layerTokenEndpoint(options)))

/**
 * Where the options are read from: a plain struct of Configs, so that one of them is replaced by spreading.
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
 *   ...AuthV1.config,
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
 * The supply of tokens from Auth V1, with its options read from the environment: the same type as `AuthV2.layerConfig()`
 * gives, so that changing one word swaps V1 for V2, and back.
 *
 * Fails with one `ConfigError` that has a line for each faulty variable, with an example and never a value. With `credentials`
 * in the settings, the variables of the credentials are not read, and it can fail as that effect does.
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
    Effect.map(variables, ({ audience, authV1Url, baseUrl, environment }) =>
      layer<E | ConfigError.ConfigError, R>({
        ...settings,
        environment: { name: environment, audience, baseUrl, authV1Url },
        credentials: settings.credentials ?? Config.all({ clientId, clientSecret })
      }))
  )
}
