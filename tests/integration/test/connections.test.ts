import { AuthV2 } from "@credit-data/auth-v2"
import { AccessTokens } from "@credit-data/core"
import { DataAccess } from "@credit-data/http-client"
import { isRequestError } from "@credit-data/test-support/httpErrors"
import { FetchHttpClient, HttpBody, type HttpClient, HttpClientRequest } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Deferred, Duration, Effect, Either, Exit, Fiber, Layer, Redacted, Schedule, Stream } from "effect"
import { createServer as createHttpServer } from "node:http"
import { createServer, type Server, type Socket } from "node:net"
import { inspect } from "node:util"
import { canary } from "../src/canaries.ts"
import { losesEarlyResponse } from "../src/platform.ts"
import { granted } from "../src/serverInMemory.ts"
import { listen } from "../src/tls.ts"
import { tested, type TransportName } from "../src/transports.ts"

/** The transports that keep connections open between calls. */
const keeping: ReadonlyArray<readonly [name: TransportName, transport: Layer.Layer<HttpClient.HttpClient>]> = tested([
  ["fetch", FetchHttpClient.layer],
  [
    "node:http",
    Layer.provide(NodeHttpClient.layerWithoutAgent, NodeHttpClient.makeAgentLayer({ keepAlive: true }))
  ],
  ["undici", NodeHttpClient.layerUndici]
])

