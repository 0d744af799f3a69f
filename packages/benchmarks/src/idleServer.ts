// A business API behind a reverse proxy that closes idle connections, in a process of its own. The argument is the time after
// which it does so, in milliseconds. `/twice` answers with the number of calls that were received more than once.

import { createServer } from "node:http"
import { listen } from "./listen.ts"

const received = new Map<string, number>()

const server = createServer({ keepAliveTimeout: Number(process.argv[2]) }, (request, response) => {
  request.resume().on("end", () => {
    const id = request.headers["x-call"]
    if (typeof id === "string") received.set(id, (received.get(id) ?? 0) + 1)
    const twice = [...received.values()].filter((times) => times > 1).length
    // Node sends its timeout to the client unless a program sets this header. Most reverse proxies do not send one.
    response.writeHead(200, { "content-type": "application/json", connection: "keep-alive" })
    response.end(JSON.stringify(request.url === "/twice" ? { twice } : { id: 42 }))
  })
})

listen(server)
