/**
 * Makes the adapter for one version of the token endpoint.
 *
 * @since 1.0.0
 */
import * as HttpClient from "@effect/platform/HttpClient"
import type * as Arr from "effect/Array"
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import type { LazyArg } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as AccessScope from "./AccessScope.ts"
import * as AccessTokens from "./AccessTokens.ts"
import * as ClientCredentials from "./ClientCredentials.ts"
import * as Environment from "./Environment.ts"
import { serverAddress } from "./internal/serverAddress.ts"
import { sharedLayer } from "./internal/sharedLayer.ts"
import { followedBy, servicesOf } from "./internal/layerSource.ts"
import { isValue, makeTokenEndpoint } from "./internal/tokenEndpoint.ts"
import * as TokenEndpoint from "./TokenEndpoint.ts"
import * as Variables from "./Variables.ts"

/**
 * The optional settings of the token request and of the supply. Each has a default.
 *
 * @since 1.0.0
 * @category models
 */
export interface Settings extends TokenEndpoint.Settings, AccessTokens.Settings {}

/**
 * What differs between the versions of the token endpoint (service contract, sections 4 and 9).
 *
 * @since 1.0.0
 * @category models
 */
export interface Definition<Field extends string, HasScopes extends boolean> {
  /** The version, as `status` shows it. */
  readonly version: string
  /** The path of the token endpoint below the address of the authorization server. */
  readonly path: `/${string}`
  /** The field of the environment with the address of the authorization server. */
  readonly field: Field
  /** The variable with that address. */
  readonly variable: string
  /** What the variable is. The error for a missing variable shows it. */
  readonly description: string
  /** An example of that address. The error for a missing variable shows it. */
  readonly example: string
  /** Whether a token request names scopes. If not, the server decides what a token covers. */
  readonly scopes: HasScopes
  /** What to do about a failure, if this version has more specific advice than the message of the failure. */
  readonly hint?: ((symptom: TokenEndpoint.Symptom) => string | undefined) | undefined
  /** A warning that is logged when the layer is built. */
  readonly warning?: string | undefined
}

/**
 * The options of an adapter's `layer`.
 *
 * @since 1.0.0
 * @category models
 */
export type Options<Field extends string, HasScopes extends boolean, E = never, R = never> =
  & Settings
  & {
    /** The environment, with the authorization server of this version. */
    readonly environment: Environment.Environment & { readonly [Name in Field]: string }
    /** The client's credentials: a value, a Config, or a call to a secret manager (`ClientCredentials.from`). */
    readonly credentials: ClientCredentials.Source<E, R>
  }
  & (HasScopes extends true ? {
      /** The scopes to request: at least one. Order and duplicates do not matter. */
      readonly scopes: Arr.NonEmptyReadonlyArray<AccessScope.AccessScope>
    }
    : unknown)

/**
 * The Configs that an adapter's `layerConfig` reads its options from.
 *
 * @since 1.0.0
 * @category models
 */
export type Configs<Field extends string, HasScopes extends boolean> =
  & typeof Environment.config
  & typeof ClientCredentials.config
  & { readonly [Name in Field]: Config.Config<string> }
  & (HasScopes extends true ? { readonly scopes: typeof AccessScope.config } : unknown)

/**
 * The options of an adapter's `layerConfig`. What is omitted comes from `config`, and the settings have defaults.
 *
 * @since 1.0.0
 * @category models
 */
export type ConfigOptions<Field extends string, HasScopes extends boolean, E = never, R = never> =
  & Settings
  & {
    readonly [Name in keyof Configs<Field, HasScopes>]?: Configs<Field, HasScopes>[Name] | undefined
  }
  & {
    /**
     * Credentials that do not come from variables: a call to a secret manager (`ClientCredentials.from`), an effect, or a value. With
     * them, `clientId` and `clientSecret` are not read.
     */
    readonly credentials?: ClientCredentials.Source<E, R> | undefined
  }

