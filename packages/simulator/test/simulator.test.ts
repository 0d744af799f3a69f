import { Fault, Simulator } from "@credit-data/simulator"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Redacted, TestClock } from "effect"
import { exchange, form, formV1, get, post, send } from "./support/http.ts"

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
      const challenge = (fields: Record<string, string>, authorization?: string) =>
        Effect.map(
          post("V2", fields, {
            headers: {
              "content-type": "application/x-www-form-urlencoded",
              ...(authorization === undefined ? {} : { authorization })
            }
          }),
          ({ headers, status }) => [status, headers.get("www-authenticate")]
        )
      const basic = `Basic ${btoa("simulated-client:other")}`
      assert.deepStrictEqual(yield* challenge(without("client_secret"), basic), [401, `Basic realm="simulator"`])
      assert.deepStrictEqual(yield* challenge({ ...form, client_secret: "other" }, basic), [
        401,
        `Basic realm="simulator"`
      ])
      assert.deepStrictEqual(yield* challenge(without("client_secret"), "bearer abc"), [
        401,
        `Bearer realm="simulator"`
      ])
      assert.deepStrictEqual(yield* challenge(without("client_secret"), "canary abc"), [401, null])
      assert.deepStrictEqual(yield* challenge(without("client_secret")), [401, null])
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
      const statuses = (path: string) =>
        Effect.forEach([v1, v2], (token) => Effect.map(get(path, token), ({ status }) => status))
      assert.deepStrictEqual(yield* statuses("/data-access/a"), [200, 200])
      assert.deepStrictEqual(yield* statuses("/furnishment/a?b=c"), [200, 200])
      assert.deepStrictEqual(yield* statuses("/enablement-services/a"), [200, 403])
      assert.deepStrictEqual(yield* statuses("/elsewhere"), [404, 404])
      const refused = yield* get("/enablement-services/a", v2)
      assert.strictEqual(
        refused.headers.get("www-authenticate"),
        `Bearer realm="simulator", error="insufficient_scope", scope="serviceplus:all"`
      )
    }).pipe(Effect.provide(Simulator.layer())))

  it.effect("takes the path as it was sent, so that a client which does not resolve dot segments is seen", () =>
    Effect.gen(function*() {
      const { environment, received } = yield* Simulator.Simulator
      const { access_token: token } = (yield* post("V2", form)).body
      const respond = (target: string, method = "GET") => exchange(environment.baseUrl, { method, target, token })
      const dots = "/data-access/../enablement-services/%2e%2e\\a?b=c"
      assert.deepStrictEqual(yield* respond(dots), {
        status: 200,
        body: { group: "Data Access", method: "GET", path: "/data-access/../enablement-services/%2e%2e\\a" }
      })
      assert.strictEqual((yield* respond("/x/../data-access/a")).status, 404)
      assert.strictEqual((yield* respond("//data-access/a")).status, 404)
      assert.strictEqual((yield* respond("*", "OPTIONS")).status, 404)
      assert.strictEqual((yield* exchange(environment.authV2Url, { target: "/x/../oauth2/token" })).status, 404)
      // RFC 9112, section 3.2.2: a server accepts the absolute form
      assert.strictEqual((yield* respond(`${environment.baseUrl}/data-access/a`)).status, 200)
      assert.strictEqual((yield* received)[1]?.url, dots)
    }).pipe(Effect.provide(Simulator.layer())))

  it.effect("gives the reason in the body of each rejection", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      const token = (yield* post("V2", form)).body["access_token"]
      const reason = (path: string, token?: unknown, init?: RequestInit) =>
        Effect.map(get(path, token, init), ({ body }) => body["error_description"])
      assert.strictEqual(
        yield* reason("/elsewhere", token),
        "No endpoint group has the path /elsewhere. Their paths begin with /data-access/, /furnishment/, /enablement-services/."
      )
      assert.strictEqual(
        yield* reason("/data-access/a"),
        "The call has no Authorization header. Send \"Authorization: Bearer\" with a token."
      )
      assert.strictEqual(
        yield* reason("/data-access/a", undefined, { headers: { authorization: "Basic abc" } }),
        "The call has an Authorization header of another form. Send \"Authorization: Bearer\" with a token."
      )
      assert.strictEqual(
        yield* reason("/data-access/a", "unknown"),
        "The simulator has not issued this token, or has forgotten it after its end or after a reset. Request a new one."
      )
      assert.strictEqual(
        yield* reason("/enablement-services/a", token),
        "Enablement Services needs the scope serviceplus:all. Token 1 has data-access:all furnishment:all. The token was requested without it: add it to CREDIT_DATA_SCOPES, and request a new token."
      )
      yield* simulator.grantScopes(["data-access:all"])
      assert.include(
        yield* reason("/enablement-services/a", token),
        "V2 does not grant it to the client now: grant it, and request a new token."
      )
      yield* simulator.advanceClock("1 hour")
      assert.strictEqual(
        yield* reason("/data-access/a", token),
        "Token 1 expired at 1970-01-01T01:00:00.000Z. Request a new one."
      )
      const next = (yield* post("V2", form)).body["access_token"]
      yield* simulator.revokeTokens
      assert.strictEqual(yield* reason("/data-access/a", next), "Token 2 was revoked. Request a new one.")
    }).pipe(Effect.provide(Simulator.layer({ tokenLifetime: "1 hour" }))))

  it.effect("responds with 401 to a request without a token, or with an unknown, a revoked or an expired token", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      const none = yield* get("/data-access/a")
      assert.strictEqual(none.status, 401)
      assert.strictEqual(none.headers.get("www-authenticate"), `Bearer realm="simulator"`)
      const unknown = yield* get("/data-access/a", "unknown")
      assert.strictEqual(unknown.headers.get("www-authenticate"), `Bearer realm="simulator", error="invalid_token"`)

      const first = (yield* post("V2", form)).body["access_token"]
      yield* TestClock.adjust("59 minutes")
      assert.strictEqual((yield* get("/data-access/a", first)).status, 200)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* get("/data-access/a", first)).status, 401)

      const second = (yield* post("V2", form)).body["access_token"]
      yield* simulator.revokeTokens
      assert.strictEqual((yield* get("/data-access/a", second)).status, 401)
    }).pipe(Effect.provide(Simulator.layer({ tokenLifetime: "1 hour" }))))
})

