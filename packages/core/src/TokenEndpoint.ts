/**
 * The port to a token endpoint, and the one token request that all its adapters share.
 *
 * @since 1.0.0
 */
import * as HttpClient from "@effect/platform/HttpClient"
import type * as ConfigError from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Equal from "effect/Equal"
import type * as Option from "effect/Option"
import type * as Stream from "effect/Stream"
import type * as AccessScope from "./AccessScope.ts"
import type { AccessToken } from "./AccessToken.ts"
import type * as ClientCredentials from "./ClientCredentials.ts"
import type * as Environment from "./Environment.ts"
import * as credentialsOf from "./internal/credentials.ts"
import * as Instant from "./internal/dualClock.ts"
import { type Symptom, tokenRequest } from "./internal/tokenRequest.ts"
import * as Transport from "./internal/transport.ts"
import * as validation from "./internal/validation.ts"
import type { TokenError } from "./TokenError.ts"
import type { RequestReason, TokenEvent } from "./TokenEvent.ts"
import type { StoreStatus } from "./TokenStatus.ts"

/**
 * A token endpoint of one environment. Each version of the endpoint has its own adapter.
 *
 * @since 1.0.0
 * @category services
 */
export class TokenEndpoint extends Context.Tag("@credit-data/core/TokenEndpoint")<TokenEndpoint, Service>() {}

/**
 * What a token endpoint does.
 *
 * @since 1.0.0
 * @category models
 */
export interface Service {
  /** The environment whose tokens the endpoint issues. */
  readonly environment: Environment.Environment
  /** The address of the endpoint. */
  readonly url: string
  /** The version of the endpoint, as `status` shows it, if there is one. */
  readonly version?: string | undefined
  /** The id of the client for which tokens are requested, if there is one. */
  readonly clientId?: string | undefined
  /** The scopes that are requested. Empty for an endpoint without scopes. */
  readonly requestedScopes: ReadonlyArray<AccessScope.AccessScope>
  /** The time within which `requestToken` succeeds or fails, and in which the supply retries. */
  readonly deadline: Duration.Duration
  /** Makes one token request, without a cache and without retries. `Refresh` reads the credentials again first. */
  readonly requestToken: (reason: RequestReason) => Effect.Effect<AccessToken, TokenError>
  /** Members for a decorator that shares one token between processes. */
  readonly sharing?: Sharing | undefined
}

/**
 * Members for a decorator that shares one token between processes.
 *
 * @since 1.0.0
 * @category models
 */
export interface Sharing {
  /** The credentials as they are now. A token request may have read them again. */
  readonly credentials: Effect.Effect<ClientCredentials.ClientCredentials>
  /** Reads the credentials again, within the deadline. If reading fails, the previous credentials remain in use. */
  readonly reread: Effect.Effect<ClientCredentials.ClientCredentials>
  /**
   * The time within which `requestToken` succeeds or fails, if it includes the wait for another process. Default: the deadline of the
   * endpoint.
   */
  readonly timeLimit?: Duration.Duration | undefined
  /**
   * A token that exists elsewhere. The supply looks for it about once a second while callers request tokens and none may be requested:
   * a failure is remembered, or a renewal was forced a short time ago. Sends nothing to the token endpoint.
   */
  readonly find?:
    | ((reason: RequestReason, failure: TokenError | undefined) => Effect.Effect<Option.Option<AccessToken>>)
    | undefined
  /** Returns whether a token came from elsewhere. */
  readonly wasFound?: ((token: AccessToken) => boolean) | undefined
  /** The use of the shared store, for the `status` of the supply. */
  readonly status?: Effect.Effect<Option.Option<StoreStatus>> | undefined
  /** The events of the shared store, which the supply adds to its own, and how many of them slow listeners have lost. */
  readonly events?: { readonly stream: Stream.Stream<TokenEvent>; readonly lost: () => number } | undefined
}

/**
 * The settings of a token request. Each has a default.
 *
 * @since 1.0.0
 * @category models
 */
export interface Settings {
  /** The time limit of `requestToken`, from connecting to the last byte. The supply applies it to a flight. Default: 10 seconds. */
  readonly deadline?: Duration.DurationInput | undefined
  /** Wraps the HttpClient that sends the token request. The requests that it receives contain the client secret. */
  readonly transformClient?: ((client: HttpClient.HttpClient) => HttpClient.HttpClient) | undefined
  /** Sends trace headers to the authorization server, which belongs to a third party. Default: false. */
  readonly propagateTrace?: boolean | undefined
}

