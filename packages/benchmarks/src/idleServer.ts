// A business API behind a reverse proxy that closes idle connections, in a process of its own. The argument is the time after
// which it does so, in milliseconds. `/twice` answers with the number of calls that were received more than once.

import { createServer } from "node:http"
import type { Socket } from "node:net"
import { listen } from "./listen.ts"

const idleTime = Number(process.argv[2])

const received = new Map<string, number>()
const closings = new WeakMap<Socket, NodeJS.Timeout>()

// Node's own timeout is turned off: some versions add a second to it.
const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
  const { socket } = request
  clearTimeout(closings.get(socket))
  response.on("finish", () => closings.set(socket, setTimeout(() => socket.destroy(), idleTime)))
  request.resume().on("end", () => {
    const id = request.headers["x-call"]
    if (typeof id === "string") received.set(id, (received.get(id) ?? 0) + 1)
    const twice = [...received.values()].filter((times) => times > 1).length
    response.writeHead(200, { "content-type": "application/json" })
    response.end(JSON.stringify(request.url === "/twice" ? { twice } : { id: 42 }))
  })
})

listen(server)
