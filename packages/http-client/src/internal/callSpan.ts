import { Observed, Transport } from "@credit-data/core/Internal"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientError from "@effect/platform/HttpClientError"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Cause from "effect/Cause"
import type * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type { GroupClientError } from "../GroupClient.ts"
import { hasResponse } from "./callerError.ts"
import { PathTemplate } from "./pathTemplate.ts"
import type { Base } from "./target.ts"

interface Options {
  readonly environment: string
  readonly group: string
  readonly base: Base
  readonly clock: Clock.Clock
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
  observed: Observed.Observed
): void => {
  if (Exit.isSuccess(exit)) {
    const { status } = exit.value
    observed.annotate("http.response.status_code", status)
    if (status >= 400) observed.annotate("error.type", String(status))
    return
  }
  const failure = Cause.failureOption(exit.cause)
  if (Option.isNone(failure)) return
  const error = failure.value
  if (HttpClientError.isHttpClientError(error) && hasResponse(error)) {
    observed.annotate("http.response.status_code", error.response.status)
  }
  observed.annotate("error.type", errorType(error))
}

/** Measures how long a call waits for tokens. */
export class WaitTimer {
  readonly #clock: Clock.Clock
  #waited = 0n
  #since: bigint | undefined

  constructor(clock: Clock.Clock) {
    this.#clock = clock
  }

  #stop(): void {
    if (this.#since !== undefined) this.#waited += this.#clock.unsafeCurrentTimeNanos() - this.#since
    this.#since = undefined
  }

  /** Adds the time of this wait. */
  measured<A, E>(wait: Effect.Effect<A, E>): Effect.Effect<A, E> {
    return Effect.suspend(() => {
      this.#since = this.#clock.unsafeCurrentTimeNanos()
      return Effect.map(wait, (value) => {
        this.#stop()
        return value
      })
    })
  }

  /** Until now: a wait that failed or was interrupted has no other end. */
  get seconds(): number {
    this.#stop()
    return Number(this.#waited) / 1e9
  }
}

/**
 * Runs a call in a span. The attributes of the span contain neither the query nor the token, and no path unless the program
 * enables it, because paths contain personal data.
 */
export const inSpan = (
  options: Options,
  request: HttpClientRequest.HttpClientRequest,
  call: (
    observed: Observed.Observed,
    timer: WaitTimer
  ) => Effect.Effect<HttpClientResponse.HttpClientResponse, GroupClientError>
): Effect.Effect<HttpClientResponse.HttpClientResponse, GroupClientError> =>
  Effect.withFiberRuntime((fiber) => {
    const timer = new WaitTimer(options.clock)
    if (fiber.getFiberRef(HttpClient.currentTracerDisabledWhen)(request)) {
      return Observed.inNoSpan((observed) => call(observed, timer))
    }
    const template = Context.get(fiber.currentContext, PathTemplate)
    return Observed.inSpan(
      `${options.group} ${request.method}${Option.isSome(template) ? ` ${template.value}` : ""}`,
      {
        attributes: attributes(options, request, template),
        atEnd: (exit, observed) => {
          annotateOutcome(exit, observed)
          observed.annotate("credit_data.token.wait_duration", timer.seconds)
        },
        shown: withoutUrl
      },
      (observed) => call(observed, timer)
    )
  })
