import { Fault, Simulator } from "@credit-data/simulator"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, TestClock } from "effect"
import { once } from "node:events"
import { connect } from "node:net"
import { exchange, form, formV1, get, newToken, post, send, statusOf } from "./support/http.ts"

const without = (name: keyof typeof form) => Object.fromEntries(Object.entries(form).filter(([key]) => key !== name))

describe("the token endpoint of V2", () => {
  it.effect("responds to a valid token request as the contract specifies", () =>
    Effect.gen(function*() {
      const { body, headers, status } = yield* post("V2", form)
      assert.strictEqual(status, 200)
      assert.match(String(body["access_token"]), /^simulated\.V2\.1\./)
      assert.strictEqual(body["scope"], "data-access:all furnishment:all")
      assert.strictEqual(body["expires_in"], 86_400)
      assert.strictEqual(body["token_type"], "Bearer")
      assert.strictEqual(headers.get("cache-control"), "no-store")
    }).pipe(Effect.provide(Simulator.layer())))

  const refusals: ReadonlyArray<readonly [string, Record<string, string> | string, number, string]> = [
    ["no client id", without("client_id"), 401, "invalid_client"],
    ["no client secret", without("client_secret"), 401, "invalid_client"],
    ["an unknown client", { ...form, client_id: "other" }, 401, "invalid_client"],
    ["a wrong secret", { ...form, client_secret: "other" }, 401, "invalid_client"],
    ["no audience", without("audience"), 400, "invalid_request"],
    ["no scope", without("scope"), 400, "invalid_request"],
    ["no grant type", without("grant_type"), 400, "invalid_request"],
    ["another grant type", { ...form, grant_type: "password" }, 400, "unsupported_grant_type"],
    ["another audience", { ...form, audience: "other" }, 400, "invalid_target"],
    ["an unknown scope", { ...form, scope: "data-access:all other" }, 400, "invalid_scope"],
    ["a blank scope", { ...form, scope: " " }, 400, "invalid_scope"],
    ["two blanks between scopes", { ...form, scope: "data-access:all  furnishment:all" }, 400, "invalid_scope"],
    ["a field twice", `${new URLSearchParams(form)}&scope=furnishment:all`, 400, "invalid_request"]
  ]
  for (const [name, fields, status, error] of refusals) {
    it.effect(`responds with ${status} ${error} to a token request with ${name}`, () =>
      Effect.gen(function*() {
        const response = yield* post("V2", fields)
        assert.strictEqual(response.status, status)
        assert.strictEqual(response.body["error"], error)
        assert.isString(response.body["error_description"])
      }).pipe(Effect.provide(Simulator.layer())))
  }

  it.effect("returns the challenge of a client's scheme with 401, as RFC 6749 requires, and never its credential", () =>
    Effect.gen(function*() {
      const challenge = (fields: Record<string, string>, authorization: Record<string, string> = {}) => {
        const headers = { "content-type": "application/x-www-form-urlencoded", ...authorization }
        return Effect.map(
          post("V2", fields, { headers }),
          ({ headers, status }) => [status, headers.get("www-authenticate")]
        )
      }
      const basic = { authorization: `Basic ${btoa("simulated-client:other")}` }
      const wrong = { ...form, client_secret: "other" }
      const none = without("client_secret")
      assert.deepStrictEqual(yield* challenge(none, basic), [401, `Basic realm="simulator"`])
      assert.deepStrictEqual(yield* challenge(wrong, basic), [401, `Basic realm="simulator"`])
      assert.deepStrictEqual(yield* challenge(none, { authorization: "bearer a" }), [401, `Bearer realm="simulator"`])
      assert.deepStrictEqual(yield* challenge(none, { authorization: "canary a" }), [401, null])
      assert.deepStrictEqual(yield* challenge(none), [401, null])
    }).pipe(Effect.provide(Simulator.layer())))

  it.effect("accepts only forms, only by POST, and only on its path", () =>
    Effect.gen(function*() {
      const { environment } = yield* Simulator.Simulator
      const json = { headers: { "content-type": "application/json" }, body: JSON.stringify(form) }
      assert.strictEqual((yield* post("V2", form, json)).status, 400)
      const charset = { headers: { "content-type": "application/x-www-form-urlencoded; charset=utf-8" } }
      assert.strictEqual((yield* post("V2", form, charset)).status, 200)
      const got = yield* send(`${environment.authV2Url}/oauth2/token`)
      assert.strictEqual(got.status, 405)
      assert.strictEqual(got.headers.get("allow"), "POST")
      assert.strictEqual((yield* send(`${environment.authV2Url}/oauth/token`, { method: "POST" })).status, 404)
    }).pipe(Effect.provide(Simulator.layer())))
})

