import { AuthV2 } from "@credit-data/auth-v2"
import { Transport } from "@credit-data/core/Internal"
import { DataAccess } from "@credit-data/http-client"
import { Fault, Simulator } from "@credit-data/simulator"
import { isRequestError } from "@credit-data/test-support/httpErrors"
import {
  Cookies,
  FetchHttpClient,
  Headers as HttpHeaders,
  HttpApi,
  HttpApiClient,
  HttpApiEndpoint,
  HttpApiGroup,
  HttpBody,
  HttpClient,
  HttpClientRequest
} from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Option, Redacted, Ref, Schedule, Schema, Stream, TestClock } from "effect"
import { simulated } from "../src/simulated.ts"
import { transports } from "../src/transports.ts"

const call = (path = "/data-access/consumers/42") => Effect.flatMap(DataAccess.DataAccess, (client) => client.get(path))

const statusOf = (path?: string) => Effect.map(call(path), ({ status }) => status)

const toApi = Effect.map(
  Effect.flatMap(Simulator.Simulator, (simulator) => simulator.received),
  (received) => received.filter(({ server }) => server === "Api")
)

const bodyOf = ({ body }: { readonly body: Redacted.Redacted<Uint8Array> }) =>
  new TextDecoder().decode(Redacted.value(body))

