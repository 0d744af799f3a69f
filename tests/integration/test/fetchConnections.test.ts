import { AccessTokens } from "@credit-data/core"
import { DataAccess, Fetch } from "@credit-data/http-client"
import { FetchHttpClient, type HttpClient } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schedule } from "effect"
import { createServer } from "node:http"
import type { Socket } from "node:net"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { listen } from "../src/tls.ts"
import { tested, type TransportName } from "../src/transports.ts"

const keeping: ReadonlyArray<readonly [name: TransportName, transport: Layer.Layer<HttpClient.HttpClient>]> = tested([
  ["fetch", FetchHttpClient.layer],
  [
    "node:http",
    Layer.provide(
      NodeHttpClient.layerWithoutAgent,
      NodeHttpClient.makeAgentLayer({ keepAlive: true, maxSockets: 4 })
    )
  ],
  ["undici", NodeHttpClient.layerUndici]
])

/** The caller of a `fetch` aborts it with its own controller, outside of Effect. */
const callerAbort = () => new AbortController()

/** Larger than what a transport and a socket read ahead. */
const body = Buffer.alloc(2 * 1024 * 1024, "a")

/** A server whose path is the status that it responds with. Returns its port, and how many connections it has had and has open. */
const serve = Effect.gen(function*() {
  const open = new Set<Socket>()
  let connections = 0
  const server = createServer((request, response) => {
    const status = Number(request.url?.slice(1))
    response.writeHead(status, status === 200 ? { "content-length": body.length } : {}).end(
      status === 200 && request.method !== "HEAD" ? body : undefined
    )
  })
  server.on("connection", (socket: Socket) => {
    connections++
    open.add(socket)
    socket.on("close", () => open.delete(socket))
  })
  const port = yield* listen(server)
  return { port, connections: () => connections, open: () => open.size }
})

const fetchOver = Effect.fnUntraced(function*(port: number, transport: Layer.Layer<HttpClient.HttpClient>) {
  const context = yield* Layer.build(
    DataAccess.layer().pipe(
      Layer.provide([AccessTokens.layerTest({ environment: { baseUrl: `http://127.0.0.1:${port}` } }), transport])
    )
  )
  return yield* Effect.provide(Effect.flatMap(DataAccess.DataAccess, Fetch.make), context)
})

const branches = (response: Response) => {
  assert(response.body !== null)
  return response.body.tee()
}

const readerOf = (response: Response) => {
  assert(response.body !== null)
  return response.body.getReader()
}

type Use = (response: Response, controller: AbortController) => Promise<unknown>

const uses: ReadonlyArray<readonly [how: string, path: string, method: string, use: Use]> = [
  ["a 204", "/204", "GET", () => Promise.resolve()],
  ["a 304", "/304", "GET", () => Promise.resolve()],
  ["a HEAD", "/200", "HEAD", () => Promise.resolve()],
  ["a body that is read", "/200", "GET", (response) => response.text()],
  ["a clone, both read", "/200", "GET", (response) => Promise.all([response.clone().text(), response.text()])],
  ["a body that is cancelled", "/200", "GET", (response) => response.body?.cancel() ?? Promise.resolve()],
  ["a body whose branches of tee are read", "/200", "GET", (response) => {
    const [one, other] = branches(response)
    return Promise.all([new Response(one).text(), new Response(other).text()])
  }],
  ["a body whose branches of tee are cancelled", "/200", "GET", (response) => {
    const [one, other] = branches(response)
    return Promise.all([one.cancel(), other.cancel()])
  }],
  ["a body that is cancelled within", "/200", "GET", async (response) => {
    const reader = readerOf(response)
    await reader.read()
    await reader.cancel()
  }],
  ["an abort within the body", "/200", "GET", async (response, controller) => {
    await readerOf(response).read()
    controller.abort()
  }],
  ["an abort before the body is read", "/200", "GET", (_, controller) => Promise.resolve(controller.abort())]
]

/** Afterwards no caller has the response. */
const forgotten: ReadonlyArray<readonly [how: string, use: Use]> = [
  ["never read", () => Promise.resolve()],
  ["read in part", (response) => readerOf(response).read()],
  ["cloned, and neither is read", (response) => Promise.resolve(void response.clone())],
  ["divided by tee, and neither is read", (response) => Promise.resolve(void branches(response))]
]

setFlagsFromString("--expose-gc")
const collect: () => void = runInNewContext("gc")

/** Collects unreachable values until at most this many connections are open. */
const untilFew = (open: () => number) =>
  Effect.sync(() => {
    collect()
    return open()
  }).pipe(
    Effect.repeat({ until: (count) => count <= 2, schedule: Schedule.spaced("20 millis") }),
    Effect.timeout("4 seconds"),
    Effect.ignore
  )

describe.each(keeping)("the connection of a response of Fetch.make, over %s", (_, transport) => {
  for (const [how, path, method, use] of uses) {
    it.scopedLive(`is free or closed after ${how}`, () =>
      Effect.gen(function*() {
        const { open, port } = yield* serve
        const fetch = yield* fetchOver(port, transport)
        for (let call = 0; call < 12; call++) {
          const controller = callerAbort()
          const response = yield* Effect.promise(() => fetch(path, { method, signal: controller.signal })).pipe(
            Effect.timeout("3 seconds")
          )
          yield* Effect.promise(() => use(response, controller))
        }
        yield* untilFew(open)
        assert.isAtMost(open(), 2)
      }))
  }

  for (const [how, use] of forgotten) {
    it.scopedLive(`is free or closed after a response that is ${how}, and is collected`, () =>
      Effect.gen(function*() {
        const { open, port } = yield* serve
        const fetch = yield* fetchOver(port, transport)
        for (let call = 0; call < 4; call++) {
          yield* Effect.promise(() => fetch("/200").then((response) => use(response, callerAbort()))).pipe(
            Effect.asVoid
          )
        }
        yield* untilFew(open)
        assert.isAtMost(open(), 2)
      }))
  }
})