describe("the token endpoint of V1", () => {
  it.effect("responds with its legacy scope names, and needs no scope field", () =>
    Effect.gen(function*() {
      const { body, status } = yield* post("V1", formV1)
      assert.strictEqual(status, 200)
      assert.strictEqual(body["scope"], "read:consumers write:consumers read:credit.simulated.score.vantage3")
      assert.strictEqual((yield* post("V1", { ...formV1, audience: "" })).status, 400)
    }).pipe(Effect.provide(Simulator.layer())))
})

describe("the business API", () => {
  it.effect("accepts a V2 token for the groups of its scopes, and a V1 token for all groups", () =>
    Effect.gen(function*() {
      const v1 = (yield* post("V1", formV1)).body["access_token"]
      const v2 = (yield* post("V2", form)).body["access_token"]
      const statuses = (path: string) => Effect.forEach([v1, v2], (token) => statusOf(path, token))
      assert.deepStrictEqual(yield* statuses("/data-access/a"), [200, 200])
      assert.deepStrictEqual(yield* statuses("/furnishment/a?b=c"), [200, 200])
      assert.deepStrictEqual(yield* statuses("/enablement-services/a"), [200, 403])
      assert.deepStrictEqual(yield* statuses("/elsewhere"), [404, 404])
    }).pipe(Effect.provide(Simulator.layer())))

  it.effect("judges a call by its resolved path, and keeps the address as it was sent", () =>
    Effect.gen(function*() {
      const { environment, received } = yield* Simulator.Simulator
      const { access_token: token } = (yield* post("V2", form)).body
      const respond = (target: string, method = "GET") => exchange(environment.baseUrl, { method, target, token })
      const dots = "/enablement-services/../data-access/b/%2e%2e/a?b=c"
      assert.deepStrictEqual(yield* respond(dots), {
        status: 200,
        body: { group: "Data Access", method: "GET", path: "/data-access/a" }
      })
      assert.strictEqual((yield* respond("/x/../data-access/a")).status, 200)
      assert.strictEqual((yield* respond("/data-access/../enablement-services/a")).status, 403)
      assert.strictEqual((yield* respond("/furnishment/%2E%2e/enablement-services/a")).status, 403)
      assert.strictEqual((yield* respond("/data-access/..")).status, 404)
      assert.deepStrictEqual((yield* respond("/data-access/a..b/...")).status, 200)
      assert.strictEqual((yield* respond("//data-access/a")).status, 404)
      assert.strictEqual((yield* respond("*", "OPTIONS")).status, 404)
      assert.strictEqual((yield* exchange(environment.authV2Url, { target: "/x/../oauth2/token" })).status, 405)
      // RFC 9112, section 3.2.2: a server accepts the absolute form
      assert.strictEqual((yield* respond(`${environment.baseUrl}/data-access/a`)).status, 200)
      assert.strictEqual((yield* received)[1]?.url, dots)
    }).pipe(Effect.provide(Simulator.layer())))

  it.effect("gives the reason of each rejection in its status, its challenge and its body", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      const token = yield* newToken
      const rejection = (path: string, token?: unknown, init?: RequestInit) =>
        Effect.map(get(path, token, init), ({ body, headers, status }) => [
          status,
          headers.get("www-authenticate"),
          body["error_description"]
        ])
      const realm = `Bearer realm="simulator"`
      const [status, challenge, reason] = yield* rejection("/elsewhere", token)
      assert.deepStrictEqual([status, challenge], [404, null])
      assert.match(
        String(reason),
        /^No endpoint group has the path \/elsewhere. Their paths begin with \/data-access\/, /
      )
      assert.deepStrictEqual(yield* rejection("/data-access/a"), [
        401,
        realm,
        "The call has no Authorization header. Send \"Authorization: Bearer\" with a token."
      ])
      const basic = { headers: { authorization: "Basic abc" } }
      assert.deepStrictEqual(yield* rejection("/data-access/a", undefined, basic), [
        401,
        realm,
        "The call has an Authorization header of another form. Send \"Authorization: Bearer\" with a token."
      ])
      const invalid = `${realm}, error="invalid_token"`
      assert.deepStrictEqual(yield* rejection("/data-access/a", "unknown"), [
        401,
        invalid,
        "The simulator has not issued this token, or has forgotten it after its end or after a reset. Request a new one."
      ])
      const needed = "Enablement Services needs the scope serviceplus:all. Token 1 has data-access:all furnishment:all."
      const insufficient = `${realm}, error="insufficient_scope", scope="serviceplus:all"`
      assert.deepStrictEqual(yield* rejection("/enablement-services/a", token), [
        403,
        insufficient,
        `${needed} The token was requested without it: add it to CREDIT_DATA_SCOPES, and request a new token.`
      ])
      yield* simulator.grantScopes(["data-access:all"])
      assert.deepStrictEqual(yield* rejection("/enablement-services/a", token), [
        403,
        insufficient,
        `${needed} V2 does not grant it to the client now: grant it, and request a new token.`
      ])
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(yield* rejection("/data-access/a", token), [
        401,
        invalid,
        "Token 1 expired at 1970-01-01T01:00:00.000Z. Request a new one."
      ])
      const next = yield* newToken
      yield* simulator.revokeTokens
      const revoked = [401, invalid, "Token 2 was revoked. Request a new one."]
      assert.deepStrictEqual(yield* rejection("/data-access/a", next), revoked)
    }).pipe(Effect.provide(Simulator.layer({ tokenLifetime: "1 hour" }))))
})

