import { Fault, type Received, Simulator } from "@credit-data/simulator"
import { HttpServerResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Option, Redacted, Schedule, Stream } from "effect"
import { connect } from "node:net"
import { read, Test } from "./support/admin.ts"
import { form, get, newToken, post, sendText } from "./support/http.ts"

const last = Effect.flatMap(Simulator.Simulator, ({ received }) =>
  Effect.map(received, (all) => {
    const newest = all.at(-1)
    assert(newest !== undefined)
    return newest
  }))

const responded = ({ outcome }: Received.Received) => {
  assert(outcome._tag === "Responded")
  return outcome
}

const bodyOf = ({ body }: Pick<Received.Received, "body">) => new TextDecoder().decode(Redacted.value(body))

/** Sends requests over one connection, one after the other, without waiting for the responses. */
const flood = (count: number, body = "") =>
  Effect.flatMap(Simulator.Simulator, ({ environment }) =>
    Effect.async<void>((resume) => {
      const { hostname, port } = new URL(environment.baseUrl)
      const head = `POST /elsewhere HTTP/1.1\r\nHost: ${hostname}\r\nContent-Length: ${body.length}\r\n`
      const socket = connect(Number(port), hostname).on("close", () => resume(Effect.void)).resume()
      for (let sent = 1; sent < count; sent++) socket.write(`${head}\r\n${body}`)
      socket.write(`${head}Connection: close\r\n\r\n${body}`)
    }))

/** Waits until a request has ended, and returns the tag of its outcome. */
const outcome = Effect.flatMap(Simulator.Simulator, ({ changes }) =>
  changes(0).pipe(
    Stream.filter((change) => change._tag === "Request" && change.request.outcome._tag !== "Pending"),
    Stream.runHead,
    Effect.zipRight(Effect.map(last, ({ outcome }) => outcome._tag))
  ))

