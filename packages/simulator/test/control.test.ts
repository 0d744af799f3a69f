import { Fault, Simulator } from "@credit-data/simulator"
import { HttpServerResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Fiber, Layer, Logger, Option, Redacted, TestClock } from "effect"
import { form, get, newToken, post, statusOf } from "./support/http.ts"

const respond = (status: number) => Fault.Response({ status, body: "{}" })

describe("issued tokens", () => {
  it.effect("that have expired are forgotten when the next one is issued", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      yield* newToken
      yield* TestClock.adjust("1 hour")
      yield* newToken
      assert.isFalse(yield* simulator.revokeTokenById(1))
      assert.isTrue(yield* simulator.revokeTokenById(2))
    }).pipe(Effect.provide(Simulator.layer({ tokenLifetime: "1 hour" }))))
})

describe("pending faults", () => {
  it.effect("apply only to the requests with their method, path and headers, leave the others to the next fault, and list how many remain", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      yield* simulator.failCalls(respond(501), { method: "POST", path: "/data-access/consumers/{id}", times: 2 })
      yield* simulator.failCalls(respond(599), { times: 0 })
      yield* simulator.failCalls(respond(502), { headers: { "User-Agent": "second-replica" } })
      yield* simulator.failCalls(respond(503))
      const token = yield* newToken
      const consumer = "/data-access/consumers/42"
      const replica = { headers: { "user-agent": "second-replica" } }
      assert.strictEqual(yield* statusOf(`${consumer}?a=b`, token, { method: "POST" }), 501)
      assert.strictEqual(yield* statusOf(`${consumer}/score`, token, { method: "POST" }), 503)
      assert.strictEqual(yield* statusOf(consumer, token), 200)
      assert.strictEqual(yield* statusOf(consumer, token, replica), 502)
      assert.deepStrictEqual(yield* simulator.faults, [{
        id: 1,
        target: "Calls",
        fault: respond(501),
        remaining: 1,
        method: "POST",
        path: "/data-access/consumers/{id}"
      }])
    }).pipe(Effect.provide(Simulator.layer())))

  it.effect("apply to a share of the requests", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      yield* simulator.failCalls(respond(503), { percent: 0, times: Infinity })
      yield* simulator.failCalls(respond(503), { percent: 50, times: Infinity })
      const token = yield* newToken
      const statuses = yield* Effect.replicateEffect(statusOf("/data-access/a", token), 100)
      const failed = statuses.filter((status) => status === 503).length
      // outside of this with a probability below 1e-8
      assert.isTrue(failed > 20 && failed < 80, `${failed} of 100`)
      assert.deepStrictEqual((yield* simulator.faults).map(({ remaining }) => remaining), [Infinity, Infinity])
    }).pipe(Effect.provide(Simulator.layer())))
})

describe("a delayed response", () => {
  const rows: ReadonlyArray<
    readonly [
      when: string,
      meanwhile: (simulator: Simulator.Service) => Effect.Effect<unknown>,
      status: number,
      millis: number
    ]
  > = [
    ["arrives when its delay has passed", () => TestClock.adjust("9 seconds"), 200, 9_000],
    [
      "arrives at once when the simulator's clock is advanced past its delay",
      ({ advanceClock }) => Effect.zipRight(advanceClock("4 seconds"), advanceClock("5 seconds")),
      200,
      0
    ],
    [
      "arrives earlier by what the simulator's clock was advanced",
      ({ advanceClock }) => Effect.zipRight(advanceClock("4 seconds"), TestClock.adjust("5 seconds")),
      200,
      5_000
    ],
    [
      "is a refusal if the client secret was rotated meanwhile",
      ({ rotateSecret }) => Effect.zipRight(rotateSecret, TestClock.adjust("9 seconds")),
      401,
      9_000
    ]
  ]
  for (const [when, meanwhile, status, millis] of rows) {
    it.effect(`${when}, and the journal has the time that passed`, () =>
      Effect.gen(function*() {
        const simulator = yield* Simulator.Simulator
        const newest = Effect.map(simulator.received, (all) => all.at(-1))
        yield* simulator.failTokenRequests(Fault.Delay({ duration: "9 seconds" }))
        const late = yield* Effect.fork(post("V2", form))
        yield* simulator.awaitReceived("AuthV2", 1)
        assert.strictEqual((yield* newest)?.outcome._tag, "Pending")
        yield* meanwhile(simulator)
        assert.strictEqual((yield* Fiber.join(late)).status, status)
        const { fault, outcome } = (yield* newest) ?? {}
        assert.deepStrictEqual(fault, Option.some("Delay"))
        assert(outcome?._tag === "Responded")
        assert.strictEqual(Duration.toMillis(outcome.duration), millis)
      }).pipe(Effect.provide(Simulator.layer())))
  }
})

