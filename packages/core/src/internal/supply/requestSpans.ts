import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { LazyArg } from "effect/Function"
import * as Option from "effect/Option"
import * as Tracer from "effect/Tracer"
import type * as TokenEndpoint from "../../TokenEndpoint.ts"
import type { TokenError } from "../../TokenError.ts"
import type { RequestReason } from "../../TokenEvent.ts"
import { inSpan } from "../observed.ts"

/** The spans of token requests. They belong to no caller's trace, so the span of each caller that waits links to them. */
export interface RequestSpans {
  /** Another flight begins, and callers wait only for its requests. */
  readonly reset: () => void
  /** Runs a token request in its own span. */
  readonly inSpan: <A>(reason: RequestReason, request: Effect.Effect<A, TokenError>) => Effect.Effect<A, TokenError>
  /** Links a caller's span to the requests of the present flight that end from now on, when the effect has run. */
  readonly linked: <A, E>(waiting: LazyArg<Effect.Effect<A, E>>) => Effect.Effect<A, E>
}

/** The requests of a flight: those that are exported, and how many have ended. */
interface Requests {
  readonly spans: Array<Tracer.Span>
  ended: number
}

const link = (caller: Tracer.Span, spans: ReadonlyArray<Tracer.Span>) =>
  Effect.sync(() => caller.addLinks(spans.map((span) => ({ _tag: "SpanLink" as const, span, attributes: {} })))).pipe(
    // a tracer may throw
    Effect.catchAllCause(() => Effect.void)
  )

/** A time-out and a certificate need different people, so the reason of a TransportError is its type. */
const errorType = (error: TokenError): string => error._tag === "TransportError" ? error.reason : error._tag

export const make = (endpoint: TokenEndpoint.Service): RequestSpans => {
  const attributes = {
    "credit_data.environment": endpoint.environment.name,
    "http.request.method": "POST",
    "server.address": URL.canParse(endpoint.url) ? new URL(endpoint.url).hostname : endpoint.url
  }
  let requests: Requests = { spans: [], ended: 0 }
  return {
    reset: () => {
      requests = { spans: [], ended: 0 }
    },
    inSpan: (reason, request) =>
      inSpan(
        "TokenEndpoint.requestToken",
        {
          attributes: { ...attributes, "credit_data.token.reason": reason },
          atEnd: (exit, observed) => {
            const error = Exit.isFailure(exit) ? Cause.failureOption(exit.cause) : Option.none()
            if (Option.isSome(error)) observed.annotate("error.type", errorType(error.value))
          },
          shown: (error) => error
        },
        ({ span }) => {
          const own = requests
          // a span that is not sampled may have no id
          if (Option.isNone(span) || !span.value.sampled) return request
          own.spans.push(span.value)
          return Effect.ensuring(request, Effect.sync(() => void own.ended++))
        }
      ),
    linked: (waiting) =>
      Effect.withFiberRuntime((fiber) => {
        const parent = Context.getOption(fiber.currentContext, Tracer.ParentSpan)
        if (Option.isNone(parent) || parent.value._tag !== "Span") return waiting()
        const caller = parent.value
        const { ended, spans } = requests
        return Effect.ensuring(waiting(), Effect.suspend(() => link(caller, spans.slice(ended))))
      })
  }
}
