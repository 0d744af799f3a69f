import { Effect } from "effect"
import { connect, createServer, type Socket } from "node:net"

/** A TCP proxy in front of a port, which delays every response for some time. */
export const slowProxy = (target: number, delayMillis: number) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.async<{ readonly port: number; readonly close: () => void }>((resume) => {
        const sockets = new Set<Socket>()
        const server = createServer((client) => {
          const upstream = connect(target, "127.0.0.1")
          for (const socket of [client, upstream]) {
            sockets.add(socket)
            socket.on("error", () => socket.destroy())
            socket.on("close", () => {
              client.destroy()
              upstream.destroy()
            })
          }
          client.pipe(upstream)
          upstream.on("data", (data) => {
            setTimeout(() => client.write(data), delayMillis)
          })
        })
        server.listen(0, "127.0.0.1", () => {
          const address = server.address()
          const port = address !== null && typeof address === "object" ? address.port : 0
          resume(Effect.succeed({
            port,
            close: () => {
              server.close()
              for (const socket of sockets) socket.destroy()
            }
          }))
        })
      }),
      ({ close }) => Effect.sync(close)
    ),
    ({ port }) => ({ url: `redis://127.0.0.1:${port}` })
  )
