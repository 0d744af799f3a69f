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
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as AccessScope from "./AccessScope.ts"
import { AccessToken } from "./AccessToken.ts"
import type { Environment } from "./Environment.ts"
import { warnOfSecondSupply } from "./internal/secondSupply.ts"
import { sharedLayer } from "./internal/sharedLayer.ts"
import * as supply from "./internal/supply.ts"
import * as validation from "./internal/validation.ts"
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
 * The token supply.
 *
 * @since 1.0.0
 * @category models
 */
export interface Service {
  /** The environment that the tokens are for. It contains the base URL of the business API. */
  readonly environment: Environment
  /** The id of the client for which tokens are requested, if the token endpoint has one. */
  readonly clientId?: string | undefined
  /** The scopes that are requested. Empty for an endpoint without scopes. */
  readonly requestedScopes: ReadonlyArray<AccessScope.AccessScope>
  /**
   * A token that is valid now. Any number of callers share one token request. Interrupting one caller does not affect the
   * others. When the scope of the layer closes, waiting callers and later callers fail with a `TransportError` (`Closed`).
   */
  readonly get: Effect.Effect<AccessToken, TokenError>
  /**
   * Reports that the business API rejected this token (a 401). `get` then prefers another token that the supply holds; if the API has
   * rejected both, the one whose rejection is longer ago. If the API has rejected every token that the supply holds, a renewal is forced:
   * at most one in 30 seconds, unless the last one failed and its pause is over. A token that the supply does not hold changes nothing.
   */
  readonly invalidate: (rejected: AccessToken) => Effect.Effect<void>
  /**
   * Reports a rejected token as `invalidate` does, and returns a token that the call has not tried yet. Pass the token that was rejected
   * last, and then all others that the call has tried. If there is no other token, `replace` waits for the token request in progress. If
   * no request is in progress, it returns the rejected token, and the call ends with its 401. While token requests pause after a failure,
   * it fails with that failure. If the supply holds no token, it requests one.
   */
  readonly replace: (
    rejected: AccessToken,
    ...tried: ReadonlyArray<AccessToken>
  ) => Effect.Effect<AccessToken, TokenError>
  /**
   * Forgets a remembered failure, reads the credentials again and requests a token. Use it in a signal handler or an admin
   * route, after the credentials were corrected. If a token request is in progress, waits for it. Sends at most one request per
   * second; within that second it does what `get` does.
   */
  readonly refresh: Effect.Effect<AccessToken, TokenError>
  /** The state of the supply, for health checks; safe to print. */
  readonly status: Effect.Effect<TokenStatus>
  /**
   * The events of the supply from the moment the stream starts to run, for logs and telemetry. A slow listener loses the oldest ones.
   */
  readonly events: Stream.Stream<TokenEvent>
  /**
   * Reports that a call needs a scope that the current token does not cover. Starts one renewal in the background, at most every five
   * minutes, because the operator may have granted the scope. Returns the instant before which no further token is requested for it.
   */
  readonly scopeMissing?: ((scope: AccessScope.AccessScope) => Effect.Effect<DateTime.Utc>) | undefined
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
}

const window = (window: { readonly from: number; readonly to: number }): validation.Parsed<typeof window> =>
  window.from > 0 && window.from <= window.to && window.to <= 1
    ? Either.right(window)
    : Either.left("Expected 0 < from <= to <= 1")

const check = ({ renewalWindow = { from: 0.75, to: 0.9 } }: Settings) =>
  validation.all({ renewalWindow: validation.at("renewalWindow")(window(renewalWindow)) })

/**
 * Builds the supply over a token endpoint, within a scope. Building it requests no token.
 *
 * When a token's renewal is due, the next `get` starts one token request in the background and returns the valid token. In the last
 * seconds of the token's life, `get` waits for the new one. After a failed renewal the valid token remains in use.
 *
 * The supply also holds the token that was in use when the newest one arrived. If the API rejects one of the two, the other is used.
 *
 * Without a valid token, a retryable failure is retried up to twice before callers get it, within the deadline of the token endpoint.
 * Then every caller gets the failure until the pause is over.
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
  const options = yield* check(settings)
  const endpoint = yield* TokenEndpoint
  yield* warnOfSecondSupply(endpoint)
  return yield* supply.make(endpoint, options)
})

/**
 * The supply as a layer, over any token endpoint. Bind the layer to a const, because each call of `layer` makes another supply.
 *
 * @since 1.0.0
 * @category layers
 */
export const layer = (settings: Settings = {}): Layer.Layer<AccessTokens, ConfigError.ConfigError, TokenEndpoint> =>
  sharedLayer(() => Layer.scoped(AccessTokens, make(settings)), { services: [TokenEndpoint] })

/** The lifetime of the service's tokens (service contract, section 8). */
const lifetime = Duration.hours(24)

/**
 * A supply without a server, for tests. It is the real supply over a token endpoint that grants every scope: its tokens live for 24 hours
 * and are renewed. Later tokens add a number to the text of the first one.
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
      const endpoint = {
        environment: { name: "test", audience: "test", baseUrl: "http://localhost", ...options.environment },
        url: "http://localhost",
        requestedScopes: scopes,
        deadline: Duration.seconds(10),
        requestToken: () =>
          Effect.map(DateTime.now, (requestedAt) => {
            requests++
            return new AccessToken({
              secret: requests === 1 ? first : Redacted.make(`${Redacted.value(first)}-${requests}`),
              scopes,
              requestedAt,
              expiresAt: DateTime.addDuration(requestedAt, lifetime)
            })
          })
      }
      return Effect.flatMap(Effect.orDie(check({})), (checked) => supply.make(endpoint, checked))
    })
  )
