/**
 * The port to a token endpoint, and the one token request that all its adapters share.
 *
 * @since 0.1.0
 */
import * as HttpClient from "@effect/platform/HttpClient"
import type * as Arr from "effect/Array"
import type * as ConfigError from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Equal from "effect/Equal"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as AccessScope from "./AccessScope.ts"
import type { AccessToken, Coverage } from "./AccessToken.ts"
import * as ClientCredentials from "./ClientCredentials.ts"
import * as Environment from "./Environment.ts"
import * as field from "./internal/field.ts"
import * as Instant from "./internal/instant.ts"
import { tokenRequest } from "./internal/tokenRequest.ts"
import type { TokenError } from "./TokenError.ts"
import * as Transport from "./Transport.ts"

/**
 * A token endpoint of one environment. Auth V1 and Auth V2 are adapters to it.
 *
 * @since 0.1.0
 * @category services
 */
export class TokenEndpoint extends Context.Tag("@credit-data/core/TokenEndpoint")<TokenEndpoint, Service>() {}

/**
 * What a token endpoint does.
 *
 * @since 0.1.0
 * @category models
 */
export interface Service {
  /** The environment whose tokens it gives out. */
  readonly environment: Environment.Environment
  /** Its address. */
  readonly url: string
  /** The scopes it asks for; none for an endpoint that knows no scopes (V1). */
  readonly requestedScopes: Option.Option<Arr.NonEmptyReadonlyArray<AccessScope.AccessScope>>
  /** The time within which `requestToken` ends, one way or the other. */
  readonly deadline: Duration.Duration
  /** Makes one token request, with no cache and no retry. */
  readonly requestToken: Effect.Effect<AccessToken, TokenError>
}

/**
 * What can be set of a token request. All of it has a default.
 *
 * @since 0.1.0
 * @category models
 */
export interface Settings {
  /** The time for connecting, headers and body together. Default: 10 seconds. */
  readonly deadline?: Duration.DurationInput | undefined
  /** How many bytes of an answer are read, decompressed. Default: 1 MiB. */
  readonly maxBodySize?: number | undefined
  /** Wraps the HttpClient that sends the token request. What it sees holds the client secret. */
  readonly transformClient?: ((client: HttpClient.HttpClient) => HttpClient.HttpClient) | undefined
  /** Send trace headers to the authorization server, which belongs to a third party. Default: false. */
  readonly propagateTrace?: boolean | undefined
}

/**
 * What tells one adapter from another.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options<E = never, R = never> extends Settings {
  /** The environment whose tokens are wanted. */
  readonly environment: Environment.Environment
  /** Which authorization server of the environment it belongs to. */
  readonly authorizationServer: "authV1Url" | "authV2Url"
  /** Its path beneath the address of that server. */
  readonly path: `/${string}`
  /** The client's credentials, or how to read them. */
  readonly credentials: ClientCredentials.Source<E, R>
  /** The scopes to ask for; without them, no scope field is sent. */
  readonly requestedScopes: Option.Option<Arr.NonEmptyReadonlyArray<AccessScope.AccessScope>>
  /** How the tokens judge what they cover. */
  readonly coverage: Coverage
  /** What to do about a failure, where this endpoint has more to say than the failure alone. */
  readonly hint?: ((error: TokenError) => string | undefined) | undefined
}

const bodySize = (size: number): field.Parsed<number> =>
  Number.isSafeInteger(size) && size > 0
    ? Either.right(size)
    : Either.left("Expected a whole number of bytes above zero")

/** The authorization server that is asked, without the path that comes after it. */
const serverUrl = (options: Pick<Options, "environment" | "authorizationServer" | "path">) => {
  const url = options.environment[options.authorizationServer]
  return !Predicate.isString(url)
    ? Either.left("Expected the address of the authorization server")
    : url.replace(/\/+$/, "").endsWith(options.path)
    ? Either.left(`Expected the address without ${options.path}`)
    : Either.right(url)
}

const isSame = (a: ClientCredentials.ClientCredentials, b: ClientCredentials.ClientCredentials): boolean =>
  a.clientId === b.clientId && Equal.equals(a.clientSecret, b.clientSecret)

/**
 * Builds a token endpoint. Every option is checked, and the credentials are read, before it is there: what is wrong is a
 * `ConfigError` that names the options, or the failure of the effect that reads the credentials.
 *
 * When the endpoint refuses the client and the credentials came from an effect, they are read once more; if they have
 * changed, the request is repeated once with the new ones, all within the deadline.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = Effect.fnUntraced(function*<E = never, R = never>(
  options: Options<E, R>
): Effect.fn.Return<Service, ConfigError.ConfigError | E, HttpClient.HttpClient | R> {
  const { authorizationServer, credentials: source, path, requestedScopes: requested } = options
  const fields = {
    environment: Environment.validate(options.environment),
    server: field.at(["environment", authorizationServer])(serverUrl(options)),
    scopes: Option.isNone(requested)
      ? Either.right(requested)
      : Either.map(AccessScope.validate(requested.value), Option.some),
    credentials: Effect.isEffect(source) ? Either.void : ClientCredentials.validate(source),
    deadline: field.at(["deadline"])(field.duration(options.deadline ?? "10 seconds")),
    maxBodySize: field.at(["maxBodySize"])(bodySize(options.maxBodySize ?? 1024 * 1024))
  }
  const checked = yield* Either.andThen(field.faults(fields), Either.all(fields))
  const url = `${checked.environment[authorizationServer]}${path}`

  const context = yield* Effect.context<R>()
  const configProvider = yield* Effect.configProviderWith(Effect.succeed)
  const readCredentials = (Effect.isEffect(source) ? source : Effect.succeed(source)).pipe(
    Effect.flatMap(ClientCredentials.validate),
    Effect.provide(context),
    Effect.withConfigProvider(configProvider)
  )
  let current = yield* readCredentials

  const client = Transport.sendOnlyTo(
    Transport.manualRedirects(yield* HttpClient.HttpClient),
    (target) => target === url
  )
  const request = tokenRequest({
    client: options.transformClient === undefined ? client : options.transformClient(client),
    tokenEndpoint: url,
    environment: checked.environment,
    requestedScopes: checked.scopes,
    coverage: options.coverage,
    maxBodySize: checked.maxBodySize,
    propagateTrace: options.propagateTrace ?? false,
    hint: options.hint ?? (() => undefined)
  })

  const requestToken = Effect.gen(function*() {
    const clock = yield* Effect.clock
    const endsAt = Instant.later(Instant.now(clock), Duration.toMillis(checked.deadline))
    const timeLeft = () => Duration.millis(Instant.millisBetween(Instant.now(clock), endsAt))
    const used = current
    return yield* request(used, checked.deadline).pipe(
      Effect.catchTag(
        "InvalidClient",
        Effect.fnUntraced(function*(refusal) {
          const reread = yield* readCredentials.pipe(
            Effect.disconnect,
            Effect.timeout(timeLeft()),
            Effect.catchAllCause(() => Effect.fail(refusal))
          )
          if (isSame(reread, used)) return yield* refusal
          current = reread
          return yield* request(reread, timeLeft())
        })
      )
    )
  }).pipe(
    Effect.withSpan("TokenEndpoint.requestToken", {
      kind: "client",
      attributes: { "credit_data.environment": checked.environment.name, "server.address": new URL(url).hostname }
    })
  )
  return {
    environment: checked.environment,
    url,
    requestedScopes: checked.scopes,
    deadline: checked.deadline,
    requestToken
  }
})
