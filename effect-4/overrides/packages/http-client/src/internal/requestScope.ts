import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"

// `HttpClient.withScope` finds the scope of a request in a private map of Effect 4. Around these clients it has no
// effect: use `Effect.timeout` or interruption to end a call.

/** Not needed here. */
export const keepScope = undefined

/** Leaves the call as it is. */
export const inScopeOf = (
  _: HttpClientRequest.HttpClientRequest
): <A, E>(sending: Effect.Effect<A, E>) => Effect.Effect<A, E> => identity
