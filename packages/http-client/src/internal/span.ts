import {
  callObserver,
  type FinishedCall,
  HttpError,
  Instant,
  shownClientId,
  Transport
} from "@credit-data/core/Internal"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientError from "@effect/platform/HttpClientError"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as HttpMethod from "@effect/platform/HttpMethod"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberRef from "effect/FiberRef"
import * as Option from "effect/Option"
import type * as Tracer from "effect/Tracer"
import type { Group } from "./group.ts"

// What the trace and the metrics of a call show.

/** The path template of the calls in this context, such as `/consumers/{id}`. */
export class PathTemplate
  extends Context.Reference<PathTemplate>()("@credit-data/http-client/GroupClient/PathTemplate", {
    defaultValue: (): Option.Option<string> => Option.none()
  })
{}

type CallExit = Exit.Exit<HttpClientResponse.HttpClientResponse, { readonly _tag: string }>

/** What a trace and a metric show of a result: the status, and the type of an error. Neither has a URL or a message. */
const outcomeOf = (
  exit: CallExit
): Pick<FinishedCall, "status" | "errorType"> => {
  if (Exit.isSuccess(exit)) {
    const { status } = exit.value
    return { status, errorType: status >= 400 ? String(status) : undefined }
  }
  const failure = Option.getOrUndefined(Cause.failureOption(exit.cause))
  if (failure === undefined) {
    return { status: undefined, errorType: Cause.isInterruptedOnly(exit.cause) ? "Interrupted" : "Defect" }
  }
  if (!HttpClientError.isHttpClientError(failure)) return { status: undefined, errorType: failure._tag }
  const status = Transport.responseOf(failure)?.status
  if (status !== undefined) return { status, errorType: String(status) }
  const reason = HttpError.requestReason(failure)
  return { status, errorType: reason === undefined || reason === "Transport" ? Transport.reason(failure) : reason }
}

/** Ends the span of a call that failed, so that its status is an error. */
class CallFailure extends Error {
  override readonly name = "CallFailure"
  override readonly stack = ""
}

/**
 * Ends a span. It must not end with the response or its error, which it would show. A tracer that throws does not change the result of
 * a call that was sent.
 */
const end = (span: Tracer.Span, exit: CallExit): Effect.Effect<void> =>
  Effect.map(Effect.clock, (clock) => {
    const { errorType, status } = outcomeOf(exit)
    if (status !== undefined) span.attribute("http.response.status_code", status)
    if (errorType !== undefined) span.attribute("error.type", errorType)
    const ended = Exit.isFailure(exit) && Cause.isInterruptedOnly(exit.cause)
      ? exit
      : errorType === undefined
      ? Exit.void
      : Exit.fail(new CallFailure(errorType))
    span.end(clock.unsafeCurrentTimeNanos(), ended)
  }).pipe(Effect.catchAllDefect(() => Effect.void))

/**
 * Returns what runs a call in a span, unless spans are disabled for its request, and informs the observer of the supply when the call begins, and when
 * it ends: by itself, by a timeout or with a defect. The attributes and the name follow the conventions of OpenTelemetry for HTTP clients. They
 * contain neither the query nor the token, and no path unless the program sets its template, because paths contain personal data. The
 * span of a call that fails, or gets a status of 400 or more, ends as an error.
 */
export const makeInSpan = ({ baseUrl, clock, environment, name: group, tokens }: Group) => {
  const sharedAttributes = {
    "credit_data.environment": environment,
    ...(tokens.clientId !== undefined && { "credit_data.client_id": shownClientId(tokens.clientId) }),
    "credit_data.group": group,
    "server.address": baseUrl.hostname,
    "server.port": Number(baseUrl.port) || (baseUrl.protocol === "https:" ? 443 : 80)
  }
  return <E extends { readonly _tag: string }>(
    request: HttpClientRequest.HttpClientRequest,
    call: (span: Tracer.Span | undefined) => Effect.Effect<HttpClientResponse.HttpClientResponse, E>
  ): Effect.Effect<HttpClientResponse.HttpClientResponse, E> =>
    Effect.withFiberRuntime((fiber) => {
      // a client of another library can pass any text, and each would be another series
      const method = HttpMethod.isHttpMethod(request.method) ? request.method : "_OTHER"
      const template = Option.getOrUndefined(Context.get(fiber.currentContext, PathTemplate))
      const isTraced = fiber.getFiberRef(FiberRef.currentTracerEnabled) &&
        !fiber.getFiberRef(HttpClient.currentTracerDisabledWhen)(request)
      const observer = callObserver(tokens)
      const startedAt = observer === undefined ? 0 : Instant.monotonicMillis(clock)
      const attributes = {
        ...sharedAttributes,
        "http.request.method": method,
        ...(template !== undefined && { "url.template": template })
      }
      const called = method === "_OTHER" ? "HTTP" : method
      const name = template === undefined ? called : `${called} ${template}`
      const traced = isTraced
        ? Effect.flatMap(
          Effect.makeSpan(name, { kind: "client", captureStackTrace: false, attributes }),
          (span) => Effect.onExit(Effect.withParentSpan(call(span), span), (exit) => end(span, exit))
        )
        : call(undefined)
      return observer === undefined ? traced : Effect.acquireUseRelease(
        observer.begins(group),
        () => traced,
        (_, exit) =>
          observer.ends({
            group,
            method,
            template,
            ...outcomeOf(exit),
            seconds: (Instant.monotonicMillis(clock) - startedAt) / 1_000
          })
      )
    })
}
