import { AccessTokens } from "@credit-data/core"
import { DataAccess } from "@credit-data/http-client"
import { isRequestError } from "@credit-data/test-support/httpErrors"
import { FetchHttpClient, HttpBody, type HttpClient, HttpClientRequest } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Layer, Redacted, Stream } from "effect"
import { createServer, type Server, type Socket } from "node:net"
import { inspect } from "node:util"
import { canary } from "../src/canaries.ts"
import { losesEarlyAnswer } from "../src/platform.ts"

/** The transports that keep connections open between calls. */
const keeping: ReadonlyArray<readonly [name: string, transport: Layer.Layer<HttpClient.HttpClient>]> = [
  ["fetch", FetchHttpClient.layer],
  [
    "node:http, keep-alive",
    Layer.provide(NodeHttpClient.layerWithoutAgent, NodeHttpClient.makeAgentLayer({ keepAlive: true }))
  ],
  ["undici", NodeHttpClient.layerUndici]
]

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

describe.each(keeping)("a server that closes idle connections, over %s", (_, transport) => {
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

describe.each([
  ...keeping,
  ["node:http", NodeHttpClient.layer] as const
])("an API that sends back the raw request, over %s", (_, transport) => {
  for (
    const [name, answer] of [
      ["in place of HTTP", (request: Buffer) => request],
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
          socket.once("data", (request) => socket.end(answer(Buffer.from(request))))
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

describe.each([
  ...keeping,
  ["node:http", NodeHttpClient.layer] as const
])("a 401 that arrives before a streamed upload is read, over %s", (name, transport) => {
  const isLost = losesEarlyAnswer && name.startsWith("node:http")
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
        if (isLost) assert(outcome._tag === "Left" && isRequestError(outcome.left))
        else assert(outcome._tag === "Right" && outcome.right.status === 401)
      })
  )
})
