import { HttpError, Transport } from "@credit-data/core/Internal"
import type * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClientError from "@effect/platform/HttpClientError"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { LazyArg } from "effect/Function"
import * as Stream from "effect/Stream"
import { cut, mayArriveTwice, mostRead, mostReadMillis } from "./attempts.ts"
import { isReadableAgain } from "./framing.ts"

// Which requests of an HttpClient can be sent again, and what becomes of the first response.

/** Whether this body can be sent a second time. A stream can be read only once. */
export const canBeSentAgain = (body: HttpBody.HttpBody): boolean => {
  switch (body._tag) {
    case "Empty":
    case "Uint8Array":
    case "FormData":
      return true
    case "Raw":
      return isReadableAgain(body.body)
    case "Stream":
      return false
  }
}

/**
 * Reads a body so that its connection can be reused. Closes the connection if the body is larger than 64 KiB or takes more than a
 * second. Returns what makes a response of what was read: most calls do not need it, because another token succeeds.
 */
export const release = (
  response: HttpClientResponse.HttpClientResponse
): Effect.Effect<LazyArg<HttpClientResponse.HttpClientResponse>> =>
  Effect.suspend(() => {
    const chunks: Array<Uint8Array<ArrayBuffer>> = []
    let left = mostRead
    return response.stream.pipe(
      Stream.runForEachWhile((chunk) =>
        Effect.sync(() => {
          const part = new Uint8Array(chunk.subarray(0, left))
          if (part.length > 0) chunks.push(part)
          left -= chunk.length
          return left >= 0
        })
      ),
      Effect.catchIf((error) => HttpError.responseReason(error) === "EmptyBody", () => Effect.void),
      Effect.interruptible, // finalizers are uninterruptible, and would wait for an endless body
      Effect.timeout(mostReadMillis),
      Effect.exit,
      Effect.map((exit) => () => {
        const contentType = response.headers["content-type"]
        const headers: Record<string, string> = contentType === undefined ? {} : { "content-type": contentType }
        const read = Stream.fromIterable(chunks)
        const body = Exit.isSuccess(exit) && left >= 0 ? read : Stream.concat(read, Stream.fail(cut()))
        return HttpClientResponse.fromWeb(response.request, new Response(Stream.toReadableStream(body), { headers }))
      })
    )
  })

const mayBeSentTwice = ({ body, headers, method }: HttpClientRequest.HttpClientRequest): boolean =>
  mayArriveTwice(method, "idempotency-key" in headers) && canBeSentAgain(body)

/**
 * Whether the server most likely closed the idle connection before the request, and the request may be sent again.
 */
export const isClosedConnection = (error: unknown, request: HttpClientRequest.HttpClientRequest): boolean =>
  HttpClientError.isHttpClientError(error) &&
  // the program's client may have changed the request, and may do so differently the next time
  HttpError.requestReason(error) === "Transport" && mayBeSentTwice(request) && mayBeSentTwice(error.request) &&
  Transport.reason(error) === "Reset"
