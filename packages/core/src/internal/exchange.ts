import * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as HttpTraceContext from "@effect/platform/HttpTraceContext"
import * as Cause from "effect/Cause"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import { type Stage, transportReason } from "./transportReason.ts"
import type { TransportReason } from "../TokenError.ts"

/** The answer of a server, read to its end. A body is missing when it was too large, or broke off. */
export interface Answer {
  readonly status: number
  readonly retryAfter: Option.Option<string>
  readonly body: Either.Either<Uint8Array, "Size" | TransportReason>
}

const reasonAt = (stage: Stage) => (error: HttpClientError.HttpClientError) => transportReason(error.cause, stage)

const concat = (chunks: Iterable<Uint8Array>, size: number): Uint8Array => {
  const whole = new Uint8Array(size)
  let offset = 0
  for (const chunk of chunks) {
    whole.set(chunk, offset)
    offset += chunk.length
  }
  return whole
}

/** Reads a body to its end, or until it is too large. */
const readBody = (response: HttpClientResponse.HttpClientResponse, maxSize: number): Effect.Effect<Answer["body"]> =>
  response.stream.pipe(
    Stream.runFoldWhile(
      { chunks: Chunk.empty<Uint8Array>(), size: 0 },
      ({ size }) => size <= maxSize,
      ({ chunks, size }, chunk) => ({ chunks: Chunk.append(chunks, chunk), size: size + chunk.length })
    ),
    Effect.map(({ chunks, size }): Answer["body"] =>
      size <= maxSize ? Either.right(concat(chunks, size)) : Either.left("Size")
    ),
    Effect.catchAll((error) =>
      Effect.succeed(
        error.reason === "EmptyBody" ? Either.right(new Uint8Array()) : Either.left(reasonAt("Body")(error))
      )
    )
  )

/**
 * Ends the connection of an answer that changed it to another protocol. No HttpClient does so: `node:http` hands the socket
 * over, and neither reading the body nor aborting the request ends it, nor does the process while it is open.
 */
const endUpgraded = (response: unknown): Effect.Effect<void> => {
  if (Predicate.hasProperty(response, "original")) return endUpgraded(response.original)
  const source = Predicate.hasProperty(response, "source") ? response.source : undefined
  return Effect.sync(() => {
    if (Predicate.hasProperty(source, "destroy") && Predicate.isFunction(source.destroy)) source.destroy()
  })
}

const propagate = (request: HttpClientRequest.HttpClientRequest) =>
  Effect.map(
    Effect.option(Effect.currentSpan),
    Option.match({
      onNone: () => request,
      onSome: (span) => HttpClientRequest.setHeaders(request, HttpTraceContext.toHeaders(span))
    })
  )

/**
 * Posts a form and reads the answer. The platform's own span is left out, for it would record more than we want to see
 * in a trace; its errors are reduced to a reason, for they hold the request.
 */
export const exchange = (
  client: HttpClient.HttpClient,
  options: {
    readonly url: string
    readonly form: ReadonlyArray<readonly [string, string]>
    readonly maxSize: number
    readonly propagateTrace: boolean
  }
): Effect.Effect<Answer, TransportReason> => {
  const request = HttpClientRequest.post(options.url).pipe(HttpClientRequest.bodyUrlParams(options.form))
  const answer = Effect.flatMap(
    options.propagateTrace ? propagate(request) : Effect.succeed(request),
    HttpClient.withTracerDisabledWhen(client, () => true).execute
  ).pipe(
    Effect.mapError(reasonAt("Request")),
    Effect.flatMap((response) =>
      Effect.map(
        response.status === 101
          ? Effect.as(endUpgraded(response), Either.right(new Uint8Array()))
          : readBody(response, options.maxSize),
        (body): Answer => ({
          status: response.status,
          retryAfter: Option.fromNullable(response.headers["retry-after"]),
          body
        })
      )
    )
  )
  return answer.pipe(
    // A transport that dies may do so with the request in its hands, and one that interrupts itself would interrupt
    // everybody. Whoever interrupts us from outside isn't caught here.
    Effect.catchAllCause((cause) => Effect.fail(Option.getOrElse(Cause.failureOption(cause), () => "Other" as const))),
    // the deadline doesn't wait for what can't be interrupted
    Effect.disconnect
  )
}
