import { Effect } from "effect"
import { createServer, type Server, type Socket } from "node:net"

/** Listens on a loopback port until the scope ends, which closes all connections. Returns the port. */
export const listen = (server: Server) => {
  const open = new Set<Socket>()
  for (const event of ["connection", "secureConnection"]) {
    server.on(event, (socket: Socket) => {
      open.add(socket)
      socket.on("error", () => socket.destroy()).on("close", () => open.delete(socket))
    })
  }
  return Effect.acquireRelease(
    Effect.async<number>((resume) => {
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        resume(typeof address === "object" && address !== null ? Effect.succeed(address.port) : Effect.die(address))
      })
    }),
    () =>
      Effect.sync(() => {
        server.close()
        for (const socket of open) socket.destroy()
      })
  )
}

/** A server on a raw socket. Returns its port. */
export const listenForSockets = (onSocket: (socket: Socket) => void) => listen(createServer(onSocket))
