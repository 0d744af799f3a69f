import { AdminApi, AdminServer, Fault, Simulator } from "@credit-data/simulator"
import { recordingTracer } from "@credit-data/test-support/recordingTracer"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Redacted } from "effect"
import { request as httpRequest } from "node:http"
import { connect } from "node:net"
import { form, get, newToken, post, sendText } from "./support/http.ts"

const Test = AdminServer.layer().pipe(Layer.provideMerge(Simulator.layer()))

/** Sends an action with the key. */
const act = (path: string, payload?: unknown) =>
  Effect.flatMap(AdminServer.AdminServer, ({ key, url }) =>
    sendText(`${url}${path}`, {
      method: "POST",
      headers: { "x-api-key": Redacted.value(key), "content-type": "application/json" },
      ...(payload === undefined ? {} : { body: typeof payload === "string" ? payload : JSON.stringify(payload) })
    }))

const read = (path: string, init?: RequestInit) =>
  Effect.flatMap(AdminServer.AdminServer, ({ url }) => sendText(`${url}${path}`, init))

/** Sends a request with a `Host` that fetch would not send. */
const withHost = (host: string) =>
  Effect.flatMap(AdminServer.AdminServer, ({ url }) =>
    Effect.async<number | undefined>((resume) => {
      httpRequest(`${url}/api/state`, { headers: { host } }, (response) => {
        response.resume()
        resume(Effect.succeed(response.statusCode))
      }).end()
    }))

interface Event {
  readonly id: string
  readonly event: string
  readonly data: { readonly [name: string]: unknown }
}

const field = (block: string, name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1] ?? ""

/** The first events of the stream. */
const events = (count: number, lastEventId?: string) =>
  Effect.flatMap(AdminServer.AdminServer, ({ url }) =>
    Effect.promise(async (): Promise<ReadonlyArray<Event>> => {
      const headers = lastEventId === undefined ? {} : { "last-event-id": lastEventId }
      const { body } = await fetch(`${url}/events`, { headers })
      assert(body !== null)
      const decoder = new TextDecoder()
      let text = ""
      for await (const bytes of body) {
        text += decoder.decode(bytes, { stream: true })
        // the first block is the time after which a client reconnects
        const blocks = text.split("\n\n").slice(1, -1)
        if (blocks.length >= count) {
          return blocks.slice(0, count).map((block) => ({
            id: field(block, "id"),
            event: field(block, "event"),
            data: JSON.parse(field(block, "data"))
          }))
        }
      }
      return []
    }))

