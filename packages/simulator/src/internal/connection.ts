import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Effect from "effect/Effect"
import type * as Fault from "../Fault.ts"

/** Resets the connection of a request. The platform interrupts the handler when it sees the connection closed. */
export const reset = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<never> =>
  Effect.suspend(() => {
    NodeHttpServerRequest.toIncomingMessage(request).socket.resetAndDestroy()
    return Effect.never
  })

/** Writes bytes to the connection of a request, beneath HTTP. */
export const write = (
  request: HttpServerRequest.HttpServerRequest,
  { bytes, ending }: Extract<Fault.Fault, { readonly _tag: "Bytes" }>
): Effect.Effect<never> =>
  Effect.suspend(() => {
    const { socket } = NodeHttpServerRequest.toIncomingMessage(request)
    socket.write(bytes, () => {
      if (ending === "End") socket.end()
      if (ending === "Reset") socket.resetAndDestroy()
    })
    return Effect.never
  })
