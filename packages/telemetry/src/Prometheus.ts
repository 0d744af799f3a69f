/**
 * Metrics in the text format of Prometheus, for programs without OTLP.
 *
 * @since 1.0.0
 */
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import { expose } from "./internal/exposition.ts"
import { snapshot } from "./internal/snapshot.ts"

/**
 * The metrics of the program in the text format of Prometheus, including those of Effect. Dots in names become underscores, and a unit of
 * time or size is appended: `credit_data.token.request.duration` is `credit_data_token_request_duration_seconds`.
 *
 * @since 1.0.0
 * @category accessors
 */
export const text: Effect.Effect<string> = Effect.map(snapshot, expose)

/**
 * The response to a scrape, for a route such as `/metrics`.
 *
 * @since 1.0.0
 * @category responses
 * @example
 * ```ts
 * import { Prometheus } from "@credit-data/telemetry"
 * import { Effect } from "effect"
 *
 * export const scraped = Effect.map(Prometheus.response, ({ headers }) => headers["content-type"])
 * ```
 */
export const response: Effect.Effect<HttpServerResponse.HttpServerResponse> = Effect.map(
  text,
  (body) => HttpServerResponse.text(body, { contentType: "text/plain; version=0.0.4; charset=utf-8" })
)
