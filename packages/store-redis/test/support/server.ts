import { Effect } from "effect"
import { createServer, type Socket } from "node:net"

/** A server that sends this in response to whatever it receives. */
export const serverOf = (reply: string) =>
  Effect.acquireRelease(
    Effect.async<{ readonly url: string; readonly close: () => void }>((resume) => {
      const sockets = new Set<Socket>()
      const server = createServer((socket) => {
        sockets.add(socket.on("error", () => {}).on("data", () => socket.write(reply)))
      })
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = address !== null && typeof address === "object" ? address.port : 0
        const close = () => {
          server.close()
          for (const socket of sockets) socket.destroy()
        }
        resume(Effect.succeed({ url: `redis://127.0.0.1:${port}`, close }))
      })
    }),
    ({ close }) => Effect.sync(close)
  )
