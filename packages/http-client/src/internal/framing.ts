import { HttpError, lengthOf, type Send } from "@credit-data/core/Internal"
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpBody from "@effect/platform/HttpBody"
import type * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import { throughSteps } from "./streamSteps.ts"

// A server that does not find the end of a body reads a part of it as the next request, or the next request as a part of it.

type Request = HttpClientRequest.HttpClientRequest

/** Whether this content of a body can be read more than once. */
export const isReadableAgain = (content: unknown): content is BodyInit | null | undefined =>
  Predicate.isNullable(content) || Predicate.isString(content) || content instanceof URLSearchParams ||
  content instanceof ArrayBuffer || ArrayBuffer.isView(content) || content instanceof Blob ||
  content instanceof FormData

/** Larger forms and blobs are not read into memory, because their parts can be files on the disk. */
const largestInMemory = 1024 * 1024

const sizeOfFiles = (content: BodyInit | null | undefined): number =>
  content instanceof FormData
    ? Array.from(content.values(), (part) => Predicate.isString(part) ? part.length : part.size)
      .reduce((sum, size) => sum + size, 0)
    : content instanceof Blob
    ? content.size
    : 0

/**
 * Makes a form or raw content into bytes, so that its length is known and every transport can send it.
 */
const inMemory = Effect.fnUntraced(function*(
  request: Request,
  body: HttpBody.FormData | HttpBody.Raw
): Effect.fn.Return<Request, HttpClientError.HttpClientError> {
  const content: unknown = body._tag === "FormData" ? body.formData : body.body
  if (!isReadableAgain(content) || sizeOfFiles(content) > largestInMemory) return request
  const made = yield* Effect.try({
    try: () => new Response(content),
    catch: (cause) => HttpError.requestError("Encode", { request, cause })
  })
  const bytes = yield* Effect.tryPromise({
    try: () => made.arrayBuffer(),
    catch: (cause) => HttpError.requestError("Encode", { request, cause, description: "The body cannot be read" })
  })
  const type = made.headers.get("content-type") ?? undefined
  // the type of a form has its boundary
  const contentType = content instanceof FormData ? type : request.headers["content-type"] ?? type
  const contentLength = bytes.byteLength
  return HttpClientRequest.setBody(request, HttpBody.raw(new Uint8Array(bytes), { contentType, contentLength }))
})

/** One chunk of several. */
export const joined = <B extends ArrayBufferLike>(
  chunks: ReadonlyArray<Uint8Array<B>>
): Uint8Array<ArrayBuffer | B> => {
  const [first] = chunks
  if (first !== undefined && chunks.length === 1) return first
  const bytes = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}

/**
 * Sends a stream. If it fails, or is not as long as declared, the call fails and its connection is closed. Otherwise, Effect 3's
 * `node:http` client would end the request, and the server would read what was sent as a complete request.
 */
const sendStream = Effect.fnUntraced(function*(
  request: Request,
  body: HttpBody.Stream,
  send: Send
): Effect.fn.Return<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError> {
  const length = lengthOf(body)
  // the stream is an effect of the caller, so it gets the caller's options of `fetch`
  const caller = yield* Effect.context<never>()
  const init = Option.getOrElse(Context.getOption(caller, FetchHttpClient.RequestInit), () => ({}))
  const own = Stream.provideContext(body.stream, Context.add(caller, FetchHttpClient.RequestInit, init))
  const failed = yield* Deferred.make<never, HttpClientError.HttpClientError>()
  const ended = yield* Deferred.make<void>()
  const fail = (what: string, cause?: unknown) => {
    const description =
      `${what}, so the connection was closed before the end of the request. The server may have received a part of it`
    const error = HttpError.requestError("Encode", { request, cause, description })
    // until then, the transport must not see the end of the stream
    return Effect.zipRight(Effect.zipRight(Deferred.fail(failed, error), Deferred.await(ended)), Effect.fail(error))
  }
  // a client of the program may send the request more than once
  const checked = throughSteps(own, () => {
    let left = length ?? 0
    const last: Array<Uint8Array> = []
    return {
      onElements: (chunks) => {
        // NodeStream types the texts of a Readable with an encoding as bytes
        if (!chunks.every((chunk: unknown) => chunk instanceof Uint8Array)) {
          return fail("The stream of the body has a chunk that is not a Uint8Array")
        }
        // the platform's `node:http` client does not finish a request with thousands of tiny chunks
        const bytes = joined(chunks)
        if (length === undefined) return Effect.succeed([bytes])
        left -= bytes.length
        if (left < 0) return fail("The stream of the body is longer than its contentLength")
        if (left > 0) return Effect.succeed([bytes])
        // with its last bytes, the server would have the whole request, although the stream may still fail
        last.push(bytes)
        return Effect.succeed([])
      },
      onEnd: Effect.suspend(() =>
        left > 0 ? fail("The stream of the body is shorter than its contentLength") : Effect.succeed(last)
      ),
      onFailure: (cause) => fail("The stream of the body failed", Cause.squash(cause))
    }
  })
  // Effect sets the type of a stream, even if it is only the default, in place of the caller's header
  const type = request.headers["content-type"] ?? body.contentType
  return yield* send(HttpClientRequest.setBody(request, HttpBody.stream(checked, type, length))).pipe(
    // a call in a finalizer must end too; what loses the race is interrupted, and Effect's clients then destroy its connection
    Effect.interruptible,
    Effect.raceFirst(Effect.interruptible(Deferred.await(failed))),
    Effect.ensuring(Deferred.succeed(ended, undefined))
  )
})

/** Sends a request so that a server finds the end of its body. */
export const framed = (send: Send): Send => (request) => {
  const { body } = request
  switch (body._tag) {
    case "Stream":
      return sendStream(request, body, send)
    case "FormData":
    case "Raw":
      return Effect.flatMap(inMemory(request, body), send)
    default:
      return send(request)
  }
}
