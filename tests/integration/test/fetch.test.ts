import { AccessTokens } from "@credit-data/core"
import { CallError, Fetch } from "@credit-data/http-client"
import { listen } from "@credit-data/test-support/listen"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Schedule, Scope } from "effect"
import { createServer } from "node:http"
import type { Socket } from "node:net"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { callerAbort } from "../src/clients.ts"

/** Larger than what a transport and a socket read ahead. */
const body = Buffer.alloc(2 * 1024 * 1024, "a")

/**
 * A server whose path is the status that it responds with, or `/stalls` for a body that does not end, and a `fetch` to it with its own
 * scope. Returns too how many connections are open.
 */
const setUp = Effect.gen(function*() {
  const connections = new Set<Socket>()
  const server = createServer((request, response) => {
    if (request.url === "/stalls") return void response.writeHead(200, { "content-length": 9 }).write("part")
    const status = Number(request.url?.slice(1))
    response.writeHead(status, status === 200 ? { "content-length": body.length } : {}).end(
      status === 200 && request.method !== "HEAD" ? body : undefined
    )
  })
  server.on("connection", (socket: Socket) => {
    connections.add(socket)
    socket.on("close", () => connections.delete(socket))
  })
  const tokens = AccessTokens.layerTest({ environment: { baseUrl: `http://127.0.0.1:${yield* listen(server)}` } })
  const scope = yield* Scope.make()
  const fetch = yield* Fetch.make({ name: "Data Access", scope: "data-access:all" }).pipe(
    Effect.provide(yield* Layer.build(tokens)),
    Scope.extend(scope)
  )
  return { fetch, close: Scope.close(scope, Exit.void), open: () => connections.size }
})

const bodyOf = ({ body }: Response) => {
  assert(body !== null)
  return body
}

type Use = (response: Response, controller: AbortController) => unknown

const uses: ReadonlyArray<readonly [how: string, path: string, method: string, use: Use]> = [
  ["a 204", "/204", "GET", () => {}],
  ["a 304", "/304", "GET", () => {}],
  ["a HEAD", "/200", "HEAD", () => {}],
  ["a body that is read", "/200", "GET", (response) => response.text()],
  ["a clone, both read", "/200", "GET", (response) => Promise.all([response.clone().text(), response.text()])],
  ["a body that is cancelled", "/200", "GET", (response) => bodyOf(response).cancel()],
  [
    "a body whose branches of tee are cancelled",
    "/200",
    "GET",
    (response) => Promise.all(bodyOf(response).tee().map((branch) => branch.cancel()))
  ],
  ["an abort within the body", "/200", "GET", async (response, controller) => {
    await bodyOf(response).getReader().read()
    controller.abort()
  }],
  ["an abort of a body that stalls", "/stalls", "GET", (_, controller) => controller.abort()]
]

/** Afterwards no caller has the response. */
const forgotten: ReadonlyArray<readonly [how: string, use: (response: Response) => unknown]> = [
  ["never read", () => {}],
  ["read in part", (response) => bodyOf(response).getReader().read()],
  ["cloned, and neither is read", (response) => void response.clone()]
]

setFlagsFromString("--expose-gc")
const collect: () => void = runInNewContext("gc")

/** Collects unreachable values until at most this many connections are open. */
const untilFew = (open: () => number, most: number) =>
  Effect.sync(() => {
    collect()
    return open()
  }).pipe(
    Effect.repeat({ until: (count) => count <= most, schedule: Schedule.spaced("20 millis") }),
    Effect.timeoutOption("20 seconds"),
    Effect.map(() => assert.isAtMost(open(), most, "connections that remain open"))
  )

describe("the connection of a response of Fetch.make", () => {
  for (const [how, path, method, use] of uses) {
    it.scopedLive(`is free or closed after ${how}`, () =>
      Effect.gen(function*() {
        const { fetch, open } = yield* setUp
        for (let call = 0; call < 12; call++) {
          const controller = callerAbort()
          const response = yield* Effect.promise(() => fetch(path, { method, signal: controller.signal })).pipe(
            Effect.timeout("3 seconds")
          )
          yield* Effect.promise(async () => use(response, controller))
        }
        yield* untilFew(open, 2)
      }))
  }

  for (const [how, use] of forgotten) {
    it.scopedLive(`is free or closed after a response that is ${how}, and is collected`, () =>
      Effect.gen(function*() {
        const { fetch, open } = yield* setUp
        for (let call = 0; call < 4; call++) {
          yield* Effect.asVoid(Effect.promise(() => fetch("/200").then(use)))
        }
        yield* untilFew(open, 2)
      }))
  }

  it.scopedLive("is closed when the scope of the fetch closes while the body stalls, and reading it rejects", () =>
    Effect.gen(function*() {
      const { close, fetch, open } = yield* setUp
      const response = yield* Effect.promise(() => fetch("/stalls"))
      const failure = response.text().catch((error: unknown) => error)
      yield* close
      const error = yield* Effect.promise(() => failure)
      assert(error instanceof CallError.CallError)
      assert.strictEqual(error.reason, "Closed")
      yield* untilFew(open, 0)
    }))
})
