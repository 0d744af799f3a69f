import { Effect } from "effect"
import { connect, type Socket } from "node:net"
import { listenForSockets } from "./listen.ts"

/** A connection to a port of this machine that delays what the server sends, and that can be cut and mended. It has its own port. */
export const relay = (target: number, delayMillis = 0) =>
  Effect.gen(function*() {
    const clients = new Set<Socket>()
    let isCut = false
    const port = yield* listenForSockets((client) => {
      if (isCut) return client.destroy()
      const server = connect(target, "127.0.0.1")
      clients.add(client)
      client.pipe(server).on("error", () => client.destroy()).on("close", () => client.destroy())
      client.on("close", () => {
        clients.delete(client)
        server.destroy()
      })
      server.on("data", (data) => {
        if (delayMillis === 0) client.write(data)
        else setTimeout(() => client.write(data), delayMillis)
      })
      return client
    })
    return {
      port,
      cut: Effect.sync(() => {
        isCut = true
        for (const client of clients) client.destroy()
      }),
      mend: Effect.sync(() => {
        isCut = false
      })
    }
  })
