import { Fault, Simulator } from "@credit-data/simulator"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { act, events, read, readJson, Test } from "../support/admin.ts"
import { form, get, newToken, post, sendText, statusOf } from "../support/http.ts"

describe("the admin server", () => {
  it.effect("shows requests, tokens and the state", () =>
    Effect.gen(function*() {
      const token = yield* newToken
      yield* get("/data-access/a", token)
      const requests = yield* readJson("/api/v1/requests")
      assert.deepInclude(requests[0], {
        id: 1,
        server: "AuthV2",
        method: "POST",
        status: 200,
        token: null,
        fault: null
      })
      const { body } = yield* readJson("/api/v1/requests/1")
      assert.strictEqual(
        body.text,
        "client_id=simulated-client\nclient_secret=***\naudience=https://simulator.credit-data.example\n" +
          "scope=data-access:all furnishment:all\ngrant_type=client_credentials"
      )
      assert.deepInclude(requests[1], { id: 2, server: "Api", url: "/data-access/a", status: 200, token: 1 })
      const [issued] = yield* readJson("/api/v1/tokens")
      assert.deepInclude(issued, {
        id: 1,
        version: "V2",
        scopes: ["data-access:all", "furnishment:all"],
        revoked: false,
        issuedAt: "1970-01-01T00:00:00.000Z",
        expiresAt: "1970-01-02T00:00:00.000Z"
      })
      const state = yield* readJson("/api/v1/state")
      assert.deepInclude(state, { clientId: "simulated-client", tokenRequests: 1, calls: 1, faults: [], advanced: 0 })
    }).pipe(Effect.provide(Test)))

  it.effect("shows a request with its response, and finds it by a text in any part", () =>
    Effect.gen(function*() {
      const token = yield* newToken
      yield* get("/data-access/a", token, {
        method: "POST",
        headers: { "x-trace": "Seven" },
        body: "{\"in\":\"Request\"}"
      })
      const detail = yield* readJson("/api/v1/requests/2")
      assert.deepInclude(detail, { id: 2, url: "/data-access/a", token: 1, issuedToken: null })
      assert.deepInclude(detail.headers, { "x-trace": "Seven", authorization: "Bearer ***" })
      assert.deepStrictEqual(detail.body, { text: "{\"in\":\"Request\"}", size: 16, cut: false })
      assert.strictEqual(detail.response.status, 200)
      assert.strictEqual(detail.response.headers["content-type"], "application/json")
      assert.deepInclude(JSON.parse(detail.response.body.text), { group: "Data Access" })
      const granted = yield* readJson("/api/v1/requests/1")
      assert.strictEqual(granted.issuedToken, 1)
      assert.deepStrictEqual(JSON.parse(granted.response.body.text), {
        access_token: "***",
        scope: "data-access:all furnishment:all",
        expires_in: 86_400,
        token_type: "Bearer"
      })
      assert.strictEqual((yield* read("/api/v1/requests/3")).status, 404)

      const found: ReadonlyArray<readonly [text: string, ids: ReadonlyArray<number>]> = [
        ["x-trace: seven", [2]],
        ["in\":\"request", [2]],
        ["Data Access", [2]],
        ["expires_in", [1]],
        ["nowhere", []],
        ["Data.Access", []],
        // a mask is found too
        ["Bearer ***", [2]],
        [token, []],
        [form.client_secret, []]
      ]
      for (const [text, ids] of found) {
        const { requests } = yield* readJson(`/api/v1/search?text=${encodeURIComponent(text)}`)
        assert.deepStrictEqual(requests.map(({ id }: { readonly id: number }) => id), ids, text)
      }
    }).pipe(Effect.provide(Test)))

  it.effect("shows the beginning of a long body, without the part in which a cut secret could be", () =>
    Effect.gen(function*() {
      const cut = `${"a".repeat(65_500)}${form.client_secret}${"b".repeat(1_000)}`
      const inside = `${form.client_secret}${"a".repeat(70_000)}`
      yield* get("/elsewhere", undefined, { method: "POST", body: cut })
      yield* get("/elsewhere", undefined, { method: "POST", body: inside })
      const bodyOf = (id: number) => Effect.map(readJson(`/api/v1/requests/${id}`), ({ body }) => body)
      assert.deepStrictEqual(yield* bodyOf(1), { text: "***", size: cut.length, cut: true })
      const { text, ...rest } = yield* bodyOf(2)
      assert.deepStrictEqual(rest, { size: inside.length, cut: true })
      assert.match(text, /^\*{3}a{64000,}$/)
    }).pipe(Effect.provide(Test)))

  it.effect("removes one fault, or one fixture", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      yield* simulator.failCalls(Fault.Silence())
      yield* simulator.failCalls(Fault.Reset())
      assert.strictEqual((yield* act("/api/v1/faults/1/remove")).status, 204)
      assert.strictEqual((yield* act("/api/v1/faults/1/remove")).status, 404)
      assert.deepStrictEqual((yield* simulator.faults).map(({ id }) => id), [2])

      const path = `/data-access/${form.client_secret}`
      yield* act("/api/v1/fixtures", { path: "/data-access/{id}", body: {} })
      yield* act("/api/v1/fixtures", { path })
      yield* act("/api/v1/fixtures", { path, method: "PUT" })
      // the state has the masked path
      const masked = { method: "GET", path: "/data-access/***" }
      assert.deepInclude((yield* readJson("/api/v1/state")).fixtures, { ...masked, status: 200 })
      assert.strictEqual((yield* act("/api/v1/fixtures/remove", masked)).status, 204)
      assert.strictEqual((yield* act("/api/v1/fixtures/remove", masked)).status, 404)
      assert.deepStrictEqual((yield* simulator.fixtures).map(({ method }) => method), ["PUT", "GET"])
    }).pipe(Effect.provide(Test)))

  it.effect("queues faults, and clears them", () =>
    Effect.gen(function*() {
      const fault = { _tag: "Response", status: 503, headers: { "retry-after": "2" }, body: "{}" }
      assert.strictEqual(
        (yield* act("/api/v1/faults", { target: "TokenRequests", fault, times: "unlimited" })).status,
        204
      )
      assert.strictEqual((yield* act("/api/v1/faults", { target: "Calls", fault })).status, 204)
      const response = yield* post("V2", form)
      assert.deepStrictEqual([response.status, response.headers.get("retry-after")], [503, "2"])
      const { faults } = yield* readJson("/api/v1/state")
      assert.deepStrictEqual(faults, [
        { id: 1, target: "TokenRequests", fault: "Response", status: 503, milliseconds: null, remaining: "unlimited" },
        { id: 2, target: "Calls", fault: "Response", status: 503, milliseconds: null, remaining: 1 }
      ])
      assert.strictEqual((yield* act("/api/v1/faults/clear")).status, 204)
      assert.strictEqual((yield* post("V2", form)).status, 200)
    }).pipe(Effect.provide(Test)))

  it.effect("queues a fault for some requests, and shows which", () =>
    Effect.gen(function*() {
      const token = yield* newToken
      const { status } = yield* act("/api/v1/faults", {
        target: "Calls",
        fault: { _tag: "Delay", duration: 0 },
        method: "GET",
        path: `/data-access/${form.client_secret}/{id}`,
        headers: { "x-replica": "canary" },
        percent: 100
      })
      assert.strictEqual(status, 204)
      yield* get("/data-access/a", token, { headers: { "x-replica": "canary" } })
      const { text } = yield* read("/api/v1/state")
      assert.deepStrictEqual(JSON.parse(text).faults, [{
        id: 1,
        target: "Calls",
        fault: "Delay",
        status: null,
        milliseconds: 0,
        remaining: 1,
        only: "GET /data-access/***/{id} x-replica 100 %"
      }])
      assert.notInclude(text, "canary")
      yield* get(`/data-access/${form.client_secret}/7`, token, { headers: { "x-replica": "canary" } })
      assert.deepStrictEqual((yield* readJson("/api/v1/state")).faults, [])
    }).pipe(Effect.provide(Test)))

  it.effect("revokes tokens, grants scopes, rotates the secret, advances the clock and resets", () =>
    Effect.gen(function*() {
      const [first, second] = [yield* newToken, yield* newToken]
      assert.strictEqual((yield* act("/api/v1/tokens/1/revoke")).status, 204)
      assert.strictEqual((yield* act("/api/v1/tokens/7/revoke")).status, 404)
      assert.strictEqual(yield* statusOf("/data-access/a", first), 401)
      assert.strictEqual(yield* statusOf("/data-access/a", second), 200)
      yield* act("/api/v1/tokens/revoke")
      assert.strictEqual(yield* statusOf("/data-access/a", second), 401)

      yield* act("/api/v1/scopes", { scopes: ["furnishment:all"] })
      assert.strictEqual((yield* post("V2", form)).body["scope"], "furnishment:all")
      assert.strictEqual((yield* act("/api/v1/secret/rotate")).text, "")
      assert.strictEqual((yield* post("V2", form)).status, 401)
      yield* act("/api/v1/clock/advance", { seconds: 90 })
      assert.strictEqual((yield* readJson("/api/v1/state")).now, "1970-01-01T00:01:30.000Z")

      assert.strictEqual((yield* act("/api/v1/reset")).status, 204)
      assert.strictEqual((yield* act("/api/v1/tokens/1/revoke")).status, 404)
      assert.strictEqual((yield* post("V2", form)).status, 200)
      assert.strictEqual((yield* readJson("/api/v1/requests")).length, 1)
    }).pipe(Effect.provide(Test)))

  it.effect("shows the state also while it has values that only a program in its process can set", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      yield* simulator.failCalls(Fault.Delay({ duration: "25 hours" }), { times: 2_000_000 })
      yield* simulator.failCalls(Fault.Delay({ duration: "1500 micros" }))
      yield* simulator.failCalls(Fault.Delay({ duration: Infinity }))
      yield* simulator.failCalls(Fault.Response({ status: 700 }))
      yield* simulator.setFixtures([{ method: "GET", path: "/data-access/a", status: 600, headers: {} }])
      const { status, text } = yield* read("/api/v1/state")
      assert.strictEqual(status, 200)
      assert.deepStrictEqual(
        JSON.parse(text).faults.map(({ milliseconds }: { readonly milliseconds: unknown }) => milliseconds),
        [90_000_000, 1.5, null, null]
      )
      assert.deepStrictEqual((yield* events(2)).map(({ event }) => event), ["reset", "state"])
    }).pipe(Effect.provide(Test)))

  it.effect("adds fixtures, in the place of those with the same method and path", () =>
    Effect.gen(function*() {
      const token = yield* newToken
      yield* act("/api/v1/fixtures", { path: "/data-access/{id}", body: { first: true } })
      yield* act("/api/v1/fixtures", { path: "/data-access/{id}", status: 201, body: { second: true } })
      const { body, status } = yield* get("/data-access/a", token)
      assert.deepStrictEqual([status, body], [201, { second: true }])
      assert.deepStrictEqual((yield* readJson("/api/v1/state")).fixtures, [
        { method: "GET", path: "/data-access/{id}", status: 201 }
      ])
      yield* act("/api/v1/fixtures/clear")
      assert.strictEqual((yield* get("/data-access/a", token)).body["group"], "Data Access")
    }).pipe(Effect.provide(Test)))

  it.effect("adds fixtures by query and with a sequence, shows what comes next, and removes them", () =>
    Effect.gen(function*() {
      const token = yield* newToken
      const path = "/data-access/reports/{id}"
      const query = { page: "2", secret: form.client_secret }
      yield* act("/api/v1/fixtures", { path, status: 202, next: [{ status: 503 }, { body: { done: true } }] })
      yield* act("/api/v1/fixtures", { path, query, body: { page: 2 } })
      // the state has the masked query
      const shown = { method: "GET", path, query: { page: "2", secret: "***" } }
      const fixtures = Effect.map(readJson("/api/v1/state"), ({ fixtures }) => fixtures)
      assert.deepStrictEqual(yield* fixtures, [
        { ...shown, status: 200 },
        { method: "GET", path, status: 202, next: [503, 200] }
      ])
      const { environment } = yield* Simulator.Simulator
      const headers = { authorization: `Bearer ${token}` }
      const statusOfNext = Effect.map(
        sendText(`${environment.baseUrl}/data-access/reports/1`, { headers }),
        ({ status }) => status
      )
      assert.strictEqual(yield* statusOfNext, 202)
      const called = yield* get(`/data-access/reports/1?${new URLSearchParams(query)}`, token)
      assert.deepStrictEqual(called.body, { page: 2 })
      // another fixture does not start the sequence again
      yield* act("/api/v1/fixtures", { path, query: { secret: query.secret, page: "2" }, body: { page: "two" } })
      assert.deepStrictEqual(yield* fixtures, [
        { ...shown, status: 200 },
        { method: "GET", path, status: 503, next: [200] }
      ])
      assert.strictEqual(yield* statusOfNext, 503)
      assert.strictEqual((yield* act("/api/v1/fixtures/remove", { ...shown, query: { page: "2" } })).status, 404)
      assert.strictEqual((yield* act("/api/v1/fixtures/remove", shown)).status, 204)
      assert.deepStrictEqual(yield* fixtures, [{ method: "GET", path, status: 200 }])
      assert.deepStrictEqual((yield* get("/data-access/reports/1", token)).body, { done: true })
    }).pipe(Effect.provide(Test)))

  it.effect("reveals the variables only to an action", () =>
    Effect.gen(function*() {
      const variables = JSON.parse((yield* act("/api/v1/variables")).text)
      assert.strictEqual(variables.CREDIT_DATA_CLIENT_SECRET, form.client_secret)
      assert.strictEqual((yield* read("/api/v1/variables")).status, 404)
    }).pipe(Effect.provide(Test)))

  it.effect("describes itself as an OpenAPI document", () =>
    Effect.gen(function*() {
      const document = yield* readJson("/api/v1/openapi.json")
      assert.strictEqual(document.openapi, "3.1.0")
      assert.include(Object.keys(document.paths), "/api/v1/tokens/{id}/revoke")
      assert.containsAllKeys(document.components.schemas.Fixture.properties, ["query", "next"])
      assert.deepStrictEqual(document.paths["/api/v1/reset"].post.security, [{ key: [] }])
      assert.deepStrictEqual(document.paths["/api/v1/state"].get.security, [])
      assert.deepInclude(document.components.securitySchemes.key, {
        type: "apiKey",
        name: "x-api-key",
        in: "header"
      })
    }).pipe(Effect.provide(Test)))
})
