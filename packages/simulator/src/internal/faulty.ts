import * as HttpHeaders from "@effect/platform/Headers"
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import type * as Fault from "../Fault.ts"
import type { Received } from "../Received.ts"
import * as rawResponse from "./rawResponse.ts"

/** What a server does with a request. */
export type Handler = (
  request: HttpServerRequest.HttpServerRequest,
  received: Received,
  /** The whole body, of which `received` has the beginning. */
  body: Uint8Array
) => Effect.Effect<HttpServerResponse.HttpServerResponse>

/** The usual handler with a fault. */
export const faulty = (fault: Fault.Fault, usual: Handler): Handler => (request, received, body) => {
  switch (fault._tag) {
    case "Response":
      return Effect.succeed(
        HttpServerResponse.raw(fault.body ?? "", {
          status: fault.status,
          headers: HttpHeaders.fromInput(fault.headers)
        })
      )
    case "Delay":
      // the usual response is made at the end of the delay: a token may be revoked meanwhile
      return Effect.delay(Effect.suspend(() => usual(request, received, body)), fault.duration)
    case "Silence":
      return Effect.never
    case "Reset":
      return rawResponse.reset(request)
    case "Bytes":
      return rawResponse.bytes(request, fault)
    case "Drip":
      return rawResponse.drip(request, fault)
    case "Endless":
      return rawResponse.endless(request, fault)
  }
}
