/**
 * The port to a token endpoint, and the one token request that all its adapters share.
 *
 * @since 1.0.0
 */
import * as HttpClient from "@effect/platform/HttpClient"
import type * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import type * as ConfigError from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Equal from "effect/Equal"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Tracer from "effect/Tracer"
import type * as AccessScope from "./AccessScope.ts"
import type { AccessToken, Coverage } from "./AccessToken.ts"
import type * as ClientCredentials from "./ClientCredentials.ts"
import type * as Environment from "./Environment.ts"
import * as configuration from "./internal/configuration.ts"
import * as field from "./internal/field.ts"
import * as Instant from "./internal/instant.ts"
import { inSpan } from "./internal/observed.ts"
import { logWarning } from "./internal/safeLog.ts"
import * as sealing from "./internal/sealing.ts"
import { withoutPath } from "./internal/secureUrl.ts"
import { tokenRequest } from "./internal/tokenRequest/tokenRequest.ts"
import * as validation from "./internal/validation.ts"
import { within } from "./internal/within.ts"
import type { Replaces } from "./Replaces.ts"
import type { TokenError } from "./TokenError.ts"
import * as Transport from "./internal/transport.ts"

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
  /** The scopes that are requested. None for an endpoint without scopes. */
  readonly requestedScopes: Option.Option<Arr.NonEmptyReadonlyArray<AccessScope.AccessScope>>
  /** The time within which `requestToken` succeeds or fails, and in which the supply retries. */
  readonly deadline: Duration.Duration
  /** Makes one token request, without a cache and without retries. */
  readonly requestToken: (replaces: Replaces) => Effect.Effect<AccessToken, TokenError>
  /** The client for which tokens are requested. `AccessTokens.layerTest` has none. */
  readonly client?: Client | undefined
  /** What an endpoint adds whose tokens several processes share. */
  readonly sharing?: Sharing | undefined
}

/**
 * The OAuth client for which tokens are requested, with its present credentials: a token request may have read them again.
 *
 * @since 1.0.0
 * @category models
 */
export interface Client {
  /** The client id. */
  readonly id: string
  /** Reads the credentials again, for the next token request. A failure is logged, and the old credentials remain in use. */
  readonly rereadCredentials: Effect.Effect<void>
  /**
   * The keys with which a store that several processes share is sealed. Fails with a `ConfigError` if the client secret is shorter
   * than 32 characters.
   */
  readonly sealing: Effect.Effect<Sealing, ConfigError.ConfigError>
}

/**
 * What a token endpoint adds whose tokens several processes share.
 *
 * @since 1.0.0
 * @category models
 */
export interface Sharing {
  /** The time within which `requestToken` succeeds or fails. It is longer than `deadline`, because it includes the wait for another process. */
  readonly timeLimit: Duration.Duration
  /**
   * A token that another process has obtained. The supply looks for it about once a second while callers request tokens and a
   * failure is remembered. Sends nothing to the token endpoint.
   */
  readonly find: (replaces: Replaces, failure: TokenError) => Effect.Effect<Option.Option<AccessToken>>
}

/**
 * Derives a key of 256 bits from the client secret: HKDF with SHA-256 (RFC 5869). The secret cannot be calculated from the key.
 *
 * @since 1.0.0
 * @category models
 */
export type Sealing = (
  salt: Uint8Array<ArrayBuffer>,
  info: Uint8Array<ArrayBuffer>
) => Effect.Effect<ArrayBuffer>

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
export interface Options<E = never, R = never, Server extends string = string> extends Settings {
  /** The environment whose tokens are requested, with the address of the authorization server. */
  readonly environment: Environment.Environment & { readonly [Key in Server]: string }
  /** The field of the environment that contains the authorization server's address. */
  readonly authorizationServer: Server
  /** The path of the token endpoint below the address of that server. */
  readonly path: `/${string}`
  /** The version of the endpoint, as `status` shows it. */
  readonly version?: string | undefined
  /** The client's credentials, or an effect that reads them. */
  readonly credentials: ClientCredentials.Source<E, R>
  /** The scopes to request. Without them, no scope field is sent. */
  readonly requestedScopes: Option.Option<Arr.NonEmptyReadonlyArray<AccessScope.AccessScope>>
  /** How to decide which scopes a token covers. */
  readonly coverage: Coverage
  /** What to do about a failure, if this endpoint has more specific advice than the message of the failure. */
  readonly hint?: ((error: TokenError) => string | undefined) | undefined
}

/** Checks the address of the authorization server. A program without types may have left it out. */
const serverUrl = (url: unknown, path: `/${string}`): field.Parsed<string> =>
  Predicate.isString(url)
    ? withoutPath(path)(url)
    : Either.left("Expected the address of the authorization server")