describe("the admin server", () => {
  it.effect("shows requests, tokens and the state", () =>
    Effect.gen(function*() {
      const token = yield* newToken
      yield* get("/data-access/a", token)
      const requests = JSON.parse((yield* read("/api/requests")).text)
      assert.deepInclude(requests[0], {
        id: 1,
        server: "AuthV2",
        method: "POST",
        status: 200,
        token: null,
        fault: null
      })
      assert.strictEqual(
        requests[0].body,
        "client_id=simulated-client\nclient_secret=***\naudience=https://simulator.credit-data.example\n" +
          "scope=data-access:all furnishment:all\ngrant_type=client_credentials"
      )
      assert.deepInclude(requests[1], { id: 2, server: "Api", url: "/data-access/a", status: 200, token: 1 })
      const [issued] = JSON.parse((yield* read("/api/tokens")).text)
      assert.deepInclude(issued, { id: 1, version: "V2", revoked: false, issuedAt: "1970-01-01T00:00:00.000Z" })
      const state = JSON.parse((yield* read("/api/state")).text)
      assert.deepInclude(state, { clientId: "simulated-client", tokenRequests: 1, calls: 1, faults: [], advanced: 0 })
    }).pipe(Effect.provide(Test)))

  it.effect("queues faults, and clears them", () =>
    Effect.gen(function*() {
      const fault = { _tag: "Response", status: 503, headers: { "retry-after": "2" }, body: "{}" }
      assert.strictEqual(
        (yield* act("/api/faults", { target: "TokenRequests", fault, times: "unlimited" })).status,
        204
      )
      assert.strictEqual((yield* act("/api/faults", { target: "Calls", fault })).status, 204)
      const response = yield* post("V2", form)
      assert.deepStrictEqual([response.status, response.headers.get("retry-after")], [503, "2"])
      const { faults } = JSON.parse((yield* read("/api/state")).text)
      assert.deepStrictEqual(faults, [
        { id: 1, target: "TokenRequests", fault: "Response", status: 503, milliseconds: null, remaining: "unlimited" },
        { id: 2, target: "Calls", fault: "Response", status: 503, milliseconds: null, remaining: 1 }
      ])
      assert.strictEqual((yield* act("/api/faults/clear")).status, 204)
      assert.strictEqual((yield* post("V2", form)).status, 200)
    }).pipe(Effect.provide(Test)))

  it.effect("revokes tokens, grants scopes, rotates the secret, advances the clock and resets", () =>
    Effect.gen(function*() {
      const [first, second] = [yield* newToken, yield* newToken]
      assert.strictEqual((yield* act("/api/tokens/1/revoke")).status, 204)
      assert.strictEqual((yield* act("/api/tokens/7/revoke")).status, 404)
      assert.strictEqual((yield* get("/data-access/a", first)).status, 401)
      assert.strictEqual((yield* get("/data-access/a", second)).status, 200)
      yield* act("/api/tokens/revoke")
      assert.strictEqual((yield* get("/data-access/a", second)).status, 401)

      yield* act("/api/scopes", { scopes: ["furnishment:all"] })
      assert.strictEqual((yield* post("V2", form)).body["scope"], "furnishment:all")
      assert.strictEqual((yield* act("/api/secret/rotate")).text, "")
      assert.strictEqual((yield* post("V2", form)).status, 401)
      yield* act("/api/clock/advance", { seconds: 90 })
      assert.strictEqual(JSON.parse((yield* read("/api/state")).text).now, "1970-01-01T00:01:30.000Z")

      assert.strictEqual((yield* act("/api/reset")).status, 204)
      assert.strictEqual((yield* post("V2", form)).status, 200)
      assert.strictEqual(JSON.parse((yield* read("/api/requests")).text).length, 1)
    }).pipe(Effect.provide(Test)))

  it.effect("shows the state also while it has values that only a program in its process can set", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      yield* simulator.failCalls(Fault.Delay({ duration: "25 hours" }), { times: 2_000_000 })
      yield* simulator.failCalls(Fault.Delay({ duration: "1500 micros" }))
      yield* simulator.failCalls(Fault.Delay({ duration: Infinity }))
      yield* simulator.failCalls(Fault.Response({ status: 700 }))
      yield* simulator.setFixtures([{ method: "GET", path: "/data-access/a", status: 600, headers: {} }])
      const { status, text } = yield* read("/api/state")
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
      yield* act("/api/fixtures", { path: "/data-access/{id}", body: { first: true } })
      yield* act("/api/fixtures", { path: "/data-access/{id}", status: 201, body: { second: true } })
      const { body, status } = yield* get("/data-access/a", token)
      assert.deepStrictEqual([status, body], [201, { second: true }])
      assert.deepStrictEqual(JSON.parse((yield* read("/api/state")).text).fixtures, [
        { method: "GET", path: "/data-access/{id}", status: 201 }
      ])
      yield* act("/api/fixtures/clear")
      assert.strictEqual((yield* get("/data-access/a", token)).body["group"], "Data Access")
    }).pipe(Effect.provide(Test)))

  it.effect("reveals the variables only to an action", () =>
    Effect.gen(function*() {
      const variables = JSON.parse((yield* act("/api/variables")).text)
      assert.strictEqual(variables.CREDIT_DATA_CLIENT_SECRET, form.client_secret)
      assert.strictEqual((yield* read("/api/variables")).status, 404)
    }).pipe(Effect.provide(Test)))

  it.effect("describes itself as an OpenAPI document", () =>
    Effect.gen(function*() {
      const document = JSON.parse((yield* read("/api/openapi.json")).text)
      assert.strictEqual(document.openapi, "3.1.0")
      assert.include(Object.keys(document.paths), "/api/tokens/{id}/revoke")
      assert.deepStrictEqual(document.paths["/api/reset"].post.security, [{ key: [] }])
      assert.deepStrictEqual(document.paths["/api/state"].get.security, [])
      assert.deepInclude(document.components.securitySchemes.key, {
        type: "apiKey",
        name: "x-api-key",
        in: "header"
      })
    }).pipe(Effect.provide(Test)))
})

