/**
 * What the transport beneath a client must not do with a secret or a token.
 *
 * @since 1.0.0
 */
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as advice from "./internal/advice.ts"
import { type CallerSettings, silence, withCallerSettings } from "./internal/callerSettings.ts"
import * as foreign from "./internal/tokenRequest/foreignError.ts"
import { transportFailure } from "./internal/tokenRequest/transportFailure.ts"
import type { TransportReason } from "./TokenError.ts"

/** A body that is streamed is an effect of its caller, and runs with the settings and spans of the caller. */
const withBodyOf = (
  caller: CallerSettings,
  request: HttpClientRequest.HttpClientRequest
): HttpClientRequest.HttpClientRequest => {
  const { body } = request
  return body._tag === "Stream"
    ? HttpClientRequest.setBody(
      request,
      HttpBody.stream(caller.provide(body.stream), body.contentType, body.contentLength)
    )
    : request
}

/**
 * Ends the connection of an answer that changed it to another protocol without being asked. No HttpClient does so:
 * `node:http` hands the socket over, and neither reading the body nor aborting the request ends it, nor does the process
 * while it is open.
 */
const endUpgraded = (response: unknown): void => {
  if (Predicate.hasProperty(response, "original")) return endUpgraded(response.original)
  const source = Predicate.hasProperty(response, "source") ? response.source : undefined
  if (Predicate.hasProperty(source, "destroy") && Predicate.isFunction(source.destroy)) source.destroy()
}

/**
 * A client that is safe to give a secret or a token:
 *
 * - It sends to these URLs only. Other requests fail with a `RequestError` (`InvalidUrl`).
 * - Redirects come back as they are. `fetch` would follow a 307 by itself and send the body along.
 * - The platform's own span and trace headers are left out: the span would record the query, and trace headers would go to a
 *   third party.
 * - An unrequested `101 Switching Protocols` does not leave its connection open.
 * - The stream of a request body runs in the context of its caller.
 *
 * All of it is done in the last step before the request is sent, after everything that the platform's combinators have
 * added to the given client (`mapRequest`, `withTracerDisabledWhen` and so on). It cannot be undone by combinators that are
 * added to the result. What a given client does with a request after that step is not seen: one that was made with
 * `HttpClient.makeWith` may send it anywhere, and `HttpClient.followRedirects` beneath this one follows redirects.
 *
 * @since 1.0.0
 * @category combinators
 * @example
 * ```ts
 * import { Transport } from "@credit-data/core"
 * import { HttpClient } from "@effect/platform"
 * import { Effect } from "effect"
 *
 * export const client = Effect.map(HttpClient.HttpClient, (client) =>
 *   Transport.sealed(client, { isAllowed: (url) => url === "https://auth.example/oauth2/token" }))
 * ```
 */
export const sealed = (client: HttpClient.HttpClient, options: {
  /** May a request be sent to this URL? */
  readonly isAllowed: (url: string) => boolean
  /** Changes the request in the last step, after the check. Default: leaves it as it is. */
  readonly lastStep?:
    | ((request: HttpClientRequest.HttpClientRequest) => Effect.Effect<HttpClientRequest.HttpClientRequest>)
    | undefined
}): HttpClient.HttpClient => {
  const lastStep = options.lastStep ?? Effect.succeed
  const checked = HttpClient.mapRequestEffect(
    client,
    (request) =>
      options.isAllowed(request.url) ? Effect.zipRight(silence, lastStep(request)) : Effect.fail(
        new HttpClientError.RequestError({
          request,
          reason: "InvalidUrl",
          description: "A secret or a token is sent to no other server"
        })
      )
  )
  const execute = (request: HttpClientRequest.HttpClientRequest) =>
    // one region for all that is set, because each region costs as much as the rest of a call
    withCallerSettings((caller) =>
      Effect.onExit(checked.execute(withBodyOf(caller, request)), (exit) => {
        if (Exit.isSuccess(exit) && exit.value.status === 101 && !("upgrade" in request.headers)) {
          endUpgraded(exit.value)
        }
        return caller.restore
      })
    )
  return opaque(execute)
}

/**
 * A client whose steps nobody else can reorder: combinators that wrap it see one request go in and one response come out.
 *
 * @since 1.0.0
 * @category constructors
 */
export const opaque = <E>(
  execute: (
    request: HttpClientRequest.HttpClientRequest
  ) => Effect.Effect<HttpClientResponse.HttpClientResponse, E>
): HttpClient.HttpClient.With<E> => HttpClient.makeWith<never, never, E, never>(Effect.flatMap(execute), Effect.succeed)

/**
 * Is this error an answer with a status that a client refused, as `HttpClient.filterStatusOk` does? It carries the response.
 *
 * @since 1.0.0
 * @category guards
 */
export const isStatusError = (error: unknown): error is HttpClientError.ResponseError =>
  HttpClientError.isHttpClientError(error) && error._tag === "ResponseError" && error.reason === "StatusCode"

/**
 * Why a request got no answer, in the terms of `TransportError`.
 *
 * @since 1.0.0
 * @category errors
 */
export const reason = (error: HttpClientError.RequestError): TransportReason =>
  transportFailure(error, "Request").reason

/**
 * What happened to a request that got no answer, and what to do, for a person on call.
 *
 * @since 1.0.0
 * @category errors
 */
export const describe = (error: HttpClientError.RequestError, server: {
  /** Who did not answer, such as `the API`. */
  readonly name: string
  /** Where its address is set, such as the name of a variable. */
  readonly address: string
}): string => {
  const failure = transportFailure(error, "Request")
  const what = failure.reason === "Proxy" ? advice.proxy(failure) : advice.reason[failure.reason]
  const todo = failure.notTls === true ? advice.notTls : advice.transport(failure.reason, server.name, server.address)
  return `${server.name} did not answer: ${what}. ${todo}`
}

/**
 * What may be passed on of an error that somebody else made: name, message and code, its causes likewise, and nothing that
 * could hold a request. Texts are cut to 200 characters, and withheld where they show a secret, encoded or not.
 *
 * @since 1.0.0
 * @category errors
 */
export const foreignError = (error: unknown, secrets: ReadonlyArray<Redacted.Redacted>): unknown =>
  foreign.foreignError(error, secrets.map((secret) => Redacted.value(secret)))
