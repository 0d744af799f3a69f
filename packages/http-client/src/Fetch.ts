/**
 * The client of an endpoint group as a `fetch`, for libraries that are not written in Effect.
 *
 * @since 1.0.0
 */
import { HttpError } from "@credit-data/core/Internal"
import * as Cookies from "@effect/platform/Cookies"
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as HttpMethod from "@effect/platform/HttpMethod"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import { call, type GroupClient, type GroupClientError, type Values } from "./GroupClient.ts"
import { release } from "./internal/resend.ts"

/** `Request` accepts only absolute URLs. This one is never sent: the client gets the URL of the caller. */
const unsentUrl = "https://unsent.invalid"

const withoutBody: ReadonlySet<number> = new Set([204, 205, 304])

/** A call, until it has failed or its body has ended. */
interface OpenCall {
  readonly controller: AbortController
  /** The owners of the caller's signal: the signal of a `Request` that is collected is never aborted. */
  readonly owners: ReadonlyArray<unknown>
}

/** Dies with the reason of the signal, so that callers get it unchanged. */
const aborted = (signal: AbortSignal): Effect.Effect<never> =>
  Effect.async((resume) => {
    const abort = () => resume(Effect.die(signal.reason))
    if (signal.aborted) return abort()
    signal.addEventListener("abort", abort, { once: true })
    return Effect.sync(() => signal.removeEventListener("abort", abort))
  })

/** A `Request`, even of another realm or another implementation of `fetch`. */
type RequestLike = Pick<Request, "arrayBuffer" | "body" | "headers" | "method" | "signal" | "url">

const isRequestLike = (input: unknown): input is RequestLike =>
  Predicate.hasProperty(input, "url") && Predicate.hasProperty(input, "method") &&
  Predicate.hasProperty(input, "headers") && Predicate.hasProperty(input, "signal") &&
  Predicate.hasProperty(input, "arrayBuffer")

const isUrl = (input: unknown): boolean => Predicate.hasProperty(input, "href") && Predicate.isString(input.href)

/** What the caller passed. */
interface Parsed {
  readonly url: string
  /** Everything but the URL and the body. */
  readonly request: Request
  readonly content: Pick<RequestLike, "arrayBuffer" | "body">
}

const parse = (input: unknown, init: RequestInit | undefined): Effect.Effect<Parsed> =>
  Effect.suspend(() => {
    const parsed = (url: string, request: Request, content: Parsed["content"] = request) =>
      Effect.succeed({ url, request, content })
    if (input instanceof Request) return parsed(input.url, new Request(input, init))
    if (isRequestLike(input)) {
      const { headers, method, signal, url } = input
      const request = new Request(unsentUrl, { method, headers: [...headers], signal, ...init })
      return parsed(url, request, init?.body === undefined ? input : request)
    }
    if (Predicate.isString(input) || isUrl(input)) return parsed(String(input), new Request(unsentUrl, init))
    return Effect.die(new TypeError("Expected a URL or a Request"))
  })

const toRequest = Effect.fnUntraced(function*(
  { content, request, url }: Parsed
): Effect.fn.Return<HttpClientRequest.HttpClientRequest> {
  const { headers } = request
  // `Request` leaves `patch` in lower case
  const method = request.method.toUpperCase()
  if (!HttpMethod.isHttpMethod(method)) {
    return yield* Effect.die(new TypeError(`The method ${method} is not supported`))
  }
  const bytes = content.body === null ? undefined : yield* Effect.promise(() => content.arrayBuffer())
  return HttpClientRequest.make(method)(url, {
    headers,
    ...(bytes !== undefined &&
      { body: HttpBody.uint8Array(new Uint8Array(bytes), headers.get("content-type") ?? undefined) })
  })
})

/** The calls of one `fetch`. All of them are aborted when its scope closes, and one whose body is collected. */
const makeCalls = Effect.gen(function*() {
  const open = new Set<OpenCall>()
  const closing = new AbortController()
  const collected = new FinalizationRegistry<OpenCall>((call) => {
    if (open.has(call)) call.controller.abort()
  })
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      closing.abort(new DOMException("The scope of this fetch was closed", "AbortError"))
      for (const { controller } of open) controller.abort(closing.signal.reason)
    })
  )

  const start = (request: Request, input: unknown): OpenCall => {
    const { signal } = request
    const call = { controller: new AbortController(), owners: [request, input] }
    open.add(call)
    const abort = () => call.controller.abort(signal.reason)
    if (signal.aborted) abort()
    else signal.addEventListener("abort", abort, { once: true })
    return call
  }

  /** At most one chunk is read ahead. A body that ends early in any way closes the connection. */
  const toBody = (response: HttpClientResponse.HttpClientResponse, call: OpenCall): ReadableStream<Uint8Array> => {
    const { signal } = call.controller
    const stream = Stream.catchAll(
      response.stream,
      // a `Response` without a body reads as an empty one
      (error) => HttpError.responseReason(error) === "EmptyBody" ? Stream.empty : Stream.fail(error)
    )
    const reader = Stream.toReadableStream(stream, { strategy: { highWaterMark: 0 } }).getReader()
    const close = () => {
      open.delete(call)
      // an error of the body has reached its reader
      return reader.cancel().catch(() => undefined)
    }
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        const held = new WeakRef(controller)
        signal.addEventListener("abort", () => {
          held.deref()?.error(signal.reason)
          void close()
        })
      },
      pull: async (controller) => {
        const { done, value } = await reader.read()
        if (!done) return controller.enqueue(value)
        open.delete(call)
        controller.close()
      },
      cancel: close
    }, { highWaterMark: 0 })
    collected.register(body, call)
    return body
  }

  const toResponse = Effect.fnUntraced(function*(
    response: HttpClientResponse.HttpClientResponse,
    { method }: Request,
    call: OpenCall
  ): Effect.fn.Return<Response> {
    const { status } = response
    const isReadable = status >= 200 && status <= 599 && !withoutBody.has(status) && method !== "HEAD"
    // an unread response keeps its connection
    if (!isReadable) yield* release(response)
    if (status < 200 || status > 599) {
      return yield* Effect.die(
        new TypeError(`The API responded with ${status}, which is not the status of a Response`)
      )
    }
    const headers = new Headers(response.headers)
    headers.delete("set-cookie")
    for (const cookie of Cookies.toSetCookieHeaders(response.cookies)) headers.append("set-cookie", cookie)
    if (!isReadable) open.delete(call)
    return new Response(isReadable ? toBody(response, call) : null, { status, headers })
  })

  return { closed: closing.signal, start, toResponse, end: (call: OpenCall) => Effect.sync(() => open.delete(call)) }
})