type EndpointLayer<E, R> = Layer.Layer<
  TokenEndpoint.TokenEndpoint,
  ConfigError.ConfigError | E,
  HttpClient.HttpClient | R
>

type SupplyLayer<E, R> = Layer.Layer<AccessTokens.AccessTokens, ConfigError.ConfigError | E, HttpClient.HttpClient | R>

/**
 * An adapter for one version of the token endpoint.
 *
 * @since 1.0.0
 * @category models
 */
export interface Adapter<Field extends string, HasScopes extends boolean> {
  /** The Configs that `layerConfig` reads its options from. */
  readonly config: Configs<Field, HasScopes>
  /** The supply of tokens. */
  readonly layer: <E = never, R = never>(options: Options<Field, HasScopes, E, R>) => SupplyLayer<E, R>
  /** Only the token endpoint. */
  readonly layerTokenEndpoint: <E = never, R = never>(options: Options<Field, HasScopes, E, R>) => EndpointLayer<E, R>
  /** The supply of tokens, with its options read from variables. */
  readonly layerConfig: {
    <E = never, R = never>(options?: ConfigOptions<Field, HasScopes, E, R>): SupplyLayer<E, R>
    // the last one, so that `ReturnType` shows it
    (options?: ConfigOptions<Field, HasScopes>): SupplyLayer<never, never>
  }
  /** Only the token endpoint, with its options read from variables. */
  readonly layerTokenEndpointConfig: <E = never, R = never>(
    options?: ConfigOptions<Field, HasScopes, E, R>
  ) => EndpointLayer<E, R>
}

// The implementation does not know the name of the field, so its options are those of any adapter.

interface AnyOptions<E, R> extends Settings {
  readonly environment: Environment.Environment & { readonly [Name in string]: unknown }
  readonly credentials: ClientCredentials.Source<E, R>
  readonly scopes?: ReadonlyArray<AccessScope.AccessScope> | undefined
}

type AnyConfigOptions<E, R> = ConfigOptions<never, true, E, R> & { readonly [Name in string]?: unknown }

/** What the credentials belong to, among the variables. */
const place = ["environment", "audience", "baseUrl", "authorizationServer"] as const

type Place = Readonly<Record<typeof place[number], unknown>>

const unchanged = (first: Place, now: Place): Effect.Effect<void, ConfigError.ConfigError> => {
  const changed = place.filter((name) => now[name] !== first[name])
  return changed.length === 0 ? Effect.void : Effect.fail(Variables.invalid(
    ["variables"],
    `Expected the same ${
      changed.join(", ")
    } as when the layer was built. Build the layer again to use another environment`
  ))
}

/**
 * Makes an adapter for one version of the token endpoint. Its layers fail with a `ConfigError` that names faulty options or variables, or
 * with the error of the effect that reads the credentials.
 *
 * @since 1.0.0
 * @category constructors
 * @example
 * ```ts
 * import { Adapter } from "@credit-data/core"
 *
 * const AuthV3 = Adapter.make({
 *   version: "V3",
 *   path: "/oauth3/token",
 *   field: "authV3Url",
 *   variable: "CREDIT_DATA_AUTH_V3_URL",
 *   description: "the address of the authorization server of Auth V3",
 *   example: "https://login.sandbox.example",
 *   scopes: true
 * })
 *
 * export const Auth = AuthV3.layerConfig()
 * ```
 */