const isSame = (a: ClientCredentials.ClientCredentials, b: ClientCredentials.ClientCredentials): boolean =>
  a.clientId === b.clientId && Equal.equals(a.clientSecret, b.clientSecret)

/** The name of a failure that the program's effect returned. The rest could contain the secret. */
const nameOf = (failure: unknown): string =>
  Predicate.hasProperty(failure, "_tag") && Predicate.isString(failure._tag)
    ? failure._tag
    : failure instanceof Error
    ? failure.name
    : "an unknown failure"

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
export const make = Effect.fnUntraced(function*<E = never, R = never, Server extends string = string>(
  options: Options<E, R, Server>
): Effect.fn.Return<Service, ConfigError.ConfigError | E, HttpClient.HttpClient | R> {
  const { authorizationServer, credentials: source, path, requestedScopes: requested } = options
  const fields = {
    environment: validation.environment(options.environment),
    server: field.at(["environment", authorizationServer])(serverUrl(options.environment[authorizationServer], path)),
    scopes: Option.isNone(requested)
      ? Either.right(requested)
      : Either.map(validation.scopes(requested.value), Option.some),
    credentials: Effect.isEffect(source) ? Either.void : validation.credentials(source),
    deadline: field.at(["deadline"])(field.duration(options.deadline ?? "10 seconds"))
  }
  const checked = yield* Either.andThen(field.problems(fields), Either.all(fields))
  const url = `${checked.server}${path}`

  const context = yield* Effect.context<R>()
  // a later read belongs to the trace of the token request that needs it, not to the trace of the program's start
  const inTraceOf = (caller: Context.Context<never>): Context.Context<R> =>
    Context.merge(context, Context.pick(Tracer.ParentSpan)(caller))
  const configProvider = yield* Effect.configProviderWith(Effect.succeed)
  const readCredentials = (Effect.isEffect(source) ? source : Effect.succeed(source)).pipe(
    Effect.flatMap(validation.credentials),
    Effect.withConfigProvider(configProvider)
  )
  let current = yield* readCredentials.pipe(
    Effect.provide(context),
    within(checked.deadline, () =>
      configuration.unavailable(
        ["credentials"],
        `The credentials were not read within ${Duration.format(checked.deadline)}`
      ))
  )

  const client = Transport.sealed(yield* HttpClient.HttpClient, { isAllowed: (target) => target === url })
  const request = tokenRequest({
    client: options.transformClient === undefined ? client : options.transformClient(client),
    tokenEndpoint: url,
    environment: checked.environment,
    requestedScopes: checked.scopes,
    coverage: options.coverage,
    propagateTrace: options.propagateTrace ?? false,
    hint: options.hint ?? (() => undefined)
  })

  /** The failure of the last read, which was logged. */
  let failedWith: string | undefined
  /** The credentials as they are now, or the reason why they cannot be read. */
  const reread = (time: Duration.Duration) =>
    inSpan(
      "TokenEndpoint.readCredentials",
      { attributes: { "credit_data.environment": checked.environment.name }, shown: (name: string) => new Error(name) },
      () => read(time)
    )
  const read = (time: Duration.Duration) =>
    readCredentials.pipe(
      Effect.mapInputContext(inTraceOf),
      within(time, () => new Cause.TimeoutException()),
      Effect.catchAllCause((cause) => Effect.fail(nameOf(Cause.squash(cause)))),
      Effect.tapError((name) => {
        // a supply may read them every second while the client is refused
        if (failedWith === name) return Effect.void
        failedWith = name
        return logWarning(
          `The client credentials of ${checked.environment.name} could not be read again: ${name}. ` +
            "The previous credentials remain in use."
        )
      }),
      Effect.tap(() => {
        failedWith = undefined
        return Effect.void
      })
    )

  const requestToken = Effect.fnUntraced(function*() {
    const clock = yield* Effect.clock
    const endsAt = Instant.later(Instant.now(clock), Duration.toMillis(checked.deadline))
    const timeLeft = () => Duration.millis(Instant.millisBetween(Instant.now(clock), endsAt))
    const used = current
    return yield* request(used, checked.deadline).pipe(
      Effect.catchTag(
        "InvalidClient",
        Effect.fnUntraced(function*(refusal) {
          const next = yield* Effect.mapError(reread(timeLeft()), () => refusal)
          if (isSame(next, used)) return yield* refusal
          current = next
          return yield* request(next, timeLeft())
        })
      )
    )
  })
  return {
    environment: checked.environment,
    url,
    version: options.version,
    requestedScopes: checked.scopes,
    deadline: checked.deadline,
    requestToken,
    client: {
      get id() {
        return current.clientId
      },
      rereadCredentials: Effect.ignore(
        Effect.map(reread(checked.deadline), (next) => {
          current = next
        })
      ),
      sealing: Effect.suspend(() => sealing.make(current.clientSecret))
    }
  }
})