describe("the protection of the admin server", () => {
  const actions = [
    "faults",
    "faults/clear",
    "tokens/1/revoke",
    "tokens/revoke",
    "scopes",
    "secret/rotate",
    "clock/advance"
  ]
    .concat("fixtures", "fixtures/clear", "variables", "reset")

  it.effect("refuses every action without the key, or with another one", () =>
    Effect.gen(function*() {
      const document = JSON.parse((yield* read("/api/openapi.json")).text)
      const posts = Object.entries<Record<string, unknown>>(document.paths).filter(([, item]) => "post" in item)
      assert.strictEqual(posts.length, actions.length)
      for (const action of actions) {
        for (const headers of [{}, { "x-api-key": "other" }, { "x-api-key": "" }]) {
          assert.strictEqual((yield* read(`/api/${action}`, { method: "POST", headers })).status, 401, action)
        }
      }
    }).pipe(Effect.provide(Test)))

  it.effect("is not switched off by an empty key", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* read("/api/variables", { method: "POST" })).status, 401)
    }).pipe(
      Effect.provide(AdminServer.layer({ key: Redacted.make("") }).pipe(Layer.provideMerge(Simulator.layer())))
    ))

  it.effect("holds for a target that is no URL", () =>
    Effect.gen(function*() {
      const { headers, status } = yield* read("//?a=b")
      assert.strictEqual(status, 404)
      assert.strictEqual(headers.get("cache-control"), "no-store")
    }).pipe(Effect.provide(Test)))

  it.effect("has another key at each start, unless the user set one", () =>
    Effect.gen(function*() {
      const keyOf = (layer: typeof Test) =>
        Effect.provide(Effect.map(AdminServer.AdminServer, ({ key }) => Redacted.value(key)), layer)
      const [one, two] = [yield* keyOf(Layer.fresh(Test)), yield* keyOf(Layer.fresh(Test))]
      assert.notStrictEqual(one, two)
      assert.match(one, /^[\w-]{24}$/)
      const chosen = AdminServer.layer({ key: Redacted.make("mine") }).pipe(Layer.provideMerge(Simulator.layer()))
      assert.strictEqual(yield* keyOf(chosen), "mine")
    }))

  it.effect("responds with 403 to a foreign Host, and to a foreign Origin", () =>
    Effect.gen(function*() {
      const { url } = yield* AdminServer.AdminServer
      const { port } = new URL(url)
      assert.strictEqual(yield* withHost(`localhost:${port}`), 200)
      assert.strictEqual(yield* withHost(`[::1]:${port}`), 200)
      for (
        const host of ["evil.example", `evil.example:${port}`, `127.0.0.1.evil.example:${port}`, `localhost.:${port}`]
      ) {
        assert.strictEqual(yield* withHost(host), 403, host)
      }
      for (const origin of ["http://evil.example", "null", `http://localhost:${port}`, `https://127.0.0.1:${port}`]) {
        assert.strictEqual((yield* read("/api/state", { headers: { origin } })).status, 403, origin)
        assert.strictEqual((yield* read("/", { headers: { origin } })).status, 403, origin)
        assert.strictEqual((yield* read("/events", { headers: { origin } })).status, 403, origin)
      }
      assert.strictEqual((yield* read("/api/state", { headers: { origin: url } })).status, 200)
    }).pipe(Effect.provide(Test)))

  it.effect("lets no other site embed, read or store a response", () =>
    Effect.gen(function*() {
      for (const path of ["/", "/api/state", "/missing"]) {
        const { headers } = yield* read(path)
        assert.strictEqual(headers.get("cache-control"), "no-store")
        assert.strictEqual(headers.get("x-frame-options"), "DENY")
        assert.strictEqual(headers.get("cross-origin-resource-policy"), "same-origin")
        assert.isNull(headers.get("access-control-allow-origin"))
      }
      const [one, two] = [yield* read("/"), yield* read("/")]
      const policyOf = ({ headers }: typeof one) => headers.get("content-security-policy") ?? ""
      const nonce = /'nonce-([\w-]+)'/.exec(policyOf(one))?.[1] ?? ""
      assert.match(policyOf(one), /^default-src 'none'; script-src 'nonce-[\w-]{24}'; style-src 'nonce-[\w-]{24}'; /)
      assert.include(one.text, nonce)
      assert.notStrictEqual(policyOf(one), policyOf(two))
    }).pipe(Effect.provide(Test)))

  it.effect("names the wrong field of an action, and never its value", () =>
    Effect.gen(function*() {
      const canary = "canary \n\" canary"
      const wrong: ReadonlyArray<readonly [string, unknown, string]> = [
        ["faults", { target: canary, fault: { _tag: "Silence" } }, "target: Expected \"TokenRequests\""],
        [
          "faults",
          { target: "Calls", fault: { _tag: "Response", status: 99 } },
          "fault.status: Expected a"
        ],
        ["faults", { target: "Calls", fault: { _tag: canary } }, "fault"],
        ["faults", { fault: { _tag: "Silence" } }, "target: is missing"],
        ["faults", { target: "Calls", fault: { _tag: "Silence" }, time: canary }, "time: "],
        ["faults", { target: "Calls", fault: { _tag: "Response", status: 503, header: canary } }, "header: "],
        [
          "faults",
          { target: "Calls", fault: { _tag: "Response", status: 503, headers: { "x-a": canary } } },
          "headers"
        ],
        ["faults", { target: "Calls", fault: { _tag: "Response", status: 503, headers: { "x a": "" } } }, "headers"],
        ["fixtures", { path: "/data-access/a?b=c" }, "path: Expected"],
        ["faults", { target: "Calls", fault: { _tag: "Silence" }, times: canary }, "times: Expected"],
        ["scopes", { scopes: [canary] }, "scopes.0: Expected"],
        ["clock/advance", { seconds: canary }, "seconds: Expected"],
        ["fixtures", { path: canary }, "path: Expected"],
        ["tokens/canary/revoke", undefined, "id: "],
        ["scopes", `{ ${canary}`, "JSON"],
        ["scopes", `"canary"`, "Expected"]
      ]
      for (const [path, payload, message] of wrong) {
        const { status, text } = yield* act(`/api/${path}`, payload)
        assert.strictEqual(status, 400, path)
        assert.notInclude(text, "canary")
        assert.include(JSON.parse(text).message, message)
      }
    }).pipe(Effect.provide(Test)))
})