describe("the simulator", () => {
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

  it.effect("delays a response by the Effect Clock", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      yield* simulator.failTokenRequests(Fault.Delay({ duration: "9 seconds" }))
      const late = yield* Effect.fork(post("V2", form))
      yield* simulator.awaitReceived("AuthV2", 1)
      yield* TestClock.adjust("9 seconds")
      assert.strictEqual((yield* Fiber.join(late)).status, 200)
    }).pipe(Effect.provide(Simulator.layer())))

  it.effect("can grant fewer scopes, and can change the client secret", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      yield* simulator.grantScopes(["furnishment:all"])
      assert.strictEqual((yield* post("V2", form)).body["scope"], "furnishment:all")
      const { clientSecret } = yield* simulator.rotateSecret
      assert.strictEqual((yield* post("V2", form)).status, 401)
      assert.strictEqual((yield* post("V2", { ...form, client_secret: Redacted.value(clientSecret) })).status, 200)
    }).pipe(Effect.provide(Simulator.layer())))

  it.effect("returns the requests that it received", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      yield* post("V2", form)
      yield* get("/data-access/a?b=c", "a-token")
      const [first, second] = yield* simulator.received
      assert.deepInclude(first, { server: "AuthV2", method: "POST", url: "/oauth2/token" })
      assert(first !== undefined && second !== undefined)
      assert.strictEqual(new TextDecoder().decode(Redacted.value(first.body)), new URLSearchParams(form).toString())
      assert.deepInclude(second, { server: "Api", method: "GET", url: "/data-access/a?b=c" })
      assert.notProperty(second.headers, "authorization")
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
        yield* TestClock.setTime(9_999)
        assert.strictEqual((yield* get("/data-access/a", body["access_token"])).status, 200)
        yield* TestClock.setTime(10_000)
        assert.strictEqual((yield* get("/data-access/a", body["access_token"])).status, wholeSeconds ? 401 : 200)
        yield* TestClock.setTime(10_700)
        assert.strictEqual((yield* get("/data-access/a", body["access_token"])).status, 401)
      }).pipe(Effect.provide(Simulator.layer({ tokenLifetime: "10 seconds", wholeSeconds }))))
  }
})
