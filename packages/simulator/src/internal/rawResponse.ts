import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Effect from "effect/Effect"
import type { Socket } from "node:net"
import type * as Fault from "../Fault.ts"

type Request = HttpServerRequest.HttpServerRequest
type Of<Tag extends Fault.Fault["_tag"]> = Extract<Fault.Fault, { readonly _tag: Tag }>

// The platform interrupts the handler of a request when the connection closes. Until then the handler returns no response.
const untilClosed = Effect.never

const socketOf = (request: Request): Socket => NodeHttpServerRequest.toIncomingMessage(request).socket

/** Ends when the connection has accepted the bytes. */
const write = (socket: Socket, bytes: string | Uint8Array): Effect.Effect<void> =>
  Effect.async((resume) => {
    socket.write(bytes, (failure) => {
      if (failure === null || failure === undefined) resume(Effect.void)
    })
  })

/** Resets the connection of a request. */
export const close = (request: Request): void => {
  socketOf(request).resetAndDestroy()
}

/** Resets the connection of a request, instead of a response. */
export const reset = (request: Request): Effect.Effect<never> =>
  Effect.suspend(() => {
    close(request)
    return untilClosed
  })

/** Writes bytes directly to the connection of a request, without HTTP. */
export const bytes = (request: Request, { bytes, ending }: Of<"Bytes">): Effect.Effect<never> =>
  Effect.suspend(() => {
    const socket = socketOf(request)
    return Effect.zipRight(
      write(socket, bytes),
      Effect.suspend(() => {
        if (ending === "End") socket.end()
        if (ending === "Reset") socket.resetAndDestroy()
        return untilClosed
      })
    )
  })

/** Writes one byte at a time to the connection of a request. */
export const drip = (request: Request, { bytes, every }: Of<"Drip">): Effect.Effect<never> =>
  Effect.forEach(
    typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes,
    (byte) => Effect.delay(write(socketOf(request), Uint8Array.of(byte)), every),
    { discard: true }
  ).pipe(Effect.zipRight(untilClosed))

const spaces = new Uint8Array(1024 * 1024).fill(32)

/** Writes to the connection of a request until the connection is closed. */
export const endless = (request: Request, { bytes }: Of<"Endless">): Effect.Effect<never> =>
  Effect.zipRight(write(socketOf(request), bytes), Effect.forever(write(socketOf(request), spaces)))
