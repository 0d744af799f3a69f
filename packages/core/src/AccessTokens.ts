/**
 * The supply of access tokens: what programs depend on.
 *
 * @since 1.0.0
 */
import type * as Arr from "effect/Array"
import type * as ConfigError from "effect/ConfigError"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as AccessScope from "./AccessScope.ts"
import { AccessToken } from "./AccessToken.ts"
import type { Environment } from "./Environment.ts"
import * as field from "./internal/field.ts"
import * as Pause from "./internal/supply/pause.ts"
import { warnOfSecondSupply } from "./internal/supply/secondSupply.ts"
import * as supply from "./internal/supply/supply.ts"
import { TokenEndpoint } from "./TokenEndpoint.ts"
import type { TokenError } from "./TokenError.ts"
import type { TokenEvent } from "./TokenEvent.ts"
import type { TokenStatus } from "./TokenStatus.ts"

/**
 * The supply of access tokens of one environment.
 *
 * @since 1.0.0
 * @category services
 * @example
 * ```ts
 * import { AccessTokens } from "@credit-data/core"
 * import { Effect } from "effect"
 *
 * export const program = Effect.gen(function*() {
 *   const tokens = yield* AccessTokens.AccessTokens
 *   const token = yield* tokens.get
 *   return token.scopes
 * })
 * ```
 */
export class AccessTokens extends Context.Tag("@credit-data/core/AccessTokens")<AccessTokens, Service>() {}

/**
 * What a supply of access tokens does.
 *
 * @since 1.0.0
 * @category models
 */
export interface Service {
  /** The environment that the tokens are for; the base URL of the business API stands in it. */
  readonly environment: Environment
  /** The scopes that are asked for; none for an endpoint without scopes. */
  readonly requestedScopes: Option.Option<Arr.NonEmptyReadonlyArray<AccessScope.AccessScope>>
  /**
   * A token that is valid now. Any number of callers cause one token request, and interrupting one of them disturbs no
   * other. When the scope of the layer is closed, those who wait are interrupted, and so are those who ask later.
   */
  readonly get: Effect.Effect<AccessToken, TokenError>
  /**
   * Reports that the business API rejected this token, and starts its renewal. Until the renewal ends, `get` waits for it, for
   * 2.5 seconds at most. If it fails or takes longer, `get` returns the token that is there, which may be good for other
   * calls; while the failure is remembered, it does so without waiting.
   *
   * Does nothing when another token has taken its place, or when a rejected token was renewed a short while ago
   * (`forcedRenewalPause`).
   */
  readonly invalidate: (rejected: AccessToken) => Effect.Effect<void>
  /**
   * The token that takes the place of a rejected one: `invalidate`, and then the result of that renewal, within the deadline of
   * the token endpoint. Never returns the rejected token, except within `forcedRenewalPause`, when no request is sent. Fails
   * when the renewal brings no other token; `get` still returns the one that is there.
   */
  readonly replace: (rejected: AccessToken) => Effect.Effect<AccessToken, TokenError>
  /**
   * Forgets a remembered failure, reads the credentials again and requests a token now: for a signal handler or an admin route,
   * after credentials were corrected. Joins a token request that is under way. Sends at most one request a second; in between
   * it does what `get` does.
   */
  readonly refresh: Effect.Effect<AccessToken, TokenError>
  /**
   * Reports that a call needs a scope that the current token does not cover, and starts one renewal in the background, should
   * the operator have granted the scope meanwhile: at once, then after one minute, doubling to one hour while the scope stays
   * missing. Returns the instant before which no further token is requested for it.
   */
  readonly reportMissingScope: (scope: AccessScope.AccessScope) => Effect.Effect<DateTime.Utc>
  /** The state of the supply, safe to print: for health checks. */
  readonly status: Effect.Effect<TokenStatus>
  /**
   * What happens from the moment on at which the stream runs: for logs and telemetry. A slow listener misses the oldest of
   * more than 64 events.
   */
  readonly events: Stream.Stream<TokenEvent>
}

/**
 * What can be set of a supply of tokens. All of it has a default.
 *
 * @since 1.0.0
 * @category models
 */
export interface Settings {
  /**
   * The part of a token's life in which its renewal becomes due, as shares of the lifetime; the point is drawn at random
   * for each token, so that a fleet doesn't renew all at once. Default: from 0.75 to 0.9.
   */
  readonly renewalWindow?: { readonly from: number; readonly to: number } | undefined
  /**
   * The pauses between the token requests of a streak of retryable failures; a `Retry-After` of a second or more goes
   * before. Default: `defaultPause`. No pause is shorter than 100 ms, and the end of a schedule means 60 seconds.
   */
  readonly pause?: Schedule.Schedule<unknown, TokenError> | undefined
  /** The time between two renewals because of rejected tokens, at least. Default: 30 seconds. */
  readonly forcedRenewalPause?: Duration.DurationInput | undefined
}