describe("the simulator", () => {
  it.effect("reads the body of a request that offers to upgrade to HTTP/2, as Java and curl do", () =>
    Effect.gen(function*() {
      const { environment } = yield* Simulator.Simulator
      const upgrade = { connection: "Upgrade, HTTP2-Settings", upgrade: "h2c", "http2-settings": "AAMAAABkAAQAoAAA" }
      const { body, status } = yield* exchange(environment.authV2Url, {
        method: "POST",
        target: "/oauth2/token",
        headers: { ...upgrade, "content-type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams(form).toString()
      })
      assert.strictEqual(status, 200, JSON.stringify(body))
      const token = body["access_token"]
      const call = { method: "POST", target: "/data-access/a", headers: upgrade, body: "{}", token }
      assert.strictEqual((yield* exchange(environment.baseUrl, call)).status, 200)
    }).pipe(Effect.provide(Simulator.layer())))

  it.effect("applies the queued faults to the next requests, one after the other", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      yield* simulator.failTokenRequests(Fault.Response({ status: 503, headers: { "retry-after": "2" }, body: "{}" }), {
        times: 2
      })
      yield* simulator.failTokenRequests(Fault.oauthError(401, "invalid_client", "because"))
      const responses = yield* Effect.replicateEffect(post("V2", form), 4)
      assert.deepStrictEqual(responses.map(({ status }) => status), [503, 503, 401, 200])
      assert.strictEqual(responses[0]?.headers.get("retry-after"), "2")
      assert.deepStrictEqual(responses[2]?.body, { error: "invalid_client", error_description: "because" })
      assert.strictEqual(yield* simulator.tokenRequests, 4)
      yield* simulator.failCalls(Fault.Response({ status: 418, body: "{}" }))
      assert.strictEqual((yield* get("/data-access/a")).status, 418)
    }).pipe(Effect.provide(Simulator.layer())))
})

describe("the lifetime of simulated tokens", () => {
  it.scoped("is refused below one second and when infinite, because expires_in would be 0 or not a number", () =>
    Effect.gen(function*() {
      for (const tokenLifetime of ["999 millis", 0, "-1 seconds", Infinity] as const) {
        const error = yield* Effect.flip(Layer.build(Simulator.layer({ tokenLifetime })))
        assert.include(
          String(error),
          "(Invalid data at tokenLifetime: \"Expected a finite duration of 1 second or more\")"
        )
      }
      yield* Layer.build(Simulator.layer({ tokenLifetime: "1 second" }))
    }))

  for (const wholeSeconds of [false, true]) {
    it.effect(`is ${wholeSeconds ? "rounded down to whole seconds on request" : "not rounded by default"}`, () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(700)
        const { body } = yield* post("V2", form)
        assert.strictEqual(body["expires_in"], 10)
        const statusAt = (millis: number) =>
          Effect.zipRight(TestClock.setTime(millis), statusOf("/data-access/a", body["access_token"]))
        assert.strictEqual(yield* statusAt(9_999), 200)
        assert.strictEqual(yield* statusAt(10_000), wholeSeconds ? 401 : 200)
        assert.strictEqual(yield* statusAt(10_700), 401)
      }).pipe(Effect.provide(Simulator.layer({ tokenLifetime: "10 seconds", wholeSeconds }))))
  }
})

describe("a simulator whose scope closes", () => {
  it.live("ends the connection of a client that has sent half of a request", () =>
    Effect.gen(function*() {
      const socket = yield* Effect.scoped(Effect.gen(function*() {
        const { environment: { authV2Url } } = Context.get(yield* Layer.build(Simulator.layer()), Simulator.Simulator)
        const socket = connect(Number(new URL(authV2Url).port), "127.0.0.1")
        yield* Effect.promise(() => once(socket, "connect"))
        // its end is a reset
        socket.on("error", () => {})
        yield* Effect.async<void>((resume) => {
          socket.write(
            "POST /oauth2/token HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n\r\n1",
            () => resume(Effect.void)
          )
        })
        return socket
      }))
      yield* Effect.async<void>((resume) => {
        if (socket.closed) return resume(Effect.void)
        socket.once("close", () => resume(Effect.void))
      })
    }), 10_000)
})
