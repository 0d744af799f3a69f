import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import { globalValue } from "effect/GlobalValue"

// `HttpClient.withScope` finds the scope of a request by the identity of the request object. This client sends another
// object, so it has to register that one too. The platform does not export the map, but keeps it under this global name.
const scopedRequests = globalValue(
  "@effect/platform/HttpClient/scopedRequests",
  () => new WeakMap<HttpClientRequest.HttpClientRequest, AbortController>()
)

const currentController = FiberRef.unsafeMake<AbortController | undefined>(undefined)

/** Adds the request that is sent to the scope that `inScopeOf` set. */
export const keepScope = (sent: HttpClientRequest.HttpClientRequest): Effect.Effect<void> =>
  Effect.withFiberRuntime((fiber) => {
    const controller = fiber.getFiberRef(currentController)
    if (controller !== undefined) scopedRequests.set(sent, controller)
    return Effect.void
  })

/** Makes everything that is sent here belong to the scope of this request, or to none: even within another call. */
export const inScopeOf = (original: HttpClientRequest.HttpClientRequest) => <A, E>(sending: Effect.Effect<A, E>) =>
  Effect.withFiberRuntime<A, E>((fiber) => {
    const controller = scopedRequests.get(original)
    // most calls do not have their own scope, and `locally` costs as much as the rest of a call
    return controller === fiber.getFiberRef(currentController)
      ? sending
      : Effect.locally(sending, currentController, controller)
  })
