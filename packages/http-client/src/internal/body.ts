import type * as HttpBody from "@effect/platform/HttpBody"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"

/** Can this body be sent a second time? A stream is gone once it was read. */
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

const mostDiscarded = 64 * 1024

/** Reads a body that nobody wants, so that its connection can be used again; one that is large or slow is cut off. */
export const discard = (response: HttpClientResponse.HttpClientResponse): Effect.Effect<void> =>
  Effect.suspend(() => {
    let size = 0
    return response.stream.pipe(
      Stream.runForEachWhile((chunk) =>
        Effect.sync(() => {
          size += chunk.length
          return size < mostDiscarded
        })
      ),
      Effect.interruptible, // a finalizer isn't, and would wait for a body without an end
      Effect.timeout("1 second"),
      Effect.ignore
    )
  })
