import { AuthV2 } from "@credit-data/auth-v2"
import { DataAccess } from "@credit-data/http-client"
import { isRequestError } from "@credit-data/test-support/httpErrors"
import { HttpBody, HttpClientRequest } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Either, Exit, Layer, Schedule, Stream } from "effect"
import type { Socket } from "node:net"
import { inspect } from "node:util"
import { canary } from "../src/canaries.ts"
import { optionsAt, withDataAccess } from "../src/clients.ts"
import { losesEarlyResponse } from "../src/platform.ts"
import { granted, respond, serveHttp, serveSockets } from "../src/servers.ts"
import { keeping } from "../src/transports.ts"

const ok = respond("ok")
const repeated = Schedule.spaced("50 millis")

describe.concurrent.each(keeping())("a server that closes idle connections, over %s", (_, transport) => {
  /** Starts a server that resets a connection when it is used again, but never twice in a row. */
  const setUp = Effect.gen(function*() {
    const received: Array<string> = []
    let hasReset = false
    const url = yield* serveSockets((socket) => {
      let requests = 0
      socket.on("data", (data) => {
        received.push(data.toString("latin1").split("\r\n")[0] ?? "")
        hasReset = ++requests > 1 && !hasReset
        if (hasReset) socket.resetAndDestroy()
        else socket.write(ok)
      })
    })
    return { url, received }
  })

  it.scopedLive("causes no failure of a GET or of a call with an Idempotency-Key", () =>
    Effect.gen(function*() {
      const { received, url } = yield* setUp
      const requests = [
        HttpClientRequest.get("/a"),
        HttpClientRequest.options("/a"),
        HttpClientRequest.post("/a", { headers: { "idempotency-key": "1" } })
      ]
      yield* withDataAccess(url, transport, (client) =>
        Effect.forEach(
          Array.from({ length: 10 }, () => requests).flat(),
          (request) => Effect.flatMap(client.execute(request), ({ text }) => text)
        ))
      assert.isAbove(received.length, 30, "some met a connection that was closed")
      assert.isAtMost(received.length, 60, "each was sent twice at most")
    }))

  it.scopedLive("never receives a POST without a key twice; the caller gets the error", () =>
    Effect.gen(function*() {
      const { received, url } = yield* setUp
      const exits = yield* withDataAccess(url, transport, (client) =>
        Effect.forEach(
          Array.from({ length: 10 }, (_, index) => index),
          (index) => Effect.exit(Effect.flatMap(client.post(`/${index}`), ({ text }) => text))
        ))
      assert.strictEqual(new Set(received).size, received.length)
      assert.isTrue(exits.some(Exit.isFailure))
    }))
})

// as docs/network.md recommends: idle connections are closed before a server or a firewall does so
describe.concurrent.each(keeping({ timeout: 4_000 }))("dead kept connections, over %s", (_, transport) => {
  it.scopedLive("six GETs in a row succeed after a firewall has dropped six idle connections", () =>
    Effect.gen(function*() {
      let hasDropped = false
      const sockets = new Set<Socket>()
      const waiting: Array<Socket> = []
      const url = yield* serveSockets((socket) => {
        const isOld = !hasDropped
        sockets.add(socket)
        socket.on("close", () => sockets.delete(socket))
        socket.on("data", () => {
          // a firewall responds for a dropped connection when it is used, not before
          if (hasDropped && isOld) socket.resetAndDestroy()
          else if (hasDropped) socket.write(ok)
          // six connections are open before the first response
          else if (waiting.push(socket) === 6) { for (const each of waiting) each.write(ok) }
        })
      })
      yield* withDataAccess(url, transport, (client) =>
        Effect.gen(function*() {
          const get = Effect.flatMap(client.get("/a"), ({ text }) => text)
          yield* Effect.all(Array.from({ length: 6 }, () => get), { concurrency: "unbounded" })
          hasDropped = true
          // the client closes what it no longer uses
          yield* Effect.repeat(Effect.sync(() => sockets.size), { until: (open) => open === 0, schedule: repeated })
          yield* Effect.replicateEffect(get, 6)
        }))
    }))
})

describe("ten calls with a revoked token over four connections to one host", () => {
  it.scopedLive("get the replacement, because no 401 keeps the connection that the token request needs", () =>
    Effect.gen(function*() {
      let tokens = 0
      // the bodies of the 401s are larger than what a socket buffers
      const refused = "x".repeat(300_000)
      const url = yield* serveHttp((request, response) => {
        if (request.url === "/oauth2/token") {
          request.resume()
          response.end(JSON.stringify({ ...granted(0), access_token: `token-${++tokens}` }))
        } else if (request.headers.authorization === "Bearer token-1") response.writeHead(401).end(refused)
        else response.end("ok")
      })
      const agent = NodeHttpClient.makeAgentLayer({ keepAlive: true, maxSockets: 4 })
      const Clients = DataAccess.layer().pipe(
        Layer.provide(AuthV2.layer(optionsAt(url))),
        Layer.provide(Layer.provide(NodeHttpClient.layerWithoutAgent, agent))
      )
      const call = Effect.flatMap(DataAccess.DataAccess, (client) => client.get("/a"))
      const status = Effect.flatMap(call, (response) => Effect.as(response.text, response.status))
      const statuses = yield* Effect.all(Array.from({ length: 10 }, () => status), { concurrency: "unbounded" }).pipe(
        Effect.provide(Clients)
      )
      assert.deepStrictEqual(statuses, Array.from({ length: 10 }, () => 200))
      assert.strictEqual(tokens, 2)
    }))
})

