import * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as Option from "effect/Option"
import type * as Tracer from "effect/Tracer"
import type { Base } from "./target.ts"

/** Runs a call in a span. The attributes of the span contain neither the query nor the token. */
export const inSpan = <A, E>(
  group: string,
  base: Base,
  request: HttpClientRequest.HttpClientRequest,
  call: (span: Option.Option<Tracer.Span>) => Effect.Effect<A, E>
): Effect.Effect<A, E> =>
  Effect.flatMap(FiberRef.get(HttpClient.currentTracerDisabledWhen), (isDisabled) => {
    if (isDisabled(request)) return call(Option.none())
    return Effect.useSpan(`${group} ${request.method}`, {
      kind: "client",
      captureStackTrace: false,
      attributes: {
        "credit_data.group": group,
        "http.request.method": request.method,
        "server.address": base.hostname,
        "url.path": request.url.slice(base.origin.length).replace(/[?#].*$/s, "")
      }
    }, (span) => call(Option.some(span)))
  })
