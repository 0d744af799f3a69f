import * as Effect from "effect/Effect"
import * as Tracer from "effect/Tracer"
import type * as TokenEndpoint from "../../TokenEndpoint.ts"
import type { TokenError } from "../../TokenError.ts"
import type { RequestReason } from "../../TokenEvent.ts"

/** The spans of token requests. They belong to no caller's trace, so the span of each caller that waits links to them. */
export interface RequestSpans {
  /** Another flight begins, and callers wait only for its requests. */
  readonly reset: () => void
  /** Runs a token request in a span of its own. */
  readonly inSpan: <A>(reason: RequestReason, request: Effect.Effect<A, TokenError>) => Effect.Effect<A, TokenError>
  /** Links a span to the token requests of the flight. */
  readonly linkFrom: (caller: Tracer.AnySpan) => Effect.Effect<void>
}

export const make = (endpoint: TokenEndpoint.Service): RequestSpans => {
  const attributes = {
    "credit_data.environment": endpoint.environment.name,
    "server.address": URL.canParse(endpoint.url) ? new URL(endpoint.url).hostname : endpoint.url
  }
  let spans: Array<Tracer.Span> = []
  return {
    reset: () => {
      spans = []
    },
    inSpan: (reason, request) =>
      Effect.useSpan("TokenEndpoint.requestToken", {
        kind: "client",
        captureStackTrace: false,
        attributes: { ...attributes, "credit_data.token.reason": reason }
      }, (span) => {
        spans.push(span)
        return request.pipe(
          Effect.tapError((error) => Effect.sync(() => span.attribute("error.type", error._tag))),
          Effect.withParentSpan(span)
        )
      }),
    linkFrom: (caller) =>
      caller._tag !== "Span" ?
        Effect.void :
        Effect.sync(() => caller.addLinks(spans.map((span) => ({ _tag: "SpanLink" as const, span, attributes: {} }))))
          .pipe(
            // a tracer may throw
            Effect.catchAllCause(() => Effect.void)
          )
  }
}
