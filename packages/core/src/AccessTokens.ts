/**
 * The supply of access tokens, the service that programs depend on.
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
import { sharedLayer } from "./internal/sharedLayer.ts"
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
  /** The environment that the tokens are for. It contains the base URL of the business API. */
  readonly environment: Environment
  /** The scopes that are requested. None for an endpoint without scopes. */
  readonly requestedScopes: Option.Option<Arr.NonEmptyReadonlyArray<AccessScope.AccessScope>>
  /**
   * A token that is valid now. Any number of callers share one token request. Interrupting one caller does not affect the
   * others. When the scope of the layer is closed, waiting callers and later callers are interrupted.
   */
  readonly get: Effect.Effect<AccessToken, TokenError>
  /**
   * Reports that the business API rejected this token, and starts one renewal. Until the renewal ends, `get` waits for it, for
   * at most 2.5 seconds. If the renewal fails or takes longer, `get` returns the supply's current token, which may still work
   * for other calls. While the failure is remembered, `get` returns that token without waiting.
   *
   * Does nothing if the supply already has another token, or if such a renewal started less than `forcedRenewalPause` ago.
   */
  readonly invalidate: (rejected: AccessToken) => Effect.Effect<void>
  /**
   * Returns the token that takes the place of a rejected one. Does what `invalidate` does, and then waits for the renewal,
   * within the deadline of the token endpoint. Returns the rejected token in two cases: if another such renewal started
   * less than `forcedRenewalPause` ago, or if the server issued the same token again. Fails if the renewal fails; `get` still
   * returns the supply's current token.
   */
  readonly replace: (rejected: AccessToken) => Effect.Effect<AccessToken, TokenError>
  /**
   * Forgets a remembered failure, reads the credentials again and requests a token now. Use it in a signal handler or an admin
   * route, after the credentials were corrected. Joins a token request that is under way. Sends at most one request per second;
   * within that second it does what `get` does.
   */
  readonly refresh: Effect.Effect<AccessToken, TokenError>
  /**
   * Reports that a client was built, with the scope that its calls need, if they need a certain scope. `status` shows when the token
   * covers the scope of none of the clients.
   */
  readonly registerClient: (scope: Option.Option<AccessScope.AccessScope>) => Effect.Effect<void>
  /**
   * Reports that a call needs a scope that the current token does not cover. Starts one renewal in the background, because the
   * operator may have granted the scope. While the scope is missing, these renewals are sent at once, then after one minute, then
   * at intervals that double to one hour. Returns the instant before which no further token is requested for the scope.
   */
  readonly reportMissingScope: (scope: AccessScope.AccessScope) => Effect.Effect<DateTime.Utc>
  /** The state of the supply, for health checks; safe to print. */
  readonly status: Effect.Effect<TokenStatus>
  /**
   * The events of the supply from the moment the stream starts to run, for logs and telemetry. A listener that is more than 64
   * events behind loses the oldest ones.
   */
  readonly events: Stream.Stream<TokenEvent>
}

/**
 * The settings of a supply of tokens. Each has a default.
 *
 * @since 1.0.0
 * @category models
 */
export interface Settings {
  /**
   * The part of a token's life in which its renewal becomes due, as shares of the lifetime. The point is drawn at random for
   * each token, so that the processes of a fleet do not renew at the same time. Default: from 0.75 to 0.9.
   */
  readonly renewalWindow?: { readonly from: number; readonly to: number } | undefined
  /**
   * The pauses after consecutive retryable failures. A `Retry-After` of a second or more takes precedence. No pause is shorter
   * than 100 ms. After the end of the schedule, each pause is 60 seconds. Default: `defaultPause`.
   */
  readonly pause?: Schedule.Schedule<unknown, TokenError> | undefined
  /** The minimum time between two renewals of rejected tokens. Default: 30 seconds. */
  readonly forcedRenewalPause?: Duration.DurationInput | undefined
}

/**
 * The pauses after retryable failures: 1 second, doubling up to 60 seconds. Half of each pause is fixed, the
 * other half is random.
 *
 * @since 1.0.0
 * @category schedules
 */
export const defaultPause: Schedule.Schedule<Duration.Duration, TokenError> = Pause.doubling

const defaults = {
  renewalWindow: { from: 0.75, to: 0.9 },
  forcedRenewalPause: Duration.seconds(30),
  pause: defaultPause
}

