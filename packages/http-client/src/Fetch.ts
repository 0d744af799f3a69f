/**
 * The client of an endpoint group as a `fetch`, for libraries that are not written in Effect.
 *
 * @since 1.0.0
 */
import * as Cookies from "@effect/platform/Cookies"
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as HttpMethod from "@effect/platform/HttpMethod"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { GroupClient, GroupClientError } from "./GroupClient.ts"

/** `Request` accepts only absolute URLs. This one is never sent: the client gets the URL of the caller. */
const unsentUrl = "https://unsent.invalid"

const withoutBody: ReadonlySet<number> = new Set([204, 205, 304])

// A `fetch` also rejects with a TypeError, or with the reason of a signal. Here they are defects, so that callers get them unchanged.

const aborted = (signal: AbortSignal): Effect.Effect<never> =>
  Effect.async((resume) => {
    const abort = () => resume(Effect.die(signal.reason))
    if (signal.aborted) return abort()
    signal.addEventListener("abort", abort, { once: true })
    return Effect.sync(() => signal.removeEventListener("abort", abort))
  })

const toRequest = Effect.fnUntraced(function*(
  request: Request,
  url: string
): Effect.fn.Return<HttpClientRequest.HttpClientRequest> {
  const { headers, method } = request
  if (!HttpMethod.isHttpMethod(method)) {
    return yield* Effect.die(new TypeError(`The method ${method} is not supported`))
  }
  const bytes = yield* Effect.promise(() => request.arrayBuffer())
  return HttpClientRequest.make(method)(url, {
    headers,
    ...(request.body !== null &&
      { body: HttpBody.uint8Array(new Uint8Array(bytes), headers.get("content-type") ?? undefined) })
  })
})

const toResponse = (response: HttpClientResponse.HttpClientResponse): Response => {
  const headers = new Headers(response.headers)
  headers.delete("set-cookie")
  for (const cookie of Cookies.toSetCookieHeaders(response.cookies)) headers.append("set-cookie", cookie)
  return new Response(withoutBody.has(response.status) ? null : Stream.toReadableStream(response.stream), {
    status: response.status,
    headers
  })
}

/**
 * A `fetch` that sends each request with a token. As the client does, it adds the base URL to a relative URL. After a 401 it
 * replaces the token and sends the request again once.
 *
 * Differences from the global `fetch`:
 *
 * - The body of a request is read into memory, so that it can be sent again. The body of a response is streamed.
 * - A redirect is not followed. The caller gets the redirect as the response.
 * - `mode`, `credentials`, `cache` and `keepalive` have no effect.
 * - It rejects with the errors of the client, such as `TransportError` or `InsufficientScope`. After an abort it rejects with the
 *   reason of the signal.
 *
 * There is no time-out. Pass a signal, such as `AbortSignal.timeout(15_000)`.
 *
 * When the scope closes, the calls that are under way are interrupted.
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
    FiberSet.makeRuntimePromise(),
    (run): typeof globalThis.fetch => (input, init) =>
      run(Effect.gen(function*(): Effect.fn.Return<Response, GroupClientError> {
        const request = yield* Effect.sync(() => new Request(input instanceof Request ? input : unsentUrl, init))
        return yield* toRequest(request, input instanceof Request ? input.url : String(input)).pipe(
          Effect.flatMap((request) => client.execute(request)),
          Effect.map(toResponse),
          Effect.raceFirst(aborted(request.signal))
        )
      }))
  )
