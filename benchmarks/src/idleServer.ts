// A separate process that is a business API behind a reverse proxy that closes idle connections. The arguments are a time in
// milliseconds and `each` or `all`. With `each`, it closes a connection that was idle for that time. With `all`, it closes all
// idle connections at that interval. `/twice` returns the number of calls that were received more than once.

import { createServer } from "node:http"
import type { Socket } from "node:net"
import { listen } from "./listen.ts"

const [time, which] = process.argv.slice(2)

const received = new Map<string, number>()
/** The idle connections, with the timer that closes each of them. */
const idle = new Map<Socket, NodeJS.Timeout | undefined>()

// Node's own timeout is turned off, because some versions add a second to it.
const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
  const { socket } = request
  clearTimeout(idle.get(socket))
  idle.delete(socket)
  response.on("finish", () => {
    idle.set(socket, which === "each" ? setTimeout(() => socket.destroy(), Number(time)) : undefined)
  })
  request.resume().on("end", () => {
    const id = request.headers["x-call"]
    if (typeof id === "string") received.set(id, (received.get(id) ?? 0) + 1)
    const twice = [...received.values()].filter((times) => times > 1).length
    response.writeHead(200, { "content-type": "application/json" })
    response.end(JSON.stringify(request.url === "/twice" ? { twice } : { id: 42 }))
  })
})

server.on("connection", (socket) => socket.on("close", () => idle.delete(socket)))

if (which === "all") {
  setInterval(() => {
    for (const socket of idle.keys()) socket.destroy()
  }, Number(time))
}

listen(server)
