import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import { globalValue } from "effect/GlobalValue"

// `HttpClient.withScope` finds the scope of a request by the identity of the request object, which a client that sends
// another object would lose. The platform keeps the map under this name and exports no way to it.
const scopedRequests = globalValue(
  "@effect/platform/HttpClient/scopedRequests",
  () => new WeakMap<HttpClientRequest.HttpClientRequest, AbortController>()
)

const currentController = FiberRef.unsafeMake<AbortController | undefined>(undefined)

/** The request, as it leaves the client at last, belongs to the scope that `inScopeOf` names. */
export const keepScope = (
  sent: HttpClientRequest.HttpClientRequest
): Effect.Effect<HttpClientRequest.HttpClientRequest> =>
  Effect.map(FiberRef.get(currentController), (controller) => {
    if (controller !== undefined) scopedRequests.set(sent, controller)
    return sent
  })

/** Whatever is sent here is sent for this request, and belongs to its scope. */
export const inScopeOf = (original: HttpClientRequest.HttpClientRequest) => <A, E>(sending: Effect.Effect<A, E>) => {
  const controller = scopedRequests.get(original)
  return controller === undefined ? sending : Effect.locally(sending, currentController, controller)
}