export function make<const Field extends string, const HasScopes extends boolean>(
  definition: Definition<Field, HasScopes>
): Adapter<Field, HasScopes>
export function make(definition: Definition<string, boolean>): object {
  const { description, example, field, hint, path, scopes: hasScopes, variable, version, warning } = definition
  const serverConfig = serverAddress(variable, { description, example, path })
  const config = {
    ...Environment.config,
    [field]: serverConfig,
    ...ClientCredentials.config,
    ...(hasScopes && { scopes: AccessScope.config })
  }

  const endpointOf = <E, R>(
    options: AnyOptions<E, R>
  ): Effect.Effect<TokenEndpoint.Service, ConfigError.ConfigError | E, HttpClient.HttpClient | R> => {
    const url = options.environment[field]
    return makeTokenEndpoint({
      ...options,
      authorizationServer: { url: Predicate.isString(url) ? url : undefined, option: field },
      path,
      version,
      hint,
      // an omitted option is refused, and never means that no scopes are requested
      scopes: hasScopes ? options.scopes ?? [] : undefined
    })
  }

  const fromVariables = Effect.fnUntraced(function*<E, R>(
    given: AnyConfigOptions<E, R>
  ): Effect.fn.Return<TokenEndpoint.Service, ConfigError.ConfigError | E, HttpClient.HttpClient | R> {
    const server = given[field]
    const {
      audience = Environment.config.audience,
      baseUrl = Environment.config.baseUrl,
      clientId = ClientCredentials.config.clientId,
      clientSecret = ClientCredentials.config.clientSecret,
      credentials,
      environment = Environment.config.environment,
      scopes = AccessScope.config,
      ...settings
    } = given
    const configs = {
      environment,
      audience,
      baseUrl,
      authorizationServer: Config.isConfig(server) ? server : serverConfig
    }
    const pair = { clientId, clientSecret }
    // all variables together, so that one error lists everything that is missing
    const first = yield* Variables.read({
      ...configs,
      scopes: hasScopes ? scopes : Config.succeed(undefined),
      ...(credentials === undefined ? pair : {})
    })
    // variables that have become those of another environment contain a secret that this server must not receive
    const check = Effect.flatMap(Variables.read(configs), (now) => unchanged(first, now))
    const source: ClientCredentials.Source<E | ConfigError.ConfigError, R> = credentials ?? Variables.read(pair)
    return yield* endpointOf({
      ...settings,
      environment: {
        name: first.environment,
        audience: first.audience,
        baseUrl: first.baseUrl,
        [field]: first.authorizationServer
      },
      credentials: isValue(source) ? source : followedBy(source, check),
      scopes: first.scopes
    })
  })

  const shared = <A, E, R>(
    credentials: ClientCredentials.Source<E, R> | undefined,
    make: LazyArg<Layer.Layer<A, ConfigError.ConfigError | E, HttpClient.HttpClient | R>>
  ) =>
    sharedLayer(() => warning === undefined ? make() : Layer.tap(make(), () => Effect.logWarning(warning)), {
      services: [
        HttpClient.HttpClient,
        ...(credentials === undefined || isValue(credentials) ? [] : servicesOf(credentials))
      ]
    })

  const onlyEndpoint = <E, R>(endpoint: Effect.Effect<TokenEndpoint.Service, E, R>) =>
    Layer.effect(TokenEndpoint.TokenEndpoint, endpoint)

  const supply = <E, R>(settings: AccessTokens.Settings, endpoint: Effect.Effect<TokenEndpoint.Service, E, R>) =>
    Layer.provide(Layer.scoped(AccessTokens.AccessTokens, AccessTokens.make(settings)), onlyEndpoint(endpoint))

  return {
    config,
    layer: <E, R>(options: AnyOptions<E, R>) => shared(options.credentials, () => supply(options, endpointOf(options))),
    layerTokenEndpoint: <E, R>(options: AnyOptions<E, R>) =>
      shared(options.credentials, () => onlyEndpoint(endpointOf(options))),
    layerConfig: <E, R>(options: AnyConfigOptions<E, R> = {}) =>
      shared(options.credentials, () => supply(options, fromVariables(options))),
    layerTokenEndpointConfig: <E, R>(options: AnyConfigOptions<E, R> = {}) =>
      shared(options.credentials, () => onlyEndpoint(fromVariables(options)))
  }
}
