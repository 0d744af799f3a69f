// A business API and a token endpoint. They run in a separate process, so that only the CPU of the client is measured.

import { createServer } from "node:http"
import { listen } from "./listen.ts"

const token = JSON.stringify({ access_token: "benchmark-token", expires_in: 86_400, token_type: "Bearer" })
const body = JSON.stringify({ group: "Data Access", id: 42 })

const server = createServer((request, response) => {
  request.resume().on("end", () => {
    response.writeHead(200, { "content-type": "application/json" })
    response.end(request.method === "POST" ? token : body)
  })
})

listen(server)
