/**
 * Responses for the health checks of an orchestrator such as Kubernetes.
 *
 * @since 1.0.0
 */
import * as AccessTokens from "@credit-data/core/AccessTokens"
import { readiness } from "@credit-data/core/Internal"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

const json = (status: number, body: object) =>
  HttpServerResponse.unsafeJson(body, { status, headers: { "cache-control": "no-store" } })

/**
 * The response of a running program: status 200. It does not depend on tokens, because a restart does not help when the
 * authorization server is down.
 *
 * @since 1.0.0
 * @category responses
 */
export const live: Effect.Effect<HttpServerResponse.HttpServerResponse> = Effect.sync(() =>
  json(200, { status: "live" })
)

/**
 * Returns 200 if there is a valid token, and otherwise 503. A token that covers none of the requested scopes does not count. The status does
 * not depend on 401s from the API, because a process without calls could not become ready again. The body is JSON, without secrets.
 *
 * Without a valid token, the check requests one and waits for up to 800 ms, so that a program that gets no calls becomes ready again after
 * an outage. The pauses after failures apply to the check too.
 *
 * @since 1.0.0
 * @category responses
 * @example
 * ```ts
 * import { AccessTokens } from "@credit-data/core"
 * import { HealthCheck } from "@credit-data/telemetry"
 * import { Effect } from "effect"
 *
 * export const status = Effect.map(HealthCheck.ready, ({ status }) => status).pipe(
 *   Effect.provide(AccessTokens.layerTest())
 * )
 * ```
 */
export const ready: Effect.Effect<HttpServerResponse.HttpServerResponse, never, AccessTokens.AccessTokens> = Effect.gen(
  function*() {
    const { isReady, status } = yield* Effect.flatMap(AccessTokens.AccessTokens, readiness)
    const { expiresAt, lastFailure, nextRequestAt, phase, rejected } = status
    const iso = (at: Option.Option<DateTime.Utc>) => Option.getOrUndefined(Option.map(at, DateTime.formatIso))
    return json(isReady ? 200 : 503, {
      status: isReady ? "ready" : "unavailable",
      phase,
      rejected,
      expiresAt: iso(expiresAt),
      failure: Option.getOrUndefined(Option.map(lastFailure, ({ _tag }) => _tag)),
      nextRequestAt: iso(nextRequestAt)
    })
  }
)
