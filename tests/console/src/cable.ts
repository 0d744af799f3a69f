import { Effect } from "effect"
import { connect, createServer, type Socket } from "node:net"

/** A connection to a server that can be cut and mended. It has its own address. */
export const cable = (url: string) =>
  Effect.acquireRelease(
    Effect.async<{
      readonly url: string
      readonly cut: Effect.Effect<void>
      readonly mend: Effect.Effect<void>
      readonly close: () => void
    }>((resume) => {
      const { hostname, port } = new URL(url)
      const sockets = new Set<Socket>()
      let isCut = false
      const cut = () => {
        isCut = true
        for (const socket of sockets) socket.destroy()
      }
      const server = createServer((near) => {
        const far = connect(Number(port), hostname)
        for (const [socket, other] of [[near, far], [far, near]] as const) {
          sockets.add(socket)
          socket.pipe(other)
          socket.on("error", () => other.destroy()).on("close", () => {
            sockets.delete(socket)
            other.destroy()
          })
        }
        if (isCut) near.destroy()
      })
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        resume(Effect.succeed({
          url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`,
          cut: Effect.sync(cut),
          mend: Effect.sync(() => {
            isCut = false
          }),
          close: () => {
            cut()
            server.close()
          }
        }))
      })
    }),
    ({ close }) => Effect.sync(close)
  )