describe("the user's own business API", () => {
  it.effect("handles calls behind the checks of the token and its scopes", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      yield* simulator.handleCalls(({ method, url }) =>
        Effect.succeed(HttpServerResponse.unsafeJson({ mine: `${method} ${url}` }, { status: 201 }))
      )
      const token = yield* newToken
      const response = yield* get("/data-access/a?b=c", token)
      assert.strictEqual(response.status, 201)
      assert.deepStrictEqual(response.body, { mine: "GET /data-access/a?b=c" })
      assert.strictEqual((yield* get("/data-access/a", "nonsense")).status, 401)
      assert.strictEqual((yield* get("/enablement-services/a", token)).status, 403)
      assert.strictEqual((yield* get("/elsewhere", token)).status, 404)
      // a base URL that ends with the path of a group
      for (const group of ["data-access", "furnishment"]) {
        const response = yield* get(`/data-access/${group}/consumers/42`, token)
        assert.strictEqual(response.status, 404)
        assert.include(JSON.stringify(response.body), "The base URL ends with the path of a group")
      }
      assert.strictEqual((yield* get("/data-access/furnishments/42", token)).status, 201)
    }).pipe(Effect.provide(Simulator.layer())))

  it.effect("gets the whole body of a call, however long it is, and the journal keeps its beginning and its size", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      yield* simulator.handleCalls(({ body }) =>
        Effect.succeed(HttpServerResponse.unsafeJson({ size: Redacted.value(body).byteLength }))
      )
      const init = { method: "POST", body: "a".repeat(1_500_000) }
      assert.deepStrictEqual((yield* get("/data-access/a", yield* newToken, init)).body, { size: 1_500_000 })
      const call = (yield* simulator.received).at(-1)
      assert(call !== undefined)
      assert.deepStrictEqual([Redacted.value(call.body).byteLength, call.bodySize], [64 * 1024, 1_500_000])
    }).pipe(Effect.provide(Simulator.layer())))

  it.effect("responds with 500 when its function fails, and the failure is in the log", () => {
    const logged: Array<string> = []
    const logger = Logger.make(({ logLevel, message }) => {
      logged.push(`${logLevel.label} ${String(message)}`)
    })
    return Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      yield* simulator.handleCalls(() => Effect.die(new Error("a bug in the test")))
      const { body, status } = yield* get("/data-access/a", yield* newToken)
      assert.strictEqual(status, 500)
      assert.deepStrictEqual(body, { error: "server_error" })
      assert.strictEqual(logged.length, 1)
      assert.match(String(logged[0]), /^ERROR .*a bug in the test/s)
    }).pipe(Effect.provide(Layer.provideMerge(Simulator.layer(), Logger.replace(Logger.defaultLogger, logger))))
  })
})

describe("the clock of a simulator", () => {
  it.effect("can be advanced, so that tokens expire earlier than the program expects", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      const token = yield* newToken
      yield* simulator.advanceClock("59 minutes")
      assert.strictEqual(yield* statusOf("/data-access/a", token), 200)
      yield* simulator.advanceClock("1 minute")
      assert.strictEqual(yield* statusOf("/data-access/a", token), 401)
      assert.strictEqual(DateTime.toEpochMillis(yield* simulator.now), 3_600_000)
      assert.strictEqual(Duration.toMillis(yield* simulator.advanced), 3_600_000)
      assert.strictEqual(yield* statusOf("/data-access/a", yield* newToken), 200)
    }).pipe(Effect.provide(Simulator.layer({ tokenLifetime: "1 hour" }))))
})

describe("a reset", () => {
  it.effect("ends the connections of requests that have no response yet, so that none of them issues a token", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      yield* simulator.failTokenRequests(Fault.Delay({ duration: "1 second" }))
      const { environment } = simulator
      const pending = yield* Effect.fork(
        Effect.exit(
          Effect.tryPromise(() =>
            fetch(`${environment.authV2Url}/oauth2/token`, { method: "POST", body: new URLSearchParams(form) })
          )
        )
      )
      yield* simulator.awaitReceived("AuthV2", 1)
      yield* simulator.reset
      assert.strictEqual((yield* Fiber.join(pending))._tag, "Failure")
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(yield* simulator.tokens, [])
    }).pipe(Effect.provide(Simulator.layer())))

  it.effect("restores the settings of the start, and forgets tokens, requests and counts", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      const before = yield* simulator.credentials
      const granted = yield* simulator.grantedScopes
      const token = yield* newToken
      yield* simulator.rotateSecret
      yield* simulator.grantScopes([])
      yield* simulator.setFixtures([])
      yield* simulator.handleCalls(() => Effect.succeed(HttpServerResponse.empty()))
      yield* simulator.failCalls(Fault.Silence(), { times: Infinity })
      yield* simulator.advanceClock("1 hour")

      yield* simulator.reset
      assert.deepStrictEqual(yield* simulator.credentials, before)
      assert.deepStrictEqual(yield* simulator.grantedScopes, granted)
      assert.deepStrictEqual(yield* simulator.faults, [])
      assert.deepStrictEqual(yield* simulator.received, [])
      assert.deepStrictEqual(yield* simulator.tokens, [])
      assert.strictEqual(yield* simulator.tokenRequests, 0)
      assert.strictEqual(Duration.toMillis(yield* simulator.advanced), 0)
      assert.strictEqual(yield* statusOf("/data-access/a", token), 401)
      assert.deepStrictEqual((yield* get("/data-access/a", yield* newToken)).body, { mine: true })
    }).pipe(Effect.provide(Simulator.layer({
      fixtures: [{ method: "GET", path: "/data-access/{id}", status: 200, headers: {}, body: { mine: true } }]
    }))))
})