const serve = (onConnection: (socket: Socket) => void) =>
  Effect.acquireRelease(
    Effect.async<Server>((resume) => {
      const server = createServer(onConnection)
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.sync(() => server.close())
  ).pipe(Effect.map((server) => {
    const address = server.address()
    return typeof address === "object" && address !== null ? address.port : 0
  }))

const calls = <A, E>(
  port: number,
  transport: Layer.Layer<HttpClient.HttpClient>,
  use: (client: Effect.Effect.Success<typeof DataAccess.DataAccess>) => Effect.Effect<A, E>
) =>
  Effect.flatMap(DataAccess.DataAccess, use).pipe(Effect.provide(
    DataAccess.layer().pipe(
      Layer.provide([
        AccessTokens.layerTest({
          secret: Redacted.make(canary),
          environment: { baseUrl: `http://127.0.0.1:${port}` }
        }),
        transport
      ])
    )
  ))

describe.concurrent.each(keeping)("a server that closes idle connections, over %s", (_, transport) => {
  /** Starts a server that resets a connection when it is used again, but never twice in a row. */
  const setUp = Effect.gen(function*() {
    const received: Array<string> = []
    let hasReset = false
    const port = yield* serve((socket) => {
      let requests = 0
      socket.on("error", () => socket.destroy())
      socket.on("data", (data) => {
        received.push(data.toString("latin1").split("\r\n")[0] ?? "")
        hasReset = ++requests > 1 && !hasReset
        if (hasReset) socket.resetAndDestroy()
        else socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
      })
    })
    return { port, received }
  })

  it.scopedLive("causes no failure of a GET or of a call with an Idempotency-Key", () =>
    Effect.gen(function*() {
      const { port, received } = yield* setUp
      const requests = [
        HttpClientRequest.get("/a"),
        HttpClientRequest.options("/a"),
        HttpClientRequest.post("/a", { headers: { "idempotency-key": "1" } })
      ]
      yield* calls(port, transport, (client) =>
        Effect.forEach(
          Array.from({ length: 30 }, (_, index) => requests[index % 3] ?? HttpClientRequest.get("/a")),
          (request) => Effect.flatMap(client.execute(request), ({ text }) => text)
        ))
      assert.isAbove(received.length, 30, "some met a connection that was closed")
      assert.isAtMost(received.length, 60, "each was sent twice at most")
    }))

  it.scopedLive("never receives a POST without a key twice; the caller gets the error", () =>
    Effect.gen(function*() {
      const { port, received } = yield* setUp
      const exits = yield* calls(port, transport, (client) =>
        Effect.forEach(
          Array.from({ length: 10 }, (_, index) => index),
          (index) => Effect.exit(Effect.flatMap(client.post(`/${index}`), ({ text }) => text))
        ))
      assert.strictEqual(new Set(received).size, received.length)
      assert.isTrue(exits.some(Exit.isFailure))
    }))
})

const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

/** As docs/network.md recommends: idle connections are closed before a server or a firewall does so. */
const recommended = Layer.provide(
  NodeHttpClient.layerWithoutAgent,
  NodeHttpClient.makeAgentLayer({ keepAlive: true, timeout: 4_000 })
)

describe.concurrent.each(
  tested([
    ["fetch", FetchHttpClient.layer],
    ["node:http", recommended],
    ["undici", NodeHttpClient.layerUndici]
  ])
)("dead kept connections, over %s", (_, transport) => {
  it.scopedLive("20 GETs in a row succeed although each second use of a connection is reset", () =>
    Effect.gen(function*() {
      const port = yield* serve((socket) => {
        let requests = 0
        socket.on("error", () => socket.destroy())
        socket.on("data", () => {
          if (++requests > 1) socket.resetAndDestroy()
          else socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        })
      })
      const exits = yield* calls(
        port,
        transport,
        (client) => Effect.replicateEffect(Effect.exit(Effect.flatMap(client.get("/a"), ({ text }) => text)), 20)
      )
      assert.strictEqual(exits.filter(Exit.isSuccess).length, 20)
    }))

  it.scopedLive("six GETs in a row succeed after a firewall has dropped six idle connections", () =>
    Effect.gen(function*() {
      let hasDropped = false
      const sockets = new Set<Socket>()
      const waiting: Array<Socket> = []
      const port = yield* serve((socket) => {
        const isOld = !hasDropped
        sockets.add(socket)
        socket.on("close", () => sockets.delete(socket))
        socket.on("error", () => socket.destroy())
        socket.on("data", () => {
          // a firewall responds for a dropped connection when it is used, not before
          if (hasDropped && isOld) socket.resetAndDestroy()
          else if (hasDropped) socket.write(ok)
          // six connections are open before the first response
          else if (waiting.push(socket) === 6) { for (const each of waiting) each.write(ok) }
        })
      })
      const get = (client: Parameters<Parameters<typeof calls>[2]>[0]) =>
        Effect.exit(Effect.flatMap(client.get("/a"), ({ text }) => text))
      const exits = yield* calls(port, transport, (client) =>
        Effect.gen(function*() {
          yield* Effect.all(Array.from({ length: 6 }, () => get(client)), { concurrency: "unbounded" })
          hasDropped = true
          // the client closes what it no longer uses
          yield* Effect.repeat(Effect.sync(() => sockets.size), {
            until: (open) => open === 0,
            schedule: Schedule.spaced("50 millis")
          })
          return yield* Effect.replicateEffect(get(client), 6)
        }))
      assert.strictEqual(exits.filter(Exit.isSuccess).length, 6)
    }))
})

describe("ten calls with a revoked token over four connections to one host", () => {
  it.scopedLive("get the replacement, because no 401 keeps the connection that the token request needs", () =>
    Effect.gen(function*() {
      let tokens = 0
      // the bodies of the 401s are larger than what a socket buffers
      const refused = "x".repeat(300_000)
      const server = createHttpServer((request, response) => {
        if (request.url === "/oauth2/token") {
          request.resume()
          response.end(JSON.stringify({ ...granted(0), access_token: `token-${++tokens}` }))
        } else if (request.headers.authorization === "Bearer token-1") response.writeHead(401).end(refused)
        else response.end("ok")
      })
      const port = yield* listen(server)
      const url = `http://127.0.0.1:${port}`
      const agent = NodeHttpClient.makeAgentLayer({ keepAlive: true, maxSockets: 4 })
      const Auth = AuthV2.layer({
        environment: { name: "one host", audience: "a", baseUrl: url, authV2Url: url },
        credentials: { clientId: "id", clientSecret: Redacted.make("a secret") },
        scopes: ["data-access:all"]
      })
      const Clients = DataAccess.layer().pipe(
        Layer.provide(Auth),
        Layer.provide(Layer.provide(NodeHttpClient.layerWithoutAgent, agent))
      )
      const statuses = yield* Effect.flatMap(DataAccess.DataAccess, (client) =>
        Effect.all(
          Array.from({ length: 10 }, () =>
            Effect.flatMap(client.get("/a"), (response) => Effect.as(response.text, response.status))),
          { concurrency: "unbounded" }
        )).pipe(Effect.provide(Clients))
      assert.deepStrictEqual(statuses, Array.from({ length: 10 }, () => 200))
      assert.strictEqual(tokens, 2)
    }))

  it.scopedLive("end at once when they are interrupted while the body of a 401 stalls", () =>
    Effect.gen(function*() {
      const arrived = yield* Deferred.make<void>()
      const closed = yield* Deferred.make<void>()
      const port = yield* serve((socket) => {
        socket.on("error", () => socket.destroy())
        socket.on("close", () => Deferred.unsafeDone(closed, Effect.void))
        socket.on("data", () => {
          socket.write("HTTP/1.1 401 Unauthorized\r\nContent-Length: 9\r\n\r\nx")
          Deferred.unsafeDone(arrived, Effect.void)
        })
      })
      yield* calls(port, NodeHttpClient.layer, (client) =>
        Effect.gen(function*() {
          const call = yield* Effect.fork(client.get("/a"))
          yield* Deferred.await(arrived)
          yield* Effect.sleep("50 millis")
          const [took] = yield* Effect.timed(Fiber.interrupt(call))
          // a second is the time that a body gets
          assert.isBelow(Duration.toMillis(took), 800)
          yield* Deferred.await(closed)
        }))
    }))
})

describe.concurrent.each(keeping)("the 401 of a call without a replacement, over %s", (_, transport) => {
  const head = "HTTP/1.1 401 Unauthorized\r\nContent-Type: text/plain\r\n"
  const rows: ReadonlyArray<readonly [body: string, respond: (socket: Socket) => void, whole: string | undefined]> = [
    ["that is short", (socket) => socket.end(`${head}Content-Length: 4\r\n\r\nwhat`), "what"],
    ["that is empty", (socket) => socket.end(`${head}Content-Length: 0\r\n\r\n`), ""],
    [
      "of 64 KiB",
      (socket) => socket.end(`${head}Content-Length: 65536\r\n\r\n${"x".repeat(65_536)}`),
      "x".repeat(65_536)
    ],
    [
      "that is larger than 64 KiB",
      (socket) => socket.end(`${head}Content-Length: 65537\r\n\r\n${"x".repeat(65_537)}`),
      undefined
    ],
    ["that is cut", (socket) => socket.end(`${head}Content-Length: 9\r\n\r\nwhat`), undefined],
    ["that takes more than a second", (socket) => socket.write(`${head}Content-Length: 9\r\n\r\nwhat`), undefined]
  ]
  for (const [body, respond, whole] of rows) {
    it.scopedLive(`has a body ${body}, ${whole === undefined ? "which fails where it breaks off" : "unchanged"}`, () =>
      Effect.gen(function*() {
        const port = yield* serve((socket) => {
          socket.on("error", () => socket.destroy())
          socket.on("data", () => respond(socket))
        })
        yield* calls(port, transport, (client) =>
          Effect.gen(function*() {
            const first = yield* client.get("/a")
            yield* Effect.ignore(Effect.timeout(first.text, "1 millis"))
            // the last replacement was a moment ago, so this call has none
            const { status, text } = yield* client.get("/a")
            assert.strictEqual(status, 401)
            const read = yield* Effect.either(text)
            if (whole === undefined) assert.isTrue(Either.isLeft(read))
            else assert.strictEqual(Either.getOrThrow(read), whole)
          }))
      }))
  }
})

describe.concurrent.each([
  ...keeping,
  ["node:http", NodeHttpClient.layer] as const
])("an API that sends back the raw request, over %s", (_, transport) => {
  for (
    const [name, respond] of [
      ["instead of HTTP", (request: Buffer) => request],
      [
        "as a broken header line",
        (request: Buffer) => Buffer.concat([Buffer.from("HTTP/1.1 200 OK\r\n\0"), request])
      ],
      [
        "as the length of a chunk",
        (request: Buffer) =>
          Buffer.concat([Buffer.from("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"), request])
      ]
    ] as const
  ) {
    it.scopedLive(`the error shows no token when the request is sent back ${name}`, () =>
      Effect.gen(function*() {
        const port = yield* serve((socket) => {
          socket.on("error", () => socket.destroy())
          socket.once("data", (request) => socket.end(respond(Buffer.from(request))))
        })
        const exit = yield* Effect.exit(
          calls(port, transport, (client) => Effect.flatMap(client.get("/a"), ({ text }) => text))
        )
        assert(Exit.isFailure(exit))
        const shown = [
          inspect(exit, { depth: Infinity, showHidden: true, customInspect: false }),
          inspect(exit, { depth: Infinity }),
          JSON.stringify(exit),
          Cause.pretty(exit.cause, { renderErrorCause: true })
        ].join("\n")
        assert.notInclude(shown, canary)
        assert.notInclude(shown, Buffer.from(canary).toString("hex"))
        assert.notInclude(shown, Array.from(Buffer.from(canary)).join(", "))
      }))
  }
})

describe.concurrent.each([
  ...keeping,
  ["node:http", NodeHttpClient.layer] as const
])("a 401 that arrives before a streamed upload is read, over %s", (name, transport) => {
  const isLost = losesEarlyResponse && name.startsWith("node:http")
  it.scopedLive(
    isLost ? "is lost in the error of the upload" : "is returned to the caller",
    () =>
      Effect.gen(function*() {
        const port = yield* serve((socket) => {
          socket.on("error", () => socket.destroy())
          socket.once("data", () => {
            socket.end("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            socket.destroySoon()
          })
        })
        const body = HttpBody.stream(Stream.map(Stream.range(1, 2_000), () => new Uint8Array(10_000)))
        const outcome = yield* calls(port, transport, (client) => Effect.either(client.post("/a", { body })))
        if (isLost) assert.isTrue(isRequestError(Either.getOrThrow(Either.flip(outcome))))
        else assert.strictEqual(Either.getOrThrow(outcome).status, 401)
      })
  )
})