describe.concurrent.each(keeping())("the 401 of a call without a replacement, over %s", (_, transport) => {
  const rows: ReadonlyArray<readonly [what: string, length: number, sent: string, ending: "End" | "Hang"]> = [
    ["of 64 KiB", 65_536, "x".repeat(65_536), "End"],
    ["that is cut", 9, "what", "End"],
    ["that takes more than a second", 9, "what", "Hang"]
  ]
  for (const [what, length, sent, ending] of rows) {
    const isWhole = length === sent.length && length <= 65_536
    it.scopedLive(`has a body ${what}, ${isWhole ? "unchanged" : "which fails where it breaks off"}`, () =>
      Effect.gen(function*() {
        const connection = ending === "End" ? "Connection: close\r\n" : ""
        const bytes = `HTTP/1.1 401 Unauthorized\r\n${connection}Content-Length: ${length}\r\n\r\n${sent}`
        const url = yield* serveSockets((socket) =>
          socket.on("data", () => ending === "End" ? socket.end(bytes) : socket.write(bytes))
        )
        yield* withDataAccess(url, transport, (client) =>
          Effect.gen(function*() {
            const first = yield* client.get("/a")
            yield* Effect.ignore(Effect.timeout(first.text, "1 millis"))
            // a renewal was forced a moment ago, so this call has only the tokens that it has tried
            const { status, text } = yield* client.get("/a")
            assert.strictEqual(status, 401)
            const read = yield* Effect.either(text)
            if (isWhole) assert.strictEqual(Either.getOrThrow(read), sent)
            else assert.isTrue(Either.isLeft(read))
          }))
      }))
  }
})

const everyWay = [...keeping(), ["node:http", NodeHttpClient.layer] as const]

describe.concurrent.each(everyWay)("an API that sends back the raw request, over %s", (_, transport) => {
  const beginnings = [
    ["instead of HTTP", ""],
    ["as the length of a chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"]
  ] as const
  for (const [name, beginning] of beginnings) {
    it.scopedLive(`the error shows no token when the request is sent back ${name}`, () =>
      Effect.gen(function*() {
        const url = yield* serveSockets((socket) =>
          socket.once("data", (request) => {
            socket.write(beginning)
            socket.end(request)
          })
        )
        const exit = yield* Effect.exit(
          withDataAccess(url, transport, (client) => Effect.flatMap(client.get("/a"), ({ text }) => text))
        )
        assert(Exit.isFailure(exit))
        const shown = [
          inspect(exit, { depth: Infinity, showHidden: true, customInspect: false }),
          inspect(exit, { depth: Infinity }),
          JSON.stringify(exit),
          Cause.pretty(exit.cause, { renderErrorCause: true })
        ].join("\n")
        const bytes = Buffer.from(canary)
        for (const form of [canary, bytes.toString("hex"), Array.from(bytes).join(", ")]) {
          assert.notInclude(shown, form)
        }
      }))
  }
})

describe.concurrent.each(everyWay)(
  "a 401 that arrives before a streamed upload is read, over %s",
  (name, transport) => {
    const isLost = losesEarlyResponse && name === "node:http"
    it.scopedLive(
      isLost ? "is lost in the error of the upload" : "is returned to the caller",
      () =>
        Effect.gen(function*() {
          const url = yield* serveSockets((socket) =>
            socket.once("data", () => {
              socket.end("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
              socket.destroySoon()
            })
          )
          const body = HttpBody.stream(Stream.map(Stream.range(1, 2_000), () => new Uint8Array(10_000)))
          const outcome = yield* withDataAccess(url, transport, (client) => Effect.either(client.post("/a", { body })))
          if (isLost) assert.isTrue(isRequestError(Either.getOrThrow(Either.flip(outcome))))
          else assert.strictEqual(Either.getOrThrow(outcome).status, 401)
        })
    )
  }
)

describe.concurrent.each(everyWay)("a 401 that arrives before a form is read, over %s", (_, transport) => {
  it.scopedLive("replaces the token, and the form is sent again", () =>
    Effect.gen(function*() {
      const tokens: Array<string> = []
      const url = yield* serveSockets((socket) =>
        socket.once("data", (data) => {
          tokens.push(/authorization: bearer (\S+)/i.exec(data.toString("latin1"))?.[1] ?? "none")
          if (tokens.length === 1) {
            socket.end("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            socket.destroySoon()
          } else {
            // reads the form first
            let length = data.length
            const respondAtEnd = () => {
              if (length > size) socket.end(respond("ok", "Connection: close"))
            }
            socket.on("data", (more) => {
              length += more.length
              respondAtEnd()
            })
            respondAtEnd()
          }
        })
      )
      const size = 500_000
      const body = HttpBody.formDataRecord({ file: new File(["a".repeat(size)], "a.txt") })
      const { status } = yield* withDataAccess(url, transport, (client) => client.post("/a", { body }))
      assert.strictEqual(status, 200)
      assert.deepStrictEqual(tokens, [canary, `${canary}-2`])
    }))
})
