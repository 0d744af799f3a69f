import { kindOf } from "@credit-data/test-support/httpErrors"
import { sample } from "@credit-data/test-support/searches"
import { HttpBody, HttpClientRequest } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Data, Deferred, Effect, Exit, Fiber, Stream } from "effect"
import { changed, requestToken, withDataAccess } from "../src/clients.ts"
import { bodies, forwarded, isReceived, isSendable, methods } from "../src/framing.ts"
import { granted, respond, serveSockets } from "../src/servers.ts"
import { keeping } from "../src/transports.ts"

class EndedEarly extends Data.TaggedError("EndedEarly")<{ readonly message: string }> {}

/** A request as a server reads it from its connection. */
interface Received {
  readonly line: string
  readonly body: string
}

/** Reads one request from the beginning of the bytes, or nothing if it is not complete. */
const parse = (bytes: string): readonly [request: Received, rest: string] | undefined => {
  const end = bytes.indexOf("\r\n\r\n")
  if (end < 0) return undefined
  const [first = "", ...lines] = bytes.slice(0, end).split("\r\n")
  const line = first.replace(" HTTP/1.1", "")
  const headers = lines.map((header) => header.toLowerCase())
  const rest = bytes.slice(end + 4)
  if (headers.includes("transfer-encoding: chunked")) {
    const last = rest.indexOf("0\r\n\r\n")
    return last < 0 ? undefined : [{ line, body: rest.slice(0, last) }, rest.slice(last + 5)]
  }
  const length = Number(headers.find((header) => header.startsWith("content-length: "))?.split(" ")[1] ?? 0)
  return rest.length < length ? undefined : [{ line, body: rest.slice(0, length) }, rest.slice(length)]
}

/** A server on a raw socket that follows the framing of what it receives, and responds to each request with its number. */
const serve = Effect.gen(function*() {
  const received: Array<Received> = []
  const url = yield* serveSockets((socket) => {
    let bytes = ""
    socket.on("data", (data) => {
      bytes += data.toString("latin1")
      for (let next = parse(bytes); next !== undefined; next = parse(bytes)) {
        bytes = next[1]
        const number = received.push(next[0])
        const response = respond(JSON.stringify({ ...granted(1), number }), `X-Number: ${number}`)
        socket.write(next[0].line.startsWith("HEAD") ? response.replace(/(?<=\r\n\r\n).*/, "") : response)
      }
    })
  })
  return { url, received }
})

