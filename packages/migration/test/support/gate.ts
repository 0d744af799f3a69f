import { Effect } from "effect"
import { createServer, request as send, type Server } from "node:http"
import type { AddressInfo } from "node:net"

const close = (server: Server) =>
  Effect.async<void>((resume) => {
    server.closeAllConnections()
    server.close(() => resume(Effect.void))
  })

/**
 * A gate before an authorization server. It passes token requests on, refuses the client, or resets the connections. It counts the
 * requests that failed because of it.
 */
export const startGate = Effect.fnUntraced(function*(target: string) {
  const gate = { mode: "open" satisfies string as "open" | "refuse" | "dead", failed: 0 }
  const server = createServer((request, response) => {
    if (gate.mode === "dead") {
      gate.failed++
      request.socket.destroy()
      return
    }
    if (gate.mode === "refuse") {
      gate.failed++
      request.resume().on("end", () => {
        response.writeHead(401, { "content-type": "application/json" })
        response.end(JSON.stringify({ error: "invalid_client", error_description: "refused by the gate" }))
      })
      return
    }
    const { headers, method = "POST", url = "/" } = request
    request.pipe(send(`${target}${url}`, { method, headers }, (upstream) => {
      response.writeHead(upstream.statusCode ?? 502, upstream.headers)
      upstream.pipe(response)
    }))
  })
  yield* Effect.acquireRelease(
    Effect.async<void>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.void))
    }),
    () => close(server)
  )
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a server that listens on a port has an address
  const { port } = server.address() as AddressInfo
  return Object.assign(gate, { url: `http://127.0.0.1:${port}` })
})
