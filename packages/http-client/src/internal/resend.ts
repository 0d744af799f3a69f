import { HttpError, Instant, isReadableAgain, Transport } from "@credit-data/core/Internal"
import type * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClientError from "@effect/platform/HttpClientError"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { LazyArg } from "effect/Function"
import * as Stream from "effect/Stream"

// Which calls are sent again after a 401 or a reset, how often, and what becomes of the first response.

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

/** The most bytes that are read of a body that may be unused. */
const mostRead = 64 * 1024

const cut = new Error(
  "The body of this 401 is incomplete: its connection failed, or it has more than 64 KiB or took more than a second"
)

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
      Effect.timeout("1 second"),
      Effect.exit,
      Effect.map((exit) => () => {
        const contentType = response.headers["content-type"]
        const headers: Record<string, string> = contentType === undefined ? {} : { "content-type": contentType }
        const read = Stream.fromIterable(chunks)
        const body = Exit.isSuccess(exit) && left >= 0 ? read : Stream.concat(read, Stream.fail(cut))
        return HttpClientResponse.fromWeb(response.request, new Response(Stream.toReadableStream(body), { headers }))
      })
    )
  })

/** Only safe methods, because not every server handles a PUT idempotently; or any method with an `Idempotency-Key`. */
const mayBeSentTwice = ({ body, headers, method }: HttpClientRequest.HttpClientRequest): boolean =>
  (method === "GET" || method === "HEAD" || method === "OPTIONS" || "idempotency-key" in headers) &&
  canBeSentAgain(body)

/**
 * Whether the server most likely closed the idle connection before the request, and the request may be sent again. In this
 * case no part of a response has arrived. Browsers and Go's `net/http` also send such a request again.
 */
export const isClosedConnection = (error: unknown, request: HttpClientRequest.HttpClientRequest): boolean =>
  HttpClientError.isHttpClientError(error) &&
  // the program's client may have changed the request, and may do so differently the next time
  HttpError.requestReason(error) === "Transport" && mayBeSentTwice(request) && mayBeSentTwice(error.request) &&
  Transport.reason(error) === "Reset"

/** The attempts of a call whose tokens are rejected, each with another token unless a reset came between. */
export const mostTokens = 3

/** The retries of a call after closed connections. */
export const mostClosedConnections = 3

const halfMillis = 5_000

/** A client that sends few calls may retry one of them this often. */
const fewest = 3

/**
 * Caps the retries of a client after closed connections at the number of its first attempts in the last five to ten seconds, or at three
 * if these were fewer. A reset of all connections then at most doubles the load, apart from these three, as with the budget of tower.
 */
export const makeBudget = (clock: Clock.Clock) => {
  let since = 0
  let current = { sent: 0, resent: 0 }
  let before = { sent: 0, resent: 0 }
  const refresh = () => {
    const now = Instant.monotonicMillis(clock)
    if (now - since < halfMillis) return
    before = now - since < 2 * halfMillis ? current : { sent: 0, resent: 0 }
    current = { sent: 0, resent: 0 }
    since = now
  }
  return {
    /** A call is sent for the first time. */
    sent: (): void => {
      refresh()
      current.sent++
    },
    /** Takes a resend from the budget, if there is one. */
    take: (): boolean => {
      refresh()
      if (before.resent + current.resent >= Math.max(fewest, before.sent + current.sent)) return false
      current.resent++
      return true
    }
  }
}