describe.each(keeping({ maxSockets: 1 }))("a server on a raw socket, over %s", (name, transport) => {
  const cases = methods.flatMap((method) => forwarded.map((headers) => ({ method, headers })))
  for (const [start, body] of bodies.filter((body) => isSendable(name, body)).entries()) {
    it.scopedLive(`reads one request from each call with ${body.name}, whatever its method and its forwarded headers`, () =>
      Effect.gen(function*() {
        const { received, url } = yield* serve
        yield* withDataAccess(url, transport, (client) =>
          Effect.gen(function*() {
            for (const { headers, method } of sample(cases, start)) {
              const before = HttpClientRequest.make(method)("/a", { headers, body: body.body() })
              const after = HttpClientRequest.make(method)("/a", { body: body.body() }).pipe(
                HttpClientRequest.setHeaders(headers)
              )
              for (const request of "content-length" in headers ? [before, after] : [before]) {
                received.length = 0
                // reading the body frees the only connection
                const exit = yield* client.execute(request).pipe(
                  Effect.tap(({ text }) => Effect.ignore(text)),
                  Effect.timeout("5 seconds"),
                  Effect.exit
                )
                const next = yield* Effect.timeout(client.get("/next"), "5 seconds")
                yield* next.text
                const isExpected = isReceived(name, method, body)
                const which = `${method} with ${JSON.stringify(headers)}`
                const lines = [...isExpected ? [`${method} /a`] : [], "GET /next"]
                assert.deepStrictEqual(received.map(({ line }) => line), lines, which)
                assert.strictEqual(Exit.isSuccess(exit), isExpected, which)
                // each caller has its own response
                assert.strictEqual(next.headers["x-number"], String(lines.length), which)
                if (!Exit.isSuccess(exit)) continue
                assert.strictEqual(exit.value.headers["x-number"], "1", which)
                assert.match(received[0]?.body ?? "none", body.received, which)
              }
            }
          }))
      }))
  }

  it.scopedLive("fails a call whose stream fails in an uninterruptible region too, as in a finalizer", () =>
    Effect.gen(function*() {
      const { url } = yield* serve
      const lines = Stream.concat(
        Stream.make(new Uint8Array(9)),
        Stream.fail(new EndedEarly({ message: "it has ended" }))
      )
      yield* withDataAccess(url, transport, (client) =>
        Effect.gen(function*() {
          const call = Effect.uninterruptible(client.post("/a", { body: HttpBody.stream(lines) }))
          const fiber = yield* Effect.forkDaemon(Effect.flip(call))
          const error = yield* Effect.timeout(Fiber.join(fiber), "5 seconds")
          assert.strictEqual(kindOf(error), "RequestError Encode")
        }))
    }))

  it.scopedLive("ends a call whose stream is sent in an uninterruptible region, or in a finalizer", () =>
    Effect.gen(function*() {
      const { received, url } = yield* serve
      yield* withDataAccess(url, transport, (client) =>
        Effect.gen(function*() {
          const call = client.post("/a", { body: HttpBody.stream(Stream.make(new Uint8Array(9))) })
          const free = Effect.flatMap(call, ({ text }) => text)
          for (
            const upload of [
              Effect.uninterruptible(free),
              Effect.scoped(Effect.addFinalizer(() => Effect.orDie(free)))
            ]
          ) {
            yield* Effect.timeout(Fiber.join(yield* Effect.forkDaemon(upload)), "5 seconds")
          }
        }))
      assert.lengthOf(received, 2)
    }))

  it.scopedLive("reads no request from a call whose stream fails, and its caller gets the failure of the stream", () =>
    Effect.gen(function*() {
      const { received, url } = yield* serve
      const line = new TextEncoder().encode("a line of a batch\n")
      const lines = Stream.concat(
        Stream.make(line, line, line),
        Stream.fail(new EndedEarly({ message: "the file has ended early" }))
      )
      yield* withDataAccess(url, transport, (client) =>
        Effect.gen(function*() {
          const error = yield* Effect.flip(client.post("/a", { body: HttpBody.stream(lines) }))
          assert.strictEqual(kindOf(error), "RequestError Encode")
          assert.include(String(Object(error).cause ?? Object(error).reason.cause), "the file has ended early")
        }))
      assert.deepStrictEqual(received, [])
    }))

  it.scopedLive("reads no request from a call that is interrupted while it streams its body", () =>
    Effect.gen(function*() {
      const { received, url } = yield* serve
      const begun = yield* Deferred.make<void>()
      const body = HttpBody.stream(
        Stream.concat(
          Stream.make(new Uint8Array(10)),
          Stream.fromEffect(Effect.zipRight(Deferred.succeed(begun, undefined), Effect.never))
        )
      )
      yield* withDataAccess(url, transport, (client) =>
        Effect.gen(function*() {
          const upload = yield* Effect.fork(client.post("/a", { body }))
          yield* Deferred.await(begun)
          yield* Fiber.interrupt(upload)
          yield* client.get("/next")
        }))
      assert.deepStrictEqual(received.map(({ line }) => line), ["GET /next"])
    }))

  it.scopedLive("reads the whole form of a token request from a client that adds a wrong Content-Length", () =>
    Effect.gen(function*() {
      const { received, url } = yield* serve
      const adding = changed(transport, HttpClientRequest.setHeader("content-length", "5"))
      yield* Effect.replicateEffect(requestToken(url, adding), 2)
      assert.strictEqual(received.length, 2)
      for (const { body, line } of received) {
        assert.strictEqual(line, "POST /oauth2/token")
        assert.match(body, /^client_id=id&client_secret=.*&grant_type=client_credentials$/)
      }
    }))
})