type Execute = (
  request: HttpClientRequest.HttpClientRequest
) => Effect.Effect<HttpClientResponse.HttpClientResponse, GroupClientError>

/** Sends what a caller of `fetch` passes, until the scope closes. */
const makeSend = Effect.gen(function*() {
  const run = yield* FiberSet.makeRuntimePromise()
  const calls = yield* makeCalls
  return (execute: Execute, input: unknown, init?: RequestInit): Promise<Response> => {
    const sending: Effect.Effect<Response, GroupClientError> = Effect.gen(function*() {
      const parsed = yield* parse(input, init)
      const started = calls.start(parsed.request, input)
      const responding = toRequest(parsed).pipe(
        Effect.flatMap(execute),
        Effect.flatMap((response) => calls.toResponse(response, parsed.request, started))
      )
      // in this order, nothing is sent after an abort
      return yield* aborted(started.controller.signal).pipe(
        Effect.raceFirst(responding),
        Effect.onError(() => calls.end(started))
      )
    })
    // the span in which the `fetch` was made has ended
    return run(Effect.mapInputContext(sending, Context.omit(Tracer.ParentSpan)))
      .catch((error) => Promise.reject(calls.closed.aborted ? calls.closed.reason : error))
  }
})

/**
 * Makes a `fetch` that sends each request with a token. Like the client, it adds the base URL to a relative URL. After a 401, it sends
 * the request again with another token, and it uses at most three tokens per call.
 *
 * Differences from the global `fetch`:
 *
 * - The body of a request is read into memory, so that it can be sent again. The body of a response is streamed.
 * - A redirect is not followed. The caller gets the redirect as the response.
 * - `mode`, `credentials`, `cache` and `keepalive` have no effect.
 * - The `url` and `statusText` of a response are empty. Of several cookies with the same name, it may have only one.
 * - It rejects with the errors of the client, such as `TransportError` or `InsufficientScope`. After an abort, the call or the reading
 *   of its body rejects with the reason of the signal, and the connection is closed.
 * - It rejects with a `TypeError` if the API returns a status outside 200 to 599, or if the request's method is not supported.
 *
 * There is no timeout. Pass a signal, such as `AbortSignal.timeout(15_000)`, which covers the body of the response too.
 *
 * When the scope closes, calls in progress, bodies that are being read, and all later calls reject with an `AbortError`.
 *
 * @since 1.0.0
 * @category conversions
 * @example
 * ```ts
 * import { DataAccess, Fetch } from "@credit-data/http-client"
 * import { Effect } from "effect"
 *
 * export const program = Effect.gen(function*() {
 *   const fetch = yield* Effect.flatMap(DataAccess.DataAccess, Fetch.make)
 *   const response = yield* Effect.promise(() => fetch("/data-access/consumers/42"))
 *   return yield* Effect.promise(() => response.json())
 * })
 * ```
 */
export const make = (client: GroupClient): Effect.Effect<typeof globalThis.fetch, never, Scope.Scope> =>
  Effect.map(
    makeSend,
    (send): typeof globalThis.fetch => (input, init) => send((request) => client.execute(request), input, init)
  )

/**
 * Calls a path that contains values, such as an id from outside.
 *
 * @since 1.0.0
 * @category models
 */
export type Call = <const Template extends `/${string}`>(
  method: HttpMethod.HttpMethod,
  template: Template,
  values: Values<Template>,
  init?: Omit<RequestInit, "method">
) => Promise<Response>

/**
 * Makes a function that calls a path that contains values. It encodes and refuses values as `GroupClient.call` does, and it sends the
 * request as the `fetch` of `make` does.
 *
 * @since 1.0.0
 * @category conversions
 * @example
 * ```ts
 * import { DataAccess, Fetch } from "@credit-data/http-client"
 * import { Effect } from "effect"
 *
 * export const program = Effect.gen(function*() {
 *   const call = yield* Effect.flatMap(DataAccess.DataAccess, Fetch.makeCall)
 *   const response = yield* Effect.promise(() => call("GET", "/data-access/consumers/{id}", { id: "a/b" }))
 *   return yield* Effect.promise(() => response.json())
 * })
 * ```
 */
export const makeCall = (client: GroupClient): Effect.Effect<Call, never, Scope.Scope> =>
  Effect.map(makeSend, (send): Call => (method, template, values, init) =>
    send(
      ({ body, headers }) => call(client, method, template, values, { body, headers }),
      template,
      { ...init, method }
    ))
