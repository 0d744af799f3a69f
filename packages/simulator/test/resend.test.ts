import { Fault, Simulator } from "@credit-data/simulator"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Redacted } from "effect"
import { exchange, form, formV1, get, newToken, post } from "./support/http.ts"

/** Sends the request again, and returns the new request when its outcome is known. */
const resend = (id: number) =>
  Effect.gen(function*() {
    const simulator = yield* Simulator.Simulator
    const sent = Option.getOrThrow(yield* simulator.resend(id))
    yield* simulator.received.pipe(
      Effect.repeat({ until: (all) => all.every(({ outcome }) => outcome._tag !== "Pending") })
    )
    const found = (yield* simulator.received).find(({ id }) => id === sent)
    assert(found !== undefined && found.outcome._tag === "Responded")
    return { ...found, outcome: found.outcome }
  })

describe("a request that is sent again", () => {
  it.effect("is a call with a new token of the same version and scopes, and the same headers and body", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      const token = yield* newToken
      yield* post("V1", formV1)
      const init = { method: "POST", headers: { "x-trace": "7" }, body: "{\"a\":1}" }
      yield* get("/data-access/a?b=c", token, init)
      yield* simulator.revokeTokens
      const again = yield* resend(3)
      assert.deepInclude(again, { id: 4, method: "POST", url: "/data-access/a?b=c", original: Option.some(3) })
      assert.strictEqual(again.headers["x-trace"], "7")
      assert.notProperty(again.headers, "x-simulator-resend")
      assert.strictEqual(new TextDecoder().decode(Redacted.value(again.body)), "{\"a\":1}")
      assert.strictEqual(again.outcome.status, 200)
      assert.deepStrictEqual(again.token, Option.some(3))
      const [first, , third] = yield* simulator.tokens
      assert.deepStrictEqual([third?.version, third?.scopes], [first?.version, first?.scopes])
    }).pipe(Effect.provide(Simulator.layer())))

  it.effect("gets a token with all granted scopes if its token is unknown, and none if it had none", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      yield* get("/enablement-services/a", "of-another-service")
      yield* get("/enablement-services/a")
      assert.strictEqual((yield* resend(1)).outcome.status, 200)
      assert.strictEqual((yield* resend(2)).outcome.status, 401)
      assert.strictEqual((yield* simulator.tokens).length, 1)
    }).pipe(Effect.provide(Simulator.layer())))

  it.effect("is one request, even if its method has a body only in some programs", () =>
    Effect.gen(function*() {
      const { environment, received } = yield* Simulator.Simulator
      const body = "GET /furnishment/smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n"
      const headers = { "content-length": String(body.length) }
      yield* exchange(environment.baseUrl, { method: "DELETE", target: "/data-access/a", headers, body })
      const again = yield* resend(1)
      assert.strictEqual(new TextDecoder().decode(Redacted.value(again.body)), body)
      assert.deepStrictEqual((yield* received).map(({ url }) => url), ["/data-access/a", "/data-access/a"])
    }).pipe(Effect.provide(Simulator.layer())))

  const forwarded: ReadonlyArray<Record<string, string>> = [
    { connection: "upgrade, x-tenant", upgrade: "websocket", "x-tenant": "a" },
    { expect: "100-continue" },
    { trailer: "expires", te: "trailers" }
  ]
  for (const headers of forwarded) {
    it.effect(`is a request whose headers belong to a connection: ${Object.keys(headers).join(", ")}`, () =>
      Effect.gen(function*() {
        const { environment } = yield* Simulator.Simulator
        const chunked = { ...headers, "transfer-encoding": "chunked" }
        const sent = { method: "POST", target: "/data-access/a", headers: chunked, body: "{}", token: yield* newToken }
        assert.strictEqual((yield* exchange(environment.baseUrl, sent)).status, 200)
        const again = yield* resend(2)
        assert.strictEqual(again.outcome.status, 200)
        assert.strictEqual(again.headers["x-tenant"], headers["x-tenant"])
      }).pipe(Effect.provide(Simulator.layer())))
  }

  it.effect("is a token request with the current secret, unless another client sent it", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      yield* simulator.rotateSecret
      yield* post("V2", form)
      yield* post("V2", { ...form, client_id: "another" })
      const again = yield* resend(1)
      assert.strictEqual(again.outcome.status, 200)
      assert.deepStrictEqual(again.issuedToken, Option.some(1))
      assert.strictEqual((yield* resend(2)).outcome.status, 401)
    }).pipe(Effect.provide(Simulator.layer())))

  it.effect("gets the waiting fault, and ends with the simulator when nothing responds", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      yield* get("/elsewhere")
      yield* simulator.failCalls(Fault.Silence())
      const sent = yield* simulator.resend(1)
      assert.deepStrictEqual(sent, Option.some(2))
      assert.deepStrictEqual((yield* simulator.received)[1]?.fault, Option.some("Silence"))
    }).pipe(Effect.provide(Simulator.layer())))

  it.effect("is still in the journal with its whole body", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      yield* get("/elsewhere", undefined, { method: "POST", body: "a".repeat(100_000) })
      assert.isTrue(Option.isNone(yield* simulator.resend(1)))
      assert.isTrue(Option.isNone(yield* simulator.resend(2)))
    }).pipe(Effect.provide(Simulator.layer())))
})