/**
 * The options of `make`.
 *
 * @since 1.0.0
 * @category models
 */
export interface Options<E = never, R = never> extends Settings {
  /** The environment whose tokens are requested. */
  readonly environment: Environment.Environment
  /** The address of the authorization server, and the option that sets it, which errors name. */
  readonly authorizationServer: { readonly url: string | undefined; readonly option: string }
  /** The path of the token endpoint below that address. */
  readonly path: `/${string}`
  /** The version of the endpoint, as `status` shows it. */
  readonly version?: string | undefined
  /** The client's credentials, or an effect that reads them. */
  readonly credentials: ClientCredentials.Source<E, R>
  /** The scopes to request, at least one. Without the option, no scope field is sent, and the server decides what a token covers. */
  readonly scopes?: ReadonlyArray<AccessScope.AccessScope> | undefined
  /** What to do about a failure, if this endpoint has more specific advice than the message of the failure. */
  readonly hint?: ((symptom: Symptom) => string | undefined) | undefined
  /** The credentials that were read together with other variables, so that the layer reads them only once. */
  readonly read?: ClientCredentials.ClientCredentials | undefined
}

export type {
  /**
   * What is known of a failed token request when its hint is chosen.
   *
   * @since 1.0.0
   * @category models
   */
  Symptom
}

const isSame = (a: ClientCredentials.ClientCredentials, b: ClientCredentials.ClientCredentials): boolean =>
  a.clientId === b.clientId && Equal.equals(a.clientSecret, b.clientSecret)

/**
 * Builds a token endpoint. First checks every option and reads the credentials. Fails with a `ConfigError` that names all
 * invalid options, or with the failure of the effect that reads the credentials.
 *
 * When the endpoint refuses the client and the credentials came from an effect, they are read once more. If they have
 * changed, the request is retried once with the new ones. All of this happens within the deadline.
 *
 * @since 1.0.0
 * @category constructors
 */
export const make = Effect.fnUntraced(function*<E = never, R = never>(
  options: Options<E, R>
): Effect.fn.Return<Service, ConfigError.ConfigError | E, HttpClient.HttpClient | R> {
  const { authorizationServer, credentials: source, path, read, version } = options
  const { credentials: given, deadline, scopes, server, ...environment } = yield* validation.all({
    ...validation.environment(options.environment),
    server: validation.at("environment", authorizationServer.option)(
      validation.withoutPath(path)(authorizationServer.url)
    ),
    scopes: options.scopes === undefined
      ? Either.right(undefined)
      : validation.at("scopes")(validation.scopes(options.scopes)),
    credentials: Effect.isEffect(source) ? Either.right(undefined) : validation.credentials(source),
    deadline: validation.at("deadline")(validation.duration(options.deadline ?? "10 seconds"))
  })
  const url = `${server}${path}`
  const credentials = yield* credentialsOf.make({
    source,
    given: given ?? read,
    environment: environment.name,
    time: deadline
  })
  const client = Transport.restrictedClient(yield* HttpClient.HttpClient, { isAllowed: (target) => target === url })
  const request = tokenRequest({
    client: options.transformClient === undefined ? client : options.transformClient(client),
    tokenEndpoint: url,
    environment,
    scopes,
    propagateTrace: options.propagateTrace ?? false,
    hint: options.hint ?? (() => undefined)
  })

  return {
    environment,
    url,
    version,
    clientId: credentials.current().clientId,
    requestedScopes: scopes ?? [],
    deadline,
    requestToken: Effect.fnUntraced(function*(reason) {
      const clock = yield* Effect.clock
      const endsAt = Instant.later(Instant.now(clock), Duration.toMillis(deadline))
      const timeLeft = () => Duration.millis(Instant.millisBetween(Instant.now(clock), endsAt))
      // a secret manager that hangs leaves the request half of the time
      const used = reason._tag === "Refresh"
        ? yield* credentials.reread(Duration.times(deadline, 0.5))
        : credentials.current()
      return yield* request(used, timeLeft()).pipe(
        Effect.catchTag("InvalidClient", (refusal) =>
          Effect.flatMap(
            Effect.isEffect(source) ? credentials.reread(timeLeft()) : Effect.succeed(used),
            (next) => isSame(next, used) ? Effect.fail(refusal) : request(next, timeLeft())
          ))
      )
    }),
    sharing: {
      credentials: Effect.sync(credentials.current),
      reread: Effect.suspend(() => credentials.reread(deadline))
    }
  }
})
