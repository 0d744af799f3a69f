import type { Connection } from "@credit-data/promise"
import { once } from "node:events"
import type { Server } from "node:http"
import * as Net from "node:net"
import { log } from "./log.ts"
import { makeService } from "./service.ts"

/** Accepts no more connections, and responds on the open ones. It closes unused ones after 5 s, and all others after 20 s. */
const end = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    // `http.Server` would also close idle connections, on which a load balancer may just have sent a request
    Net.Server.prototype.close.call(server, () => resolve())
    setTimeout(() => server.closeIdleConnections(), 5_000).unref()
    setTimeout(() => server.closeAllConnections(), 20_000).unref()
  })

/** Runs the service on the port that PORT names, until the first SIGTERM, SIGINT or SIGHUP. Further signals change nothing. */
export const run = async (api: Connection): Promise<void> => {
  const port = Number(process.env["PORT"] ?? 3000)
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Error("PORT must be a port number")
  const server = makeService(api).listen(port)
  await once(server, "listening")
  log("INFO", `Listening on port ${port}`)
  await new Promise<void>((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => resolve())
  })
  await end(server)
  await api.close()
}
