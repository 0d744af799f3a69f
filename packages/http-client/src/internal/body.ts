import type * as HttpBody from "@effect/platform/HttpBody"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
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

const mostDiscarded = 64 * 1024

/** Reads a body that is not needed, so that its connection can be reused. Reading stops if the body is large or slow. */
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
      Effect.interruptible, // finalizers are uninterruptible, and would wait for an endless body
      Effect.timeout("1 second"),
      Effect.ignore
    )
  })