describe("the journal of requests", () => {
  it.effect("has the status, the OAuth error and the token of a request", () =>
    Effect.gen(function*() {
      const token = yield* newToken
      const granted = yield* last
      assert.deepInclude(granted, { id: 1, server: "AuthV2", method: "POST", url: "/oauth2/token" })
      assert.strictEqual(bodyOf(granted), new URLSearchParams(form).toString())
      assert.strictEqual(DateTime.toEpochMillis(granted.receivedAt), 0)
      assert.strictEqual(responded(granted).status, 200)
      assert.isTrue(Option.isNone(responded(granted).error))
      assert.isTrue(Option.isNone(granted.token))

      yield* post("V2", { ...form, client_secret: "other" })
      assert.strictEqual(responded(yield* last).status, 401)
      assert.deepStrictEqual(responded(yield* last).error, Option.some("invalid_client"))

      yield* get("/data-access/a?b=c", token)
      assert.deepInclude(yield* last, {
        server: "Api",
        method: "GET",
        url: "/data-access/a?b=c",
        token: Option.some(1)
      })
      assert.notProperty((yield* last).headers, "authorization")
      yield* get("/data-access/a", "unknown")
      assert.deepStrictEqual((yield* last).token, Option.none())
      assert.deepStrictEqual(responded(yield* last).error, Option.some("invalid_token"))
    }).pipe(Effect.provide(Simulator.layer())))

  it.effect("has the OAuth error of a fault", () =>
    Effect.gen(function*() {
      const { failCalls } = yield* Simulator.Simulator
      yield* failCalls(Fault.oauthError(401, "invalid_token"))
      yield* get("/data-access/a")
      assert.deepStrictEqual(responded(yield* last).error, Option.some("invalid_token"))
    }).pipe(Effect.provide(Simulator.layer())))

  it.scopedLive("has an outcome for every request, whenever its connection ends", () =>
    Effect.gen(function*() {
      const { environment, received } = yield* Simulator.Simulator
      const { port } = new URL(environment.baseUrl)
      for (let delay = 0; delay < 100; delay++) {
        const socket = connect(Number(port), "127.0.0.1")
        socket.on("error", () => socket.destroy())
        socket.write("GET /data-access/a HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", () => {
          // in the middle of what the server does with the request
          setTimeout(() => socket.destroy(), delay % 5)
        })
        yield* Effect.async<void>((resume) => void socket.once("close", () => resume(Effect.void)))
      }
      yield* received.pipe(
        Effect.repeat({
          until: (all) => all.every(({ outcome }) => outcome._tag !== "Pending"),
          schedule: Schedule.spaced("10 millis")
        })
      )
    }).pipe(Effect.provide(Simulator.layer())))

  it.effect("has the headers and the body of a response, which is empty for HEAD", () =>
    Effect.gen(function*() {
      const token = yield* newToken
      const headers = Redacted.value(responded(yield* last).headers)
      assert.strictEqual(headers["content-type"], "application/json")
      assert.include(bodyOf(responded(yield* last)), token)
      yield* sendText(`${(yield* Simulator.Simulator).environment.baseUrl}/data-access/a`, {
        method: "HEAD",
        headers: { authorization: `Bearer ${token}` }
      })
      const head = responded(yield* last)
      assert.deepStrictEqual([head.status, head.bodySize, bodyOf(head)], [200, 0, ""])
    }).pipe(Effect.provide(Simulator.layer())))

  it.effect("has the beginning of a streamed response, and its size, when the stream has ended", () =>
    Effect.gen(function*() {
      const { changes, handleCalls } = yield* Simulator.Simulator
      const part = new TextEncoder().encode("a".repeat(50_000))
      yield* handleCalls(() => Effect.succeed(HttpServerResponse.stream(Stream.make(part, part, part))))
      const { environment } = yield* Simulator.Simulator
      const { text } = yield* sendText(`${environment.baseUrl}/data-access/a`, {
        headers: { authorization: `Bearer ${yield* newToken}` }
      })
      assert.strictEqual(text.length, 150_000)
      yield* changes(0).pipe(
        Stream.filter((change) =>
          change._tag === "Request" && change.request.outcome._tag === "Responded" &&
          change.request.outcome.bodySize === 150_000
        ),
        Stream.runHead
      )
      assert.strictEqual(bodyOf(responded(yield* last)), "a".repeat(64 * 1024))
    }).pipe(Effect.provide(Simulator.layer())))

  it.effect("keeps 32 MiB of the newest bodies and the sizes of all, and a search reports how many it has read", () =>
    Effect.gen(function*() {
      const { failCalls, received } = yield* Simulator.Simulator
      const body = `needle${"a".repeat(70_000)}`
      yield* failCalls(Fault.Response({ status: 200, body }), { times: 270 })
      yield* flood(270, body)
      const all = yield* received
      const kept = all.map((received) => Redacted.value(received.body).byteLength + bodyOf(responded(received)).length)
      const total = kept.reduce((left, right) => left + right, 0)
      assert.isAtMost(total, 32 * 1024 * 1024)
      assert.isAbove(total, 31 * 1024 * 1024)
      assert.isTrue(all.every(({ bodySize }) => bodySize === body.length))
      assert.strictEqual(kept[0], 0)
      assert.strictEqual(kept.at(-1), 2 * 64 * 1024)

      const found = JSON.parse((yield* read("/api/v1/search?text=NEEDLE")).text)
      const withBodies = kept.filter((size) => size > 0).length
      assert.deepInclude(found, { total: 270, searchable: withBodies })
      assert.strictEqual(found.requests.length, withBodies)
    }).pipe(Effect.provide(Test)))

  it.scopedLive("has no status for an endless response, which its reader ends", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      yield* simulator.failCalls(Fault.Endless({ bytes: Fault.responseBytes({}) }))
      const { port } = new URL(simulator.environment.baseUrl)
      const socket = connect(Number(port), "127.0.0.1")
      socket.write("GET /data-access/a HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
      let read = 0
      yield* Effect.async<void>((resume) => {
        socket.on("data", (bytes) => {
          read += bytes.byteLength
          if (read > 4 * 1024 * 1024) resume(Effect.sync(() => socket.destroy()))
        })
      })
      assert.strictEqual(yield* outcome, "NoResponse")
    }).pipe(Effect.provide(Simulator.layer())))

  it.effect("connects a token request with the calls that carried its token", () =>
    Effect.gen(function*() {
      const { received } = yield* Simulator.Simulator
      const [first, second] = [yield* newToken, yield* newToken]
      yield* get("/data-access/a", second)
      yield* get("/data-access/a", first)
      const all = yield* received
      assert.deepStrictEqual(all.map(({ issuedToken }) => Option.getOrNull(issuedToken)), [1, 2, null, null])
      assert.deepStrictEqual(all.map(({ token }) => Option.getOrNull(token)), [null, null, 2, 1])
      assert.deepStrictEqual(all.map(({ ordinal }) => ordinal), [1, 2, 1, 2])
    }).pipe(Effect.provide(Simulator.layer())))

  it.effect("has a request whose target is no URL, which gets 404", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* get("//?a=b")).status, 404)
      assert.strictEqual((yield* last).url, "//?a=b")
      assert.strictEqual(responded(yield* last).status, 404)
    }).pipe(Effect.provide(Simulator.layer())))

  it.effect("has no status for a connection that was reset", () =>
    Effect.gen(function*() {
      const { environment, failCalls } = yield* Simulator.Simulator
      yield* failCalls(Fault.Reset())
      yield* Effect.flip(Effect.tryPromise(() => fetch(`${environment.baseUrl}/data-access/a`)))
      assert.strictEqual(yield* outcome, "NoResponse")
    }).pipe(Effect.provide(Simulator.layer())))

  it.effect("keeps the newest 1 000 requests, and counts all of them", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      yield* flood(1003)
      const received = yield* simulator.received
      assert.strictEqual(received.length, 1000)
      assert.deepStrictEqual([received.at(0)?.id, received.at(-1)?.id], [4, 1003])
      assert.strictEqual((yield* simulator.counts).Api, 1003)
      yield* simulator.awaitReceived("Api", 1003)
    }).pipe(Effect.provide(Simulator.layer())))
})

describe("the changes of a simulator", () => {
  const tags = (count: number) =>
    Effect.flatMap(Simulator.Simulator, ({ changes }) =>
      changes(0).pipe(
        Stream.take(count),
        Stream.runCollect,
        Effect.map((all) => Array.from(all, ({ _tag }) => _tag))
      ))

  it.effect("show each item once, in its latest state, to a listener that comes late", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      yield* newToken
      yield* simulator.revokeTokens
      assert.deepStrictEqual(yield* tags(2), ["Request", "Token"])
    }).pipe(Effect.provide(Simulator.layer())))

  it.effect("have a reset, after which nothing older follows", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      yield* newToken
      yield* simulator.reset
      assert.deepStrictEqual(yield* tags(2), ["Reset", "Settings"])
      yield* get("/elsewhere")
      const received = yield* simulator.received
      assert.deepStrictEqual(received.map(({ id }) => id), [2])
    }).pipe(Effect.provide(Simulator.layer())))
})
