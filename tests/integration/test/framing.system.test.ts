import { AccessTokens } from "@credit-data/core"
import { DataAccess } from "@credit-data/http-client"
import { HttpClientRequest } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { spawn } from "node:child_process"

/** A server of another language, which follows the Content-Length that it receives. It returns the requests that it has read. */
const program = `
import http.server, json
seen = []
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def respond(self):
        length = int(self.headers.get("Content-Length") or 0)
        seen.append([self.command, self.path, self.rfile.read(length).decode("latin1")])
        body = json.dumps(seen).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    do_GET = do_POST = respond
    def log_message(self, *_):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
`

const python = Effect.acquireRelease(
  Effect.async<{ readonly port: number; readonly stop: () => void }>((resume) => {
    const child = spawn("python3", ["-c", program], { stdio: ["ignore", "pipe", "inherit"] })
    child.stdout.once("data", (data) => resume(Effect.succeed({ port: Number(data), stop: () => child.kill() })))
  }),
  ({ stop }) => Effect.sync(stop)
)

describe("a Content-Length that a caller forwards to a server in Python", () => {
  it.scopedLive("does not change where the server sees the end of a request", () =>
    Effect.gen(function*() {
      const { port } = yield* python
      const agent = NodeHttpClient.makeAgentLayer({ keepAlive: true, maxSockets: 1 })
      const Clients = DataAccess.layer().pipe(
        Layer.provide([
          AccessTokens.layerTest({ environment: { baseUrl: `http://127.0.0.1:${port}` } }),
          Layer.provide(NodeHttpClient.layerWithoutAgent, agent)
        ])
      )
      const text = "AAAAA\r\nGET /second HTTP/1.1\r\nHost: a\r\n\r\n"
      const seen = yield* Effect.gen(function*() {
        const client = yield* DataAccess.DataAccess
        for (const length of ["5", "600"]) {
          const request = HttpClientRequest.post("/a").pipe(
            HttpClientRequest.bodyText(text),
            HttpClientRequest.setHeader("content-length", length)
          )
          yield* Effect.flatMap(client.execute(request), ({ text }) => text)
        }
        return yield* Effect.flatMap(client.get("/next"), ({ json }) => json)
      }).pipe(Effect.provide(Clients), Effect.timeout("10 seconds"))
      assert.deepStrictEqual(seen, [["POST", "/a", text], ["POST", "/a", text], ["GET", "/next", ""]])
    }))
})
