// A business API over TLS in a separate process. The arguments are the files of its certificate and key. Each response
// contains the number of connections so far.

import { readFileSync } from "node:fs"
import { createServer } from "node:https"
import { listen } from "./listen.ts"

const [cert = "", key = ""] = process.argv.slice(2).map((file) => readFileSync(file, "utf8"))

let connections = 0

const server = createServer({ cert, key }, (request, response) => {
  request.resume().on("end", () => {
    response.writeHead(200, { "content-type": "application/json", "x-connections": connections })
    response.end(JSON.stringify({ group: "Data Access", id: 42 }))
  })
})

server.on("secureConnection", () => connections++)

listen(server, "https")
