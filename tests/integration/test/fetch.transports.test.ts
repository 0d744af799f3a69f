import { AccessTokens } from "@credit-data/core"
import { DataAccess, Fetch } from "@credit-data/http-client"
import { Fault, Simulator } from "@credit-data/simulator"
import { HttpBody, HttpClient } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Redacted, Scope, Stream } from "effect"
import { callerAbort } from "../src/clients.ts"
import { nothingLeft } from "../src/faultRow.ts"
import { transports } from "../src/transports.ts"

const headers = ["Content-Type: text/plain", "Content-Length: 1000"]

/** Responses whose headers arrive and whose bodies do not end. */
const bodies = [
  ["stalls", Fault.Bytes({ bytes: Fault.responseBytes({ headers, body: "part" }), ending: "Hang" })],
  ["drips", Fault.Drip({ bytes: Fault.responseBytes({ headers, body: "x".repeat(1_000) }), every: "1 millis" })]
] as const

const endless = Fault.Endless({ bytes: Fault.responseBytes({ headers: ["Content-Type: text/plain"] }) })

const rejection = (promise: Promise<unknown>) =>
  Effect.promise(() => promise.then(() => assert.fail("it did not reject"), (error: unknown) => error))

/** A `fetch` over Data Access of the simulator, with its own scope. */
const makeFetch = Effect.gen(function*() {
  const { environment } = yield* Simulator.Simulator
  const scope = yield* Scope.make()
  const tokens = AccessTokens.layerTest({ environment })
  const context = yield* Layer.build(DataAccess.layer().pipe(Layer.provide(tokens)))
  const fetch = yield* Effect.flatMap(DataAccess.DataAccess, Fetch.make).pipe(
    Effect.provide(context),
    Scope.extend(scope)
  )
  return { fetch, close: Scope.close(scope, Exit.void) }
})

describe.each(transports)("the client of a group as a fetch, over %s", (name, transport) => {
  // `fetch` keeps one connection in the pool of the process
  const idle = name === "node:http" ? 0 : 1
  const live = (
    title: string,
    test: Effect.Effect<void, unknown, Simulator.Simulator | HttpClient.HttpClient | Scope.Scope>
  ) => it.scopedLive(title, () => Effect.provide(test, Layer.merge(Simulator.layer(), transport)))

  for (const [how, fault] of [...bodies, ["does not end", endless]] as const) {
    live(
      `rejects with the reason of the signal while it reads a body that ${how}, and closes the connection`,
      Effect.gen(function*() {
        const { failCalls } = yield* Simulator.Simulator
        const { fetch } = yield* makeFetch
        yield* failCalls(fault)
        const reason = new Error("the caller gave up")
        const controller = callerAbort()
        const response = yield* Effect.promise(() => fetch("/data-access/a", { signal: controller.signal }))
        const text = rejection(response.text())
        controller.abort(reason)
        assert.strictEqual(yield* text, reason)
        yield* nothingLeft(idle)
      })
    )
  }

  for (const [how, fault] of bodies) {
    live(
      `rejects when its scope closes while it reads a body that ${how}, and closes the connection`,
      Effect.gen(function*() {
        const { failCalls } = yield* Simulator.Simulator
        const { close, fetch } = yield* makeFetch
        yield* failCalls(fault)
        const response = yield* Effect.promise(() => fetch("/data-access/a"))
        const text = rejection(response.text())
        yield* close
        assert.strictEqual(String(yield* text), "AbortError: The scope of this fetch was closed")
        yield* nothingLeft(idle)
      })
    )
  }

  live(
    "takes AbortSignal.timeout as the time-out of the whole call",
    Effect.gen(function*() {
      const { failCalls } = yield* Simulator.Simulator
      const { fetch } = yield* makeFetch
      yield* failCalls(bodies[0][1])
      const response = yield* Effect.promise(() => fetch("/data-access/a", { signal: AbortSignal.timeout(300) }))
      assert.include(String(yield* rejection(response.text())), "TimeoutError")
      yield* nothingLeft(idle)
    })
  )

  live(
    "rejects with a TypeError for a status that a Response cannot have, and leaves no connection open",
    Effect.gen(function*() {
      const { failCalls } = yield* Simulator.Simulator
      const { fetch } = yield* makeFetch
      for (const status of [600, 999]) {
        yield* failCalls(Fault.Bytes({ bytes: Fault.responseBytes({ status, headers, body: "part" }), ending: "Hang" }))
        const error = yield* rejection(fetch("/data-access/a"))
        assert.strictEqual(
          String(error),
          `TypeError: The API responded with ${status}, which is not the status of a Response`
        )
      }
      yield* nothingLeft(idle)
    })
  )

  live(
    "sends a Request of another realm unchanged, and refuses what is neither a URL nor a Request",
    Effect.gen(function*() {
      const { environment, received } = yield* Simulator.Simulator
      const { fetch } = yield* makeFetch
      const own = new Request(`${environment.baseUrl}/data-access/b`, {
        method: "PUT",
        body: "hello",
        headers: { "x-a": "1" }
      })
      // has everything of a Request but its prototype
      const foreign = {
        url: own.url,
        method: own.method,
        headers: own.headers,
        signal: own.signal,
        body: own.body,
        arrayBuffer: () => own.arrayBuffer()
      }
      yield* Effect.promise(() => Reflect.apply(fetch, undefined, [foreign]))
      for (const wrong of [undefined, null, Symbol("a"), 42, {}]) {
        const error = yield* rejection(Reflect.apply(fetch, undefined, [wrong]))
        assert.strictEqual(String(error), "TypeError: Expected a URL or a Request")
      }
      // the simulator did not issue the token, so the request is sent again with another one
      const calls = yield* received
      assert.lengthOf(calls, 2)
      for (const call of calls) {
        assert.deepInclude(call, { method: "PUT", url: "/data-access/b" })
        assert.strictEqual(call.headers["x-a"], "1")
        assert.strictEqual(new TextDecoder().decode(Redacted.value(call.body)), "hello")
      }
    })
  )

  live(
    "does not change what the stream of an upload does with redirects",
    Effect.gen(function*() {
      const { environment, failCalls, received } = yield* Simulator.Simulator
      const tokens = AccessTokens.layerTest({ environment })
      const source = yield* HttpClient.HttpClient
      yield* failCalls(Fault.Response({ status: 307, headers: { location: `${environment.authV1Url}/moved` } }))
      const moved = Effect.flatMap(
        source.get(`${environment.baseUrl}/elsewhere`),
        ({ status, text }) => Effect.map(text, (text) => `${status} ${text}`)
      )
      const upload = Effect.flatMap(
        DataAccess.DataAccess,
        (client) =>
          client.put("/data-access/upload", { body: HttpBody.stream(Stream.encodeText(Stream.fromEffect(moved))) })
      )
      yield* Effect.provide(upload, DataAccess.layer().pipe(Layer.provide(tokens)))
      const [sent] = (yield* received).filter(({ method }) => method === "PUT")
      // only `fetch` follows redirects by itself
      const expected = name === "fetch" ? /^404 .*not_found/ : /^307 /
      assert.match(new TextDecoder().decode(sent && Redacted.value(sent.body)), expected)
    })
  )
})
