import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { isStatusError } from "../transport.ts"
import { traceHeaders } from "../observed.ts"
import { type Stage, type TransportFailure, transportFailure } from "../transportFailure.ts"

/** The response of a server, read to its end. The body is missing if it was too large or broke off. */
export interface ServerResponse {
  readonly status: number
  readonly retryAfter: Option.Option<string>
  readonly body: Either.Either<Uint8Array, "Size" | TransportFailure>
}

const failureAt = (stage: Stage) => (error: HttpClientError.HttpClientError): TransportFailure =>
  HttpClientError.isHttpClientError(error) ? transportFailure(error, stage) : { reason: "Other" }

const concat = (chunks: Iterable<Uint8Array>, size: number): Uint8Array => {
  const whole = new Uint8Array(size)
  let offset = 0
  for (const chunk of chunks) {
    whole.set(chunk, offset)
    offset += chunk.length
  }
  return whole
}

/** No token is as large as this, in bytes after decompression. */
const maxSize = 1024 * 1024

/** Reads a body to its end, or until it is too large. */
const readBody = (response: HttpClientResponse.HttpClientResponse): Effect.Effect<ServerResponse["body"]> =>
  Effect.suspend(() => {
    const chunks: Array<Uint8Array> = []
    let size = 0
    return response.stream.pipe(
      Stream.runForEachWhile((chunk) =>
        Effect.sync(() => {
          chunks.push(chunk)
          size += chunk.length
          return size <= maxSize
        })
      ),
      Effect.map((): ServerResponse["body"] =>
        size <= maxSize ? Either.right(concat(chunks, size)) : Either.left("Size")
      ),
      Effect.catchAll((error) =>
        Effect.succeed(
          error.reason === "EmptyBody" ? Either.right(new Uint8Array()) : Either.left(failureAt("Body")(error))
        )
      )
    )
  })

const propagate = (request: HttpClientRequest.HttpClientRequest) =>
  Effect.map(Effect.option(Effect.currentSpan), (span) => HttpClientRequest.setHeaders(request, traceHeaders(span)))

/**
 * Posts a form and reads the response, over a client that `Transport.sealed` has made. The client's errors contain the
 * request, so they are reduced to what is known of the failure.
 */
export const exchange = (
  client: HttpClient.HttpClient,
  options: {
    readonly url: string
    readonly form: ReadonlyArray<readonly [string, string]>
    readonly propagateTrace: boolean
  }
): Effect.Effect<ServerResponse, TransportFailure> => {
  const request = HttpClientRequest.post(options.url).pipe(
    HttpClientRequest.acceptJson,
    HttpClientRequest.bodyUrlParams(options.form)
  )
  const exchanged = Effect.flatMap(
    options.propagateTrace ? propagate(request) : Effect.succeed(request),
    client.execute
  ).pipe(
    // a client that refuses every status except 2xx has still received a response
    Effect.catchIf(isStatusError, (error) => Effect.succeed(error.response)),
    Effect.mapError(failureAt("Request")),
    Effect.flatMap((response) =>
      Effect.map(
        response.status === 101 ? Effect.succeed(Either.right(new Uint8Array())) : readBody(response),
        (body): ServerResponse => ({
          status: response.status,
          retryAfter: Option.fromNullable(response.headers["retry-after"]),
          body
        })
      )
    )
  )
  return exchanged.pipe(
    // A defect of the transport may contain the request, and a transport that interrupts itself would interrupt all callers.
    // An interruption from outside is not caught here.
    Effect.catchAllCause((cause) =>
      Effect.fail(Option.getOrElse(Cause.failureOption(cause), (): TransportFailure => ({ reason: "Other" })))
    )
  )
}
