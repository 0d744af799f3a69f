import { Observed, Transport } from "@credit-data/core/Internal"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientError from "@effect/platform/HttpClientError"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Cause from "effect/Cause"
import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberRef from "effect/FiberRef"
import { identity } from "effect/Function"
import * as Option from "effect/Option"
import type { GroupClientError } from "../GroupClient.ts"
import { hasResponse } from "./callerError.ts"
import { PathTemplate } from "./pathTemplate.ts"
import type { Base } from "./target.ts"

interface Options {
  readonly environment: string
  readonly group: string
  readonly base: Base
}

/**
 * The tag of an error. The platform's tags are not specific enough, so they are replaced by the status, or by why there was no
 * response.
 */
const errorType = (error: GroupClientError): string => {
  if (!HttpClientError.isHttpClientError(error)) return error._tag
  return hasResponse(error) ? String(error.response.status) : Transport.reason(error)
}

/** The message and the stack of a platform error contain the URL. */
const withoutUrl = (error: GroupClientError): unknown =>
  HttpClientError.isHttpClientError(error) ? { _tag: error._tag, message: errorType(error) } : error

const attributes = (
  { base, environment, group }: Options,
  { method }: HttpClientRequest.HttpClientRequest,
  template: Option.Option<string>
): Record<string, string> => ({
  "credit_data.environment": environment,
  "credit_data.group": group,
  "http.request.method": method,
  "server.address": base.hostname,
  ...(Option.isSome(template) ? { "url.template": template.value } : {})
})

const annotateOutcome = (
  exit: Exit.Exit<HttpClientResponse.HttpClientResponse, GroupClientError>,
  annotate: Observed.Observed["annotate"]
): void => {
  if (Exit.isSuccess(exit)) {
    const { status } = exit.value
    annotate("http.response.status_code", status)
    if (status >= 400) annotate("error.type", String(status))
    return
  }
  const failure = Cause.failureOption(exit.cause)
  if (Option.isNone(failure)) return
  const error = failure.value
  if (HttpClientError.isHttpClientError(error) && hasResponse(error)) {
    annotate("http.response.status_code", error.response.status)
  }
  annotate("error.type", errorType(error))
}

/** Measures how long a call waits for tokens. */
const makeTimer = (clock: Clock.Clock) => {
  let waited = 0n
  let since: bigint | undefined
  const stop = () => {
    if (since !== undefined) waited += clock.unsafeCurrentTimeNanos() - since
    since = undefined
  }
  return {
    measured: <A, E>(wait: Effect.Effect<A, E>): Effect.Effect<A, E> =>
      Effect.suspend(() => {
        since = clock.unsafeCurrentTimeNanos()
        return Effect.map(wait, (value) => {
          stop()
          return value
        })
      }),
    /** Until now: a wait that failed or was interrupted has no other end. */
    seconds: () => {
      stop()
      return Number(waited) / 1e9
    }
  }
}

/** A call's access to its span. */
export interface ObservedCall extends Observed.Observed {
  /** Adds the time of this wait for a token to the span. */
  readonly waiting: <A, E>(wait: Effect.Effect<A, E>) => Effect.Effect<A, E>
}

const unobserved: ObservedCall = { span: Option.none(), annotate: () => {}, waiting: identity }

/**
 * Runs a call in a span. The attributes of the span contain neither the query nor the token, and no path unless the program
 * enables it, because paths contain personal data.
 */
export const inSpan = (
  options: Options,
  request: HttpClientRequest.HttpClientRequest,
  call: (observed: ObservedCall) => Effect.Effect<HttpClientResponse.HttpClientResponse, GroupClientError>
): Effect.Effect<HttpClientResponse.HttpClientResponse, GroupClientError> =>
  Effect.flatMap(FiberRef.get(HttpClient.currentTracerDisabledWhen), (isDisabled) => {
    if (isDisabled(request)) return call(unobserved)
    return Effect.flatMap(PathTemplate, (template) =>
      Effect.clockWith((clock) => {
        const timer = makeTimer(clock)
        return Observed.inSpan(
          [options.group, request.method, ...Option.toArray(template)].join(" "),
          {
            attributes: attributes(options, request, template),
            atEnd: (exit, annotate) => {
              annotateOutcome(exit, annotate)
              annotate("credit_data.token.wait_duration", timer.seconds())
            },
            shown: withoutUrl
          },
          (observed) => call({ ...observed, waiting: timer.measured })
        )
      }))
  })
