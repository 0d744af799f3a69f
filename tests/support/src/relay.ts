import { Effect } from "effect"
import { connect, type Socket } from "node:net"
import { listenForSockets } from "./listen.ts"

/**
 * A connection to a port of this machine that delays what the server sends. It can be cut and mended, be frozen, and lead to another port. It
 * has its own port.
 */
export const relay = (target: number, delayMillis = 0) =>
  Effect.gen(function*() {
    const clients = new Set<Socket>()
    const frozen = new WeakSet<Socket>()
    let isCut = false
    let to = target
    const port = yield* listenForSockets((client) => {
      if (isCut) return client.destroy()
      const server = connect(to, "127.0.0.1")
      clients.add(client)
      client.on("data", (data) => frozen.has(client) || server.write(data))
      server.on("error", () => client.destroy()).on("close", () => frozen.has(client) || client.destroy())
      client.on("close", () => {
        clients.delete(client)
        server.destroy()
      })
      server.on("data", (data) => {
        if (frozen.has(client)) return
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
      }),
      /** Existing connections stay open, and nothing passes on them any more. New ones work. */
      freeze: Effect.sync(() => {
        for (const client of clients) frozen.add(client)
      }),
      /** New connections lead to this port. */
      leadTo: (port: number) =>
        Effect.sync(() => {
          to = port
        }),
      /** The connections at present. */
      connections: Effect.sync(() => clients.size)
    }
  })