describe.each(transports)("a call over %s", (_, transport) => {
  const layer = Layer.provideMerge(DataAccess.layer(), simulated(AuthV2.layerConfig(), transport))

  const rejection = Fault.Response({ status: 401, body: "x".repeat(100_000) })

  it.effect("50 calls that are rejected and sent again leave no connection open", () =>
    Effect.gen(function*() {
      const { failCalls, openConnections } = yield* Simulator.Simulator
      for (let round = 0; round < 50; round++) {
        yield* TestClock.adjust("31 seconds")
        yield* failCalls(rejection)
        const response = yield* call()
        assert.strictEqual(response.status, 200)
        yield* response.text
      }
      // not the token requests, because the last one is in the background
      assert.strictEqual((yield* toApi).length, 100)
      assert.isAtMost(yield* openConnections, 8)
    }).pipe(Effect.provide(layer)))

  it.effect("rejected calls whose renewal fails leave no connection open", () =>
    Effect.gen(function*() {
      const { failCalls, failTokenRequests, openConnections } = yield* Simulator.Simulator
      for (let round = 0; round < 20; round++) {
        yield* TestClock.adjust("31 seconds")
        assert.strictEqual(yield* statusOf(), 200)
        yield* TestClock.adjust("31 seconds")
        yield* failCalls(rejection)
        yield* failTokenRequests(Fault.oauthError(400, "invalid_scope"))
        const rejected = yield* call()
        assert.strictEqual(rejected.status, 401, "the caller's own 401, and not the failure of the renewal")
        yield* Effect.flip(rejected.text)
      }
      assert.isAtMost(yield* openConnections, 8)
    }).pipe(Effect.provide(layer)))

  it.effect("a redirect is returned to the caller, and the token is sent to no other server", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      const location = `${simulator.environment.authV1Url}/elsewhere`
      for (const status of [301, 302, 303, 307, 308]) {
        yield* simulator.failCalls(Fault.Response({ status, headers: { location } }), { times: 2 })
        assert.strictEqual(yield* statusOf(), status)
        const untraced = (yield* DataAccess.DataAccess).pipe(HttpClient.withTracerDisabledWhen(() => true))
        assert.strictEqual((yield* untraced.get("/data-access/consumers/42")).status, status)
      }
      assert.isTrue(Option.isNone(yield* Effect.serviceOption(FetchHttpClient.RequestInit)), "nothing is left behind")
      assert.notInclude((yield* simulator.received).map(({ server }) => server), "AuthV1")
    }).pipe(Effect.provide(layer)))

  it.effect("the bodies of requests and responses are streamed", () =>
    Effect.gen(function*() {
      const client = yield* DataAccess.DataAccess
      const simulator = yield* Simulator.Simulator
      const chunks = Stream.range(1, 200).pipe(Stream.map(() => new Uint8Array(1_000)))
      const up = yield* client.put("/data-access/upload", { body: HttpBody.stream(chunks) })
      assert.strictEqual(up.status, 200)
      assert.strictEqual((yield* toApi)[0]?.bodySize, 200_000)
      yield* simulator.failCalls(Fault.Response({ status: 200, body: "y".repeat(300_000) }))
      const down = yield* client.get("/data-access/download")
      const sizes = yield* Stream.runCollect(Stream.map(down.stream, (chunk) => chunk.length))
      assert.strictEqual(Array.from(sizes).reduce((sum, size) => sum + size), 300_000)
    }).pipe(Effect.provide(layer)))

  it.effect("a body streamed from another call is sent completely, and that call follows its redirects", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      const client = yield* DataAccess.DataAccess
      const source = yield* HttpClient.HttpClient
      const moved = `${simulator.environment.authV1Url}/moved`
      yield* simulator.failCalls(Fault.Response({ status: 307, headers: { location: moved } }))
      const followed = source.pipe(HttpClient.followRedirects()).get(`${simulator.environment.baseUrl}/elsewhere`)
      const body = HttpBody.stream(Stream.unwrap(Effect.map(followed, ({ stream }) => stream)))
      assert.strictEqual((yield* client.put("/data-access/upload", { body })).status, 200)
      const [sent = ""] = (yield* toApi).filter(({ method }) => method === "PUT").map(bodyOf)
      assert.include(sent, "not_found", "the response of the address that the redirect names")
    }).pipe(Effect.provide(layer)))

  it.effect("interrupting a call aborts the request", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      yield* simulator.failCalls(Fault.Silence())
      const silent = yield* Effect.fork(call())
      yield* simulator.awaitReceived("Api", 1)
      yield* Fiber.interrupt(silent)
      assert.strictEqual(yield* statusOf(), 200)
    }).pipe(Effect.provide(layer)))

  it.live("a 401 whose body never ends delays neither its caller nor an interruption", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      yield* call()
      const endless = Fault.Bytes({
        bytes: "HTTP/1.1 401 Unauthorized\r\nContent-Length: 100\r\n\r\nabc",
        ending: "Hang"
      })
      yield* simulator.failCalls(endless)
      yield* simulator.failTokenRequests(Fault.oauthError(401, "invalid_client"))
      assert.strictEqual(yield* statusOf(), 401)
      yield* simulator.failTokenRequests(Fault.Silence())
      yield* simulator.failCalls(endless)
      const impatient = yield* Effect.fork(call())
      yield* simulator.awaitReceived("Api", 3)
      yield* Fiber.interrupt(impatient)
    }).pipe(Effect.provide(layer), Effect.timeout("10 seconds")))

  it.effect("middleware around the client works: retries, cookies, redirects and changed requests", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      const cookies = yield* Ref.make(Cookies.empty)
      const client = (yield* DataAccess.DataAccess).pipe(
        HttpClient.mapRequest(HttpClientRequest.setHeader("x-outside", "1")),
        HttpClient.withCookiesRef(cookies),
        HttpClient.followRedirects(),
        HttpClient.retryTransient({ times: 2, schedule: Schedule.recurs(2) })
      )
      yield* simulator.failCalls(Fault.Response({ status: 503 }))
      yield* simulator.failCalls(Fault.Response({
        status: 302,
        headers: { location: `${simulator.environment.baseUrl}/data-access/moved`, "set-cookie": "a=b" }
      }))
      assert.strictEqual((yield* client.get("/data-access/consumers/42")).status, 200)
      const received = yield* toApi
      assert.deepStrictEqual(received.map(({ url }) => url), [
        "/data-access/consumers/42",
        "/data-access/consumers/42",
        "/data-access/moved"
      ])
      for (const { headers } of received) assert.strictEqual(headers["x-outside"], "1")
      assert.isTrue(Option.isSome(Cookies.get(yield* Ref.get(cookies), "a")))
      yield* simulator.failCalls(
        Fault.Response({ status: 302, headers: { location: simulator.environment.authV1Url } })
      )
      assert.isTrue(isRequestError(yield* Effect.flip(client.get("/data-access/consumers/42"))))
    }).pipe(Effect.provide(layer)))

  it.effect("a typed API works over the client and returns its declared errors", () =>
    Effect.gen(function*() {
      class NoSuchConsumer extends Schema.TaggedError<NoSuchConsumer>()("NoSuchConsumer", { id: Schema.String }) {}
      const Api = HttpApi.make("invented").add(
        HttpApiGroup.make("consumers").add(
          HttpApiEndpoint.get("read", "/data-access/consumers/:id")
            .setPath(Schema.Struct({ id: Schema.String }))
            .addSuccess(Schema.Struct({ group: Schema.String, path: Schema.String }))
            .addError(NoSuchConsumer, { status: 404 })
        )
      )
      const simulator = yield* Simulator.Simulator
      const api = yield* HttpApiClient.makeWith(Api, { httpClient: yield* DataAccess.DataAccess })
      const read = api.consumers.read({ path: { id: "42" } })
      assert.deepStrictEqual(yield* read, { group: "Data Access", path: "/data-access/consumers/42" })
      yield* simulator.failCalls(
        Fault.Response({ status: 404, body: JSON.stringify({ _tag: "NoSuchConsumer", id: "42" }) })
      )
      const error = yield* Effect.flip(read)
      assert(error._tag === "NoSuchConsumer")
      yield* simulator.revokeTokens
      assert.strictEqual((yield* read).group, "Data Access")
    }).pipe(Effect.provide(layer)))

  it.effect("the error of an API that does not respond contains neither the token nor the sent request", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      yield* simulator.failCalls(Fault.Reset(), { times: 4 })
      const error = yield* Effect.flip(call())
      assert(isRequestError(error))
      assert.strictEqual(Transport.reason(error), "Reset")
      assert.isTrue(Option.isNone(HttpHeaders.get(error.request.headers, "authorization")))
      assert.include(error.message, "/data-access/consumers/42")
    }).pipe(Effect.provide(layer)))
})
