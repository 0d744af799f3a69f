import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import { globalValue } from "effect/GlobalValue"

// `HttpClient.withScope` finds the scope of a request by the identity of the request object, which a client that sends
// another object would lose. The platform keeps the map under this name and exports no way to it.
const scopedRequests = globalValue(
  "@effect/platform/HttpClient/scopedRequests",
  () => new WeakMap<HttpClientRequest.HttpClientRequest, AbortController>()
)

/** The request that is sent in place of another one belongs to the same scope. */
export const keepScope = (
  original: HttpClientRequest.HttpClientRequest,
  sent: HttpClientRequest.HttpClientRequest
): HttpClientRequest.HttpClientRequest => {
  const controller = scopedRequests.get(original)
  if (controller !== undefined) scopedRequests.set(sent, controller)
  return sent
}