/**
 * The pauses after retryable failures: 1 second, doubling up to 60 seconds, half of each fixed and half of it random.
 *
 * @since 1.0.0
 * @category schedules
 */
export const defaultPause: Schedule.Schedule<Duration.Duration, TokenError> = Pause.doubling

const window = (window: { readonly from: number; readonly to: number }): field.Parsed<typeof window> =>
  window.from > 0 && window.from <= window.to && window.to <= 1
    ? Either.right(window)
    : Either.left("Expected 0 < from <= to <= 1")

/**
 * Builds the supply over a token endpoint, within a scope. No token is requested before the first `get`.
 *
 * A token is used until it expires. From a point in its renewal window on, the next `get` starts one token request in
 * the background and returns the valid token; when less than 5 seconds (or a tenth of the lifetime, if that is less) are
 * left, `get` waits for the new one, for half of what is left at most. A renewal that fails leaves the valid token in
 * use and is tried again, by use, after a pause.
 *
 * Without a valid token a retryable failure is retried up to twice, after pauses and within the deadline of the token
 * endpoint, before callers see it; after a connection that was reset, the first retry needs no pause. Then every caller gets
 * the failure until the next pause is over. A failure that is not retryable is returned at once, and for 30 seconds.
 *
 * The life of a token counts from its own `requestedAt` and `expiresAt`, also when a custom endpoint returns it late.
 *
 * Fails with a `ConfigError` that names the setting which makes no sense.
 *
 * @since 1.0.0
 * @category constructors
 */
export const make = Effect.fnUntraced(function*(
  settings: Settings = {}
): Effect.fn.Return<Service, ConfigError.ConfigError, TokenEndpoint | Scope.Scope> {
  const fields = {
    renewalWindow: field.at(["renewalWindow"])(window(settings.renewalWindow ?? { from: 0.75, to: 0.9 })),
    forcedRenewalPause: field.at(["forcedRenewalPause"])(field.duration(settings.forcedRenewalPause ?? "30 seconds"))
  }
  const checked = yield* Either.andThen(field.problems(fields), Either.all(fields))
  const endpoint = yield* TokenEndpoint
  yield* warnOfSecondSupply(endpoint)
  return yield* supply.make(endpoint, { ...checked, pause: settings.pause ?? defaultPause })
})

/**
 * The supply as a layer, over any token endpoint. The `layer` of each adapter is this layer over its own token endpoint.
 *
 * Layers are shared by reference: bind this one to a const, for each call of `layer` makes a supply of its own.
 *
 * @since 1.0.0
 * @category layers
 */
export const layer = (settings: Settings = {}): Layer.Layer<AccessTokens, ConfigError.ConfigError, TokenEndpoint> =>
  Layer.scoped(AccessTokens, make(settings))

/**
 * A supply of one fixed token that never expires, without a server: for tests of programs that only need to have one.
 *
 * @since 1.0.0
 * @category layers
 * @example
 * ```ts
 * import { AccessTokens } from "@credit-data/core"
 * import { Effect } from "effect"
 *
 * export const test = Effect.flatMap(AccessTokens.AccessTokens, (tokens) => tokens.get).pipe(
 *   Effect.provide(AccessTokens.layerTest({ scopes: ["data-access:all"] }))
 * )
 * ```
 */
export const layerTest = (options: {
  /** The text of the token. Default: `test-token`. */
  readonly secret?: Redacted.Redacted | undefined
  /** The scopes granted. Default: all three. */
  readonly scopes?: Arr.NonEmptyReadonlyArray<AccessScope.AccessScope> | undefined
  /** Parts of the environment, which is at `http://localhost` otherwise. */
  readonly environment?: Partial<Environment> | undefined
} = {}): Layer.Layer<AccessTokens> => {
  const scopes = options.scopes ?? AccessScope.all
  const environment = { name: "test", audience: "test", baseUrl: "http://localhost", ...options.environment }
  const token = new AccessToken({
    secret: options.secret ?? Redacted.make("test-token"),
    scopes,
    requestedAt: DateTime.unsafeMake(0),
    expiresAt: DateTime.unsafeMake(8.64e15),
    coverage: "GrantedScopes"
  })
  return Layer.succeed(AccessTokens, {
    environment,
    requestedScopes: Option.some(scopes),
    get: Effect.succeed(token),
    invalidate: () => Effect.void,
    replace: () => Effect.succeed(token),
    refresh: Effect.succeed(token),
    reportMissingScope: () => Effect.succeed(token.expiresAt),
    status: Effect.succeed<TokenStatus>({
      environment: environment.name,
      phase: "Valid",
      rejected: false,
      scopes,
      missingScopes: [],
      expiresAt: Option.some(token.expiresAt),
      nextRequestAt: Option.none(),
      lastFailure: Option.none()
    }),
    events: Stream.empty
  })
}
