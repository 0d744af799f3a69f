import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientError from "@effect/platform/HttpClientError"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as Option from "effect/Option"
import type * as Tracer from "effect/Tracer"
import { type GroupClientError, PathTemplate } from "../GroupClient.ts"
import type { Base } from "./target.ts"

/** The span of a call, if the call has one. */
export type CallSpan = Option.Option<Tracer.Span>

interface Options {
  readonly group: string
  readonly base: Base
  readonly recordPath: boolean
}

/** Failures of the platform all have one tag for the request and one for the response, so their reasons say more. */
const errorType = (error: GroupClientError): string =>
  HttpClientError.isHttpClientError(error) ? error.reason : error._tag

const isError = (status: number): boolean => status >= 400

/**
 * Runs a call in a span. The attributes of the span contain neither the query nor the token, and no path unless the program asks
 * for it, because paths hold personal data.
 */
export const inSpan = (
  { base, group, recordPath }: Options,
  request: HttpClientRequest.HttpClientRequest,
  call: (span: CallSpan) => Effect.Effect<HttpClientResponse.HttpClientResponse, GroupClientError>
): Effect.Effect<HttpClientResponse.HttpClientResponse, GroupClientError> =>
  Effect.flatMap(FiberRef.get(HttpClient.currentTracerDisabledWhen), (isDisabled) => {
    if (isDisabled(request)) return call(Option.none())
    return Effect.flatMap(
      PathTemplate,
      (template) =>
        Effect.useSpan(
          `${group} ${request.method}${Option.match(template, { onNone: () => "", onSome: (path) => ` ${path}` })}`,
          {
            kind: "client",
            captureStackTrace: false,
            attributes: {
              "credit_data.group": group,
              "http.request.method": request.method,
              "server.address": base.hostname,
              ...Option.match(template, { onNone: () => ({}), onSome: (path) => ({ "url.template": path }) }),
              ...(recordPath ? { "url.path": request.url.slice(base.origin.length).replace(/[?#].*$/s, "") } : {})
            }
          },
          (span) =>
            Effect.tapBoth(call(Option.some(span)), {
              onSuccess: ({ status }) =>
                Effect.sync(() => {
                  span.attribute("http.response.status_code", status)
                  if (isError(status)) span.attribute("error.type", String(status))
                }),
              onFailure: (error) => Effect.sync(() => span.attribute("error.type", errorType(error)))
            })
        )
    )
  })

/** Measures how long the call waits for tokens, and lets the supply link the span to the token request. */
export const waitingForToken = (span: CallSpan) => {
  let waited = 0n
  return <A, E>(wait: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Option.isNone(span) ? wait : Effect.clockWith((clock) => {
      const began = clock.unsafeCurrentTimeNanos()
      return Effect.ensuring(
        Effect.withParentSpan(wait, span.value),
        Effect.sync(() => {
          waited += clock.unsafeCurrentTimeNanos() - began
          span.value.attribute("credit_data.token.wait_duration", Number(waited) / 1e9)
        })
      )
    })
}