const window = (window: { readonly from: number; readonly to: number }): field.Parsed<typeof window> =>
  window.from > 0 && window.from <= window.to && window.to <= 1
    ? Either.right(window)
    : Either.left("Expected 0 < from <= to <= 1")

/**
 * Builds the supply over a token endpoint, within a scope. No token is requested before the first `get`.
 *
 * A token is used until it expires. When its renewal is due, the next `get` starts one token request in the background and
 * returns the valid token. When less than 5 seconds (or a tenth of the lifetime, if that is less) are left, `get` waits for
 * the new token, for at most half of the remaining time. After a failed renewal the valid token remains in use. The next caller
 * after the pause starts another renewal.
 *
 * Without a valid token, a retryable failure is retried up to twice before callers get it, after pauses and within the deadline
 * of the token endpoint. After a connection that was reset, the first retry has no pause. When the retries have failed, every
 * caller gets the failure until the next pause is over. A failure that is not retryable is returned at once, and for 30 seconds.
 *
 * The life of a token counts from its own `requestedAt` and `expiresAt`, even when a custom endpoint returns it late.
 *
 * Fails with a `ConfigError` that names the invalid setting.
 *
 * @since 1.0.0
 * @category constructors
 */
export const make: (
  settings?: Settings
) => Effect.Effect<Service, ConfigError.ConfigError, TokenEndpoint | Scope.Scope> = Effect.fnUntraced(function*(
  settings: Settings = {}
) {
  const fields = {
    renewalWindow: field.at(["renewalWindow"])(window(settings.renewalWindow ?? defaults.renewalWindow)),
    forcedRenewalPause: field.at(["forcedRenewalPause"])(
      field.duration(settings.forcedRenewalPause ?? defaults.forcedRenewalPause)
    )
  }
  const checked = yield* Either.andThen(field.problems(fields), Either.all(fields))
  const endpoint = yield* TokenEndpoint
  yield* warnOfSecondSupply(endpoint)
  return yield* supply.make(endpoint, { ...checked, pause: settings.pause ?? defaults.pause })
})

/**
 * The supply as a layer, over any token endpoint. The `layer` of each adapter is this layer over its own token endpoint.
 *
 * Layers are shared by reference. Bind the layer to a const, because each call of `layer` makes another supply.
 *
 * @since 1.0.0
 * @category layers
 */
export const layer = (settings: Settings = {}): Layer.Layer<AccessTokens, ConfigError.ConfigError, TokenEndpoint> =>
  sharedLayer(() => Layer.scoped(AccessTokens, make(settings)), { services: [TokenEndpoint] })

/** The lifetime of the service's tokens (service contract, section 4). */
const lifetime = Duration.hours(24)

/**
 * A supply without a server, for tests. It is the real supply over a token endpoint that grants everything: its tokens expire and are
 * renewed, `replace` and `refresh` return another token, and it has a status and events. A token lives for 24 hours. The
 * option sets the text of the first token, and later tokens add a number to it.
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
  /** The text of the first token. Default: `test-token`. */
  readonly secret?: Redacted.Redacted | undefined
  /** The scopes requested and granted. Default: all three. */
  readonly scopes?: Arr.NonEmptyReadonlyArray<AccessScope.AccessScope> | undefined
  /** Parts of the environment that replace the defaults. The default base URL is `http://localhost`. */
  readonly environment?: Partial<Environment> | undefined
} = {}): Layer.Layer<AccessTokens> =>
  Layer.scoped(
    AccessTokens,
    Effect.suspend(() => {
      const scopes = options.scopes ?? AccessScope.all
      const first = options.secret ?? Redacted.make("test-token")
      let requests = 0
      return supply.make({
        environment: { name: "test", audience: "test", baseUrl: "http://localhost", ...options.environment },
        url: "http://localhost",
        requestedScopes: Option.some(scopes),
        deadline: Duration.seconds(10),
        requestToken: () =>
          Effect.map(DateTime.now, (requestedAt) => {
            requests++
            return new AccessToken({
              secret: requests === 1 ? first : Redacted.make(`${Redacted.value(first)}-${requests}`),
              scopes,
              requestedAt,
              expiresAt: DateTime.addDuration(requestedAt, lifetime),
              coverage: "GrantedScopes"
            })
          })
      }, defaults)
    })
  )
