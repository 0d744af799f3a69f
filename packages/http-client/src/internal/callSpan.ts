import * as Transport from "@credit-data/core/Transport"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientError from "@effect/platform/HttpClientError"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as Option from "effect/Option"
import { type GroupClientError, PathTemplate } from "../GroupClient.ts"
import { isAnswered } from "./callerError.ts"
import type { Base } from "./target.ts"

interface Options {
  readonly environment: string
  readonly group: string
  readonly base: Base
  readonly recordPath: boolean
}

/** The tag of an error. Those of the platform say too little, so theirs is the status, or why there was no answer. */
const errorType = (error: GroupClientError): string => {
  if (!HttpClientError.isHttpClientError(error)) return error._tag
  return isAnswered(error) ? String(error.response.status) : Transport.reason(error)
}

/** The message and the stack of an error of the platform hold the URL. */
const withoutUrl = (error: GroupClientError): unknown =>
  HttpClientError.isHttpClientError(error) ? { _tag: error._tag, message: errorType(error) } : error

const unobserved: Transport.Observed = { span: Option.none(), annotate: () => {} }

const attributes = (
  { base, environment, group, recordPath }: Options,
  { method, url }: HttpClientRequest.HttpClientRequest,
  template: Option.Option<string>
): Record<string, string> => ({
  "credit_data.environment": environment,
  "credit_data.group": group,
  "http.request.method": method,
  "server.address": base.hostname,
  ...(Option.isSome(template) ? { "url.template": template.value } : {}),
  ...(recordPath ? { "url.path": url.slice(base.origin.length).replace(/[?#].*$/s, "") } : {})
})

/**
 * Runs a call in a span. The attributes of the span contain neither the query nor the token, and no path unless the program asks
 * for it, because paths hold personal data.
 */
export const inSpan = (
  options: Options,
  request: HttpClientRequest.HttpClientRequest,
  call: (observed: Transport.Observed) => Effect.Effect<HttpClientResponse.HttpClientResponse, GroupClientError>
): Effect.Effect<HttpClientResponse.HttpClientResponse, GroupClientError> =>
  Effect.flatMap(FiberRef.get(HttpClient.currentTracerDisabledWhen), (isDisabled) => {
    if (isDisabled(request)) return call(unobserved)
    return Effect.flatMap(PathTemplate, (template) =>
      Transport.inSpan(
        [options.group, request.method, ...Option.toArray(template)].join(" "),
        { attributes: attributes(options, request, template), shown: withoutUrl },
        (observed) =>
          call(observed).pipe(
            Effect.tap(({ status }) => {
              observed.annotate("http.response.status_code", status)
              if (status >= 400) observed.annotate("error.type", String(status))
              return Effect.void
            }),
            Effect.tapError((error) => {
              if (HttpClientError.isHttpClientError(error) && isAnswered(error)) {
                observed.annotate("http.response.status_code", error.response.status)
              }
              observed.annotate("error.type", errorType(error))
              return Effect.void
            })
          )
      ))
  })

/** Measures how long the call waits for tokens, and lets the supply link the span to the token request. */
export const waitingForToken = ({ annotate, span }: Transport.Observed) => {
  let waited = 0n
  return <A, E>(wait: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Option.isNone(span) ? wait : Effect.clockWith((clock) => {
      const began = clock.unsafeCurrentTimeNanos()
      return Effect.ensuring(
        Effect.withParentSpan(wait, span.value),
        Effect.sync(() => {
          waited += clock.unsafeCurrentTimeNanos() - began
          annotate("credit_data.token.wait_duration", Number(waited) / 1e9)
        })
      )
    })
}
