import type * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"

/** Whether this body can be sent a second time. A stream can be read only once. */
export const canBeSentAgain = (body: HttpBody.HttpBody): boolean => {
  switch (body._tag) {
    case "Empty":
    case "Uint8Array":
    case "FormData":
      return true
    case "Raw":
      return Predicate.isString(body.body) || body.body instanceof Blob || body.body instanceof URLSearchParams ||
        body.body instanceof ArrayBuffer || ArrayBuffer.isView(body.body)
    case "Stream":
      return false
  }
}

/** The most bytes that are read of a body that may be unused. */
const mostRead = 64 * 1024

/**
 * Reads a body so that its connection can be reused. Closes the connection if the body is larger than 64 KiB or takes more than a
 * second. Returns what was read, as the body of a response.
 */
export const release = (
  response: HttpClientResponse.HttpClientResponse
): Effect.Effect<HttpClientResponse.HttpClientResponse> =>
  Effect.suspend(() => {
    const chunks: Array<Uint8Array<ArrayBuffer>> = []
    let size = 0
    return response.stream.pipe(
      Stream.runForEachWhile((chunk) =>
        Effect.sync(() => {
          const part = new Uint8Array(chunk.subarray(0, mostRead - size))
          chunks.push(part)
          size += part.length
          return size < mostRead
        })
      ),
      Effect.interruptible, // finalizers are uninterruptible, and would wait for an endless body
      Effect.timeout("1 second"),
      Effect.exit,
      Effect.map(() => {
        const contentType = response.headers["content-type"]
        const headers: Record<string, string> = contentType === undefined ? {} : { "content-type": contentType }
        return HttpClientResponse.fromWeb(response.request, new Response(new Blob(chunks), { headers }))
      })
    )
  })