describe("the stream of events", () => {
  it.effect("begins with a reset and the state, and goes on with what changes", () =>
    Effect.gen(function*() {
      const first = yield* Effect.fork(events(4))
      yield* newToken
      const all = yield* Fiber.join(first)
      assert.deepStrictEqual(all.slice(0, 2).map(({ event }) => event), ["reset", "state"])
      assert.isTrue(all.slice(2).every(({ event }) => ["request", "token", "state"].includes(event)))
    }).pipe(Effect.provide(Test)))

  it.effect("goes on after the last event that a client has seen", () =>
    Effect.gen(function*() {
      yield* newToken
      const seen = (yield* events(4)).at(-1)
      assert(seen !== undefined)
      yield* get("/data-access/missed", "nonsense")
      const [state, missed] = yield* events(2, seen.id)
      assert.strictEqual(state?.event, "state")
      assert.strictEqual(missed?.event, "request")
      assert.deepInclude(missed?.data, { url: "/data-access/missed", status: 401 })
    }).pipe(Effect.provide(Test)))

  it.effect("begins anew for an event of another start", () =>
    Effect.gen(function*() {
      const [first] = yield* events(1, "another-start.99")
      assert.strictEqual(first?.event, "reset")
    }).pipe(Effect.provide(Test)))
})

