import { SimulatorConsole, Simulator } from "@credit-data/simulator"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { request as httpRequest } from "node:http"
import { hostname } from "node:os"
import { act, read, readJson, Test } from "../support/admin.ts"

/** Sends a request with a `Host` that fetch would not send. Returns the status without the rest of the response. */
const withHost = (host: string, path = "/api/v1/state", headers: Readonly<Record<string, string>> = {}) =>
  Effect.flatMap(SimulatorConsole.SimulatorConsole, ({ url }) =>
    Effect.async<number | undefined>((resume) => {
      const options = { port: new URL(url).port, path, headers: { ...headers, host }, agent: false }
      httpRequest(options, (response) => {
        response.destroy()
        resume(Effect.succeed(response.statusCode))
      }).end()
    }))

describe("the protection of the admin server", () => {
  it.effect("refuses every action without the key, or with another one", () =>
    Effect.gen(function*() {
      const document = yield* readJson("/api/v1/openapi.json")
      const actions = Object.entries<Record<string, unknown>>(document.paths).filter(([, item]) => "post" in item)
      assert.isAtLeast(actions.length, 13)
      for (const [path] of actions) {
        for (const headers of [{}, { "x-api-key": "other" }, { "x-api-key": "" }]) {
          const { status } = yield* read(path.replace("{id}", "1"), { method: "POST", headers })
          assert.strictEqual(status, 401, path)
        }
      }
    }).pipe(Effect.provide(Test)))

  it.effect("is not switched off by an empty key", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* read("/api/v1/variables", { method: "POST" })).status, 401)
    }).pipe(
      Effect.provide(SimulatorConsole.layer({ key: Redacted.make("") }).pipe(Layer.provideMerge(Simulator.layer())))
    ))

  it.effect("applies to a target that is no URL", () =>
    Effect.gen(function*() {
      const { headers, status } = yield* read("//?a=b")
      assert.strictEqual(status, 404)
      assert.strictEqual(headers.get("cache-control"), "no-store")
    }).pipe(Effect.provide(Test)))

  it.effect("has another key at each start, unless the user set one", () =>
    Effect.gen(function*() {
      const keyOf = (layer: typeof Test) =>
        Effect.provide(Effect.map(SimulatorConsole.SimulatorConsole, ({ key }) => Redacted.value(key)), layer)
      const [one, two] = [yield* keyOf(Layer.fresh(Test)), yield* keyOf(Layer.fresh(Test))]
      assert.notStrictEqual(one, two)
      assert.match(one, /^[\w-]{24}$/)
      const chosen = SimulatorConsole.layer({ key: Redacted.make("mine") }).pipe(Layer.provideMerge(Simulator.layer()))
      assert.strictEqual(yield* keyOf(chosen), "mine")
    }))

  it.effect("responds with 403 to a foreign Host, and to a foreign Origin", () =>
    Effect.gen(function*() {
      const { url } = yield* SimulatorConsole.SimulatorConsole
      const { port } = new URL(url)
      assert.strictEqual(yield* withHost(`localhost:${port}`), 200)
      assert.strictEqual(yield* withHost(`[::1]:${port}`), 200)
      const foreign = ["evil.example", `evil.example:${port}`, `127.0.0.1.evil.example:${port}`, `localhost.:${port}`]
      for (const host of foreign) assert.strictEqual(yield* withHost(host), 403, host)
      for (const origin of ["http://evil.example", "null", `http://localhost:${port}`, `https://127.0.0.1:${port}`]) {
        for (const path of ["/", "/api/v1/state", "/api/v1/events"]) {
          assert.strictEqual((yield* read(path, { headers: { origin } })).status, 403, `${origin} ${path}`)
        }
      }
      assert.strictEqual((yield* read("/api/v1/state", { headers: { origin: url } })).status, 200)
    }).pipe(Effect.provide(Test)))

  it.effect("needs the key for whatever it reads too, when other machines can reach it", () =>
    Effect.gen(function*() {
      const { url } = yield* SimulatorConsole.SimulatorConsole
      assert.strictEqual(new URL(url).hostname, hostname().toLowerCase())
      const host = `simulator:${new URL(url).port}`
      // the page has no data
      assert.strictEqual(yield* withHost(host, "/"), 200)
      const paths = [
        "/api/v1/state",
        "/api/v1/requests",
        "/api/v1/requests/1",
        "/api/v1/tokens",
        "/api/v1/search?text=a",
        "/api/v1/events"
      ]
      for (const path of [...paths, "/api/v1/openapi.json"]) {
        assert.strictEqual(yield* withHost(host, path), 401, path)
        assert.strictEqual(yield* withHost(host, path, { "x-api-key": "other" }), 401, path)
        const permitted = path === "/api/v1/requests/1" ? 404 : 200
        assert.strictEqual(yield* withHost(host, path, { "x-api-key": "mine" }), permitted, path)
      }
      // a key in an address would be in logs and histories
      assert.strictEqual(yield* withHost(host, "/api/v1/events?key=mine"), 401)
      assert.strictEqual(yield* withHost(host, "/api/v1/state?key=mine"), 401)
      const foreign = { origin: "http://evil.example", "x-api-key": "mine" }
      assert.strictEqual(yield* withHost(host, "/api/v1/state", foreign), 403)
      const own = { origin: `http://${host}`, "x-api-key": "mine" }
      assert.strictEqual(yield* withHost(host, "/api/v1/state", own), 200)
    }).pipe(
      Effect.provide(
        SimulatorConsole.layer({ host: "0.0.0.0", key: Redacted.make("mine") }).pipe(
          Layer.provideMerge(Simulator.layer())
        )
      )
    ))

  it.effect("lets no other site embed, read or store a response", () =>
    Effect.gen(function*() {
      for (const path of ["/", "/api/v1/state", "/missing"]) {
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
      assert.deepStrictEqual(
        new Set(Array.from(one.text.matchAll(/nonce=([\w-]+)/g), ([, used]) => used)),
        new Set([nonce])
      )
      assert.notStrictEqual(policyOf(one), policyOf(two))
    }).pipe(Effect.provide(Test)))

  it.effect("names the wrong field of an action, and never its value", () =>
    Effect.gen(function*() {
      const canary = "canary \n\" canary"
      const silence = { _tag: "Silence" }
      const response = { _tag: "Response", status: 503 }
      const wrong: ReadonlyArray<readonly [action: string, payload: unknown, message: string]> = [
        ["faults", { target: canary, fault: silence }, "target: Expected \"TokenRequests\""],
        ["faults", { fault: silence }, "target: is missing"],
        ["faults", { target: "Calls", fault: silence, time: canary }, "time: "],
        ["faults", { target: "Calls", fault: silence, times: canary }, "times: Expected"],
        ["faults", { target: "Calls", fault: { _tag: canary } }, "fault"],
        ["faults", { target: "Calls", fault: { ...response, status: 99 } }, "fault.status: Expected a"],
        ["faults", { target: "Calls", fault: { ...response, header: canary } }, "header: "],
        ["faults", { target: "Calls", fault: { ...response, headers: { "x-a": canary } } }, "headers"],
        ["faults", { target: "Calls", fault: { ...response, headers: { "x a": "" } } }, "headers"],
        ["fixtures", { path: "/data-access/a?b=c" }, "path: Expected"],
        ["fixtures", { path: canary }, "path: Expected"],
        ["fixtures", { path: "/data-access/a", query: { a: [canary] } }, "query.a: Expected"],
        ["fixtures", { path: "/data-access/a", next: [{ status: 99, body: canary }] }, "next.0.status: Expected"],
        ["fixtures", { path: "/data-access/a", next: [{ delay: canary }] }, "next.0.delay: "],
        ["scopes", { scopes: [canary] }, "scopes.0: Expected"],
        ["scopes", `{ ${canary}`, "JSON"],
        ["scopes", `"canary"`, "Expected"],
        ["clock/advance", { seconds: canary }, "seconds: Expected"],
        ["tokens/canary/revoke", undefined, "id: "]
      ]
      for (const [path, payload, message] of wrong) {
        const { status, text } = yield* act(`/api/v1/${path}`, payload)
        assert.strictEqual(status, 400, path)
        assert.notInclude(text, "canary")
        assert.include(JSON.parse(text).message, message)
      }
    }).pipe(Effect.provide(Test)))
})
