import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as advice from "./advice.ts"
import { type CallerSettings, silence, withCallerSettings } from "./callerSettings.ts"
import { withoutConnectionHeaders } from "./connectionHeaders.ts"
import * as foreign from "./foreignError.ts"
import { transportFailure } from "./transportFailure.ts"
import type { TransportReason } from "../TokenError.ts"

/** A streamed body is an effect of the caller, so it runs with the settings and spans of the caller. */
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
 * Ends the connection after an unrequested change of the protocol. No HttpClient does so: `node:http` hands over the socket.
 * Neither reading the body nor aborting the request closes that socket, and the process does not end while it is open.
 */
const endUpgraded = (response: unknown): void => {
  if (Predicate.hasProperty(response, "original")) return endUpgraded(response.original)
  const source = Predicate.hasProperty(response, "source") ? response.source : undefined
  if (Predicate.hasProperty(source, "destroy") && Predicate.isFunction(source.destroy)) source.destroy()
}

/**
 * A client that is safe for requests with a secret or a token:
 *
 * - It sends requests to the allowed URLs only. Other requests fail with a `RequestError` (`InvalidUrl`).
 * - It returns redirects and never follows them. `fetch` would follow a 307 and send the body to the new address.
 * - It leaves out the platform's own span and trace headers: the span would record the query, and trace headers would go to a
 *   third party.
 * - It drops `host` and the headers of the caller's own connection (RFC 9110, section 7.6.1): `connection` and what it names,
 *   `keep-alive`, `proxy-connection`, `te` and `transfer-encoding`. Over TLS, `host` would choose the server that gets the secret or
 *   the token. `upgrade` remains if `connection` names it.
 * - It closes the connection after an unrequested `101 Switching Protocols`.
 * - It runs the stream of a request body in the context of the caller.
 *
 * All of this happens in the last step before the request is sent, after everything that the platform's combinators have
 * added to the given client (`mapRequest`, `withTracerDisabledWhen` and so on). Combinators that are added to the result cannot
 * undo it. What the given client does with a request after that step is not checked: a client that was made with
 * `HttpClient.makeWith` may send it anywhere, and `HttpClient.followRedirects` below this client follows redirects.
 */
export const sealed = (client: HttpClient.HttpClient, options: {
  /** May a request be sent to this URL? */
  readonly isAllowed: (url: string) => boolean
  /** Changes the request in the last step, after the check. Default: no change. */
  readonly lastStep?:
    | ((request: HttpClientRequest.HttpClientRequest) => Effect.Effect<HttpClientRequest.HttpClientRequest>)
    | undefined
  /**
   * Restores the settings of the caller after each response. `false`: the caller does so, by `restore` or the end of
   * `Observed.inSpan` or `Observed.inNoSpan`, and until then runs nothing of the user. Default: `true`.
   */
  readonly restoresSettings?: boolean | undefined
}): HttpClient.HttpClient => {
  const lastStep = options.lastStep ?? Effect.succeed
  const checked = HttpClient.mapRequestEffect(
    client,
    (request) =>
      options.isAllowed(request.url)
        ? Effect.zipRight(silence, lastStep(withoutConnectionHeaders(request)))
        : Effect.fail(
          new HttpClientError.RequestError({
            request,
            reason: "InvalidUrl",
            description:
              "The URL is not an allowed address for a secret or a token, so nothing was sent. Check the base URL, and clients that rewrite URLs"
          })
        )
  )
  const execute = (request: HttpClientRequest.HttpClientRequest) =>
    withCallerSettings((caller) => {
      const response = Effect.map(checked.execute(withBodyOf(caller, request)), (response) => {
        if (response.status === 101 && !("upgrade" in request.headers)) endUpgraded(response)
        return response
      })
      return options.restoresSettings === false ? response : Effect.onExit(response, () => caller.restore())
    })
  return opaque(execute)
}

/**
 * A client whose steps cannot be reordered from outside. Combinators that wrap it see only the request and the response.
 */
export const opaque = <E>(
  execute: (
    request: HttpClientRequest.HttpClientRequest
  ) => Effect.Effect<HttpClientResponse.HttpClientResponse, E>
): HttpClient.HttpClient.With<E> => HttpClient.makeWith<never, never, E, never>(Effect.flatMap(execute), Effect.succeed)

/**
 * Is this the error of a client that refused a response status, as `HttpClient.filterStatusOk` does? Such an error carries
 * the response.
 */
export const isStatusError = (error: unknown): error is HttpClientError.ResponseError =>
  HttpClientError.isHttpClientError(error) && error._tag === "ResponseError" && error.reason === "StatusCode"

/**
 * Why a request got no complete response, as a reason of `TransportError`.
 */
export const reason = (error: HttpClientError.HttpClientError): TransportReason =>
  transportFailure(error, "Request").reason

/**
 * Describes what happened to a request that got no response, and what to do. For the engineer on call.
 */
export const describe = (error: HttpClientError.RequestError, server: {
  /** The server that did not respond, such as `the API`. */
  readonly name: string
  /** Where the address of the server is set, such as the name of a variable. */
  readonly address: string
}): string => {
  const failure = transportFailure(error, "Request")
  const what = failure.reason === "Proxy" ? advice.proxy(failure) : advice.reason[failure.reason]
  const todo = failure.protocol === undefined
    ? advice.transport(failure.reason, server.name, server.address)
    : advice.protocol[failure.protocol]
  return `No response from ${server.name}: ${what}. ${todo}`
}

/**
 * The parts of a foreign error that are safe to pass on: name, message and code, and the same parts of its causes. Nothing
 * that could contain a request is kept. Of each text, at most 200 characters of ordinary words remain, and "…" for other words. A
 * text is withheld if most of it is not plain text, or if it shows one of the secrets.
 */
export const foreignError = (error: unknown, secrets: ReadonlyArray<Redacted.Redacted>): unknown =>
  foreign.foreignError(error, secrets.map((secret) => Redacted.value(secret)))
