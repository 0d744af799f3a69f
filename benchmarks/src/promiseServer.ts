// The service that programs without Effect call. It runs in a separate process, and each response has its length, because a connection
// whose body is chunked costs each client more.

import { createServer } from "node:http"
import { listen } from "./listen.ts"
import { downloadBytes } from "./promiseCalls.ts"

const token = JSON.stringify({ access_token: "benchmark-token", expires_in: 86_400, token_type: "Bearer" })
const body = JSON.stringify({ group: "Data Access", id: 42, name: "x".repeat(300) })
const chunk = Buffer.alloc(64 * 1024, 1)

const server = createServer((request, response) => {
  const send = (text: string) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": text.length })
    response.end(text)
  }
  // calls that wait
  if (request.url === "/silent") return
  request.resume().on("end", () => {
    if (request.url === "/oauth2/token") return send(token)
    if (request.url !== "/download") return send(body)
    response.writeHead(200, { "content-type": "application/octet-stream", "content-length": downloadBytes })
    let left = downloadBytes
    const write = () => {
      while (left > 0) {
        const part = chunk.subarray(0, left)
        left -= part.length
        if (!response.write(part)) return void response.once("drain", write)
      }
      response.end()
    }
    write()
  })
})
server.keepAliveTimeout = 60_000

listen(server)