describe("secrets and tokens", () => {
  it.effect("are in no response and in no event, wherever a client put them", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      const token = yield* newToken
      yield* act("/api/fixtures", {
        path: "/data-access/fixture",
        headers: { "x-mine": token },
        body: form.client_secret
      })
      const basic = Buffer.from(`simulated-client:${form.client_secret}`).toString("base64")
      yield* post("V2", { ...form, client_secret: "the-real-secret" })
      yield* post("V2", { ...form, client_id: "the-real-secret" })
      yield* post("V2", form, { headers: { "x-password": "the-real-secret", "x-jwt": "the-real-secret" } })
      const { environment } = simulator
      yield* sendText(`${environment.authV2Url}/oauth2/token?client_secret=the-real-secret&the-real-secret`)
      const everyByte = (text: string) => text.replaceAll(/./g, (byte) => `%${byte.charCodeAt(0).toString(16)}`)
      const hex = (text: string) => Buffer.from(text).toString("hex")
      const encoded = [token, form.client_secret].flatMap((text) => [
        everyByte(text),
        hex(text),
        hex(text).toUpperCase(),
        Buffer.from(`x:${text}`).toString("base64"),
        text.replaceAll(/[.-]/g, (sign) => `\\u00${hex(sign)}`)
      ])
      yield* Effect.forEach(encoded, (text) => get(`/data-access/${text}`, undefined, { headers: { "x-mine": text } }))
      yield* post("V2", JSON.stringify({ client_secret: "the-real-secret" }))
      yield* post("V2", form, { headers: { "content-type": "text/plain", "x-api-key": "the-real-secret" } })
      yield* get(`/data-access/${token}?client_secret=${form.client_secret}`, token)
      yield* get("/data-access/a", undefined, { headers: { "x-mine": `Basic ${basic}`, cookie: `token=${token}` } })
      yield* get("/data-access/a", undefined, {
        method: "POST",
        body: JSON.stringify({ token, secret: form.client_secret })
      })
      yield* simulator.rotateSecret
      const { clientSecret } = yield* simulator.credentials
      yield* post("V2", { ...form, client_secret: Redacted.value(clientSecret), other: Redacted.value(clientSecret) })

      yield* act("/api/faults", {
        target: "Calls",
        fault: {
          _tag: "Response",
          status: 503,
          headers: { "x-mine": token, [token]: "", [form.client_secret]: "" },
          body: form.client_secret
        }
      })

      const seen = yield* Effect.forEach(["/", "/api/state", "/api/requests", "/api/tokens"], (path) => read(path))
      const all = [...seen.map(({ text }) => text), JSON.stringify(yield* events(20))].join("\n")
      assert.include(all, "client_secret=***")
      for (
        const canary of [
          token,
          form.client_secret,
          Redacted.value(clientSecret),
          "the-real-secret",
          basic.slice(24, 60),
          ...encoded
        ]
      ) {
        assert.notInclude(all, canary)
      }
    }).pipe(Effect.provide(Test)))
})

describe("a client of the admin API", () => {
  it.effect("keeps the key out of its spans", () =>
    Effect.gen(function*() {
      const { key, url } = yield* AdminServer.AdminServer
      const { spans, tracer } = recordingTracer()
      const { control } = yield* AdminApi.client({ url, key })
      yield* Effect.withTracer(control.clearFaults({}), tracer)
      assert.isAbove(spans.length, 0)
      assert.notInclude(JSON.stringify(spans.map(({ attributes }) => attributes)), Redacted.value(key))
    }).pipe(Effect.provide([Test, NodeHttpClient.layer])))
})

describe("readers of events that never read", () => {
  it.scopedLive("do not slow the simulator down, and a reader beside them gets everything", () =>
    Effect.gen(function*() {
      const { url } = yield* AdminServer.AdminServer
      const { port } = new URL(url)
      const sockets = yield* Effect.acquireRelease(
        Effect.sync(() =>
          Array.from({ length: 200 }, () => {
            const socket = connect(Number(port), "127.0.0.1")
            socket.on("error", () => socket.destroy())
            socket.write(`GET /events HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`)
            return socket.pause()
          })
        ),
        (sockets) =>
          Effect.sync(() => {
            for (const socket of sockets) socket.destroy()
          })
      )
      assert.strictEqual(sockets.length, 200)
      for (let round = 0; round < 20; round++) {
        yield* Effect.all(Array.from({ length: 10 }, () => get("/data-access/a")), { concurrency: "unbounded" })
      }
      // the settings come first
      const all = yield* events(201)
      assert.isAtLeast(all.filter(({ event }) => event === "request").length, 199)
    }).pipe(Effect.provide(Test)))
})
