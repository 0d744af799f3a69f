import { Fixture, Simulator } from "@credit-data/simulator"
import { FileSystem, Path } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { get, newToken, sendText, statusOf } from "./support/http.ts"

const fixture = (given: Partial<Fixture.Fixture>): Fixture.Fixture => ({
  method: "GET",
  path: "/data-access/consumers/{id}",
  status: 200,
  headers: {},
  ...given
})

const withFixtures = (...fixtures: ReadonlyArray<Partial<Fixture.Fixture>>) =>
  Effect.provide(Simulator.layer({ fixtures: fixtures.map(fixture) }))

/** The raw response to a call with a valid token. */
const call = (path: string, method = "GET") =>
  Effect.gen(function*() {
    const { environment } = yield* Simulator.Simulator
    const headers = { authorization: `Bearer ${yield* newToken}` }
    return yield* sendText(`${environment.baseUrl}${path}`, { method, headers })
  })

const pendingReport = fixture({
  path: "/data-access/reports/{id}",
  status: 202,
  headers: { etag: "1" },
  body: { state: "pending" },
  next: [{ status: 503, headers: {} }, { status: 200, headers: {}, body: [] }]
})

describe("a fixture", () => {
  it.effect("responds to the calls with its method and path, and the most exact path wins", () =>
    Effect.gen(function*() {
      const token = yield* newToken
      const responses = [
        ["consumers/42", { id: "any" }],
        ["consumers/7", { id: 7 }],
        ["consumers/7?full=true", { id: 7 }],
        ["a%20b", { path: "decoded" }],
        ["consumers/%ff", { id: "any" }],
        ["report-2026-11.pdf", { part: true }]
      ] as const
      for (const [path, body] of responses) {
        assert.deepInclude(yield* get(`/data-access/${path}`, token), { status: 200, body }, path)
      }
      const longer = ["consumers/7/score", "consumers"]
      const unlike = ["report-2026-.pdf", "report--11.pdf", "report-2026-11", "rep", "report-.pdf"]
      for (const path of [...longer, ...unlike]) {
        assert.strictEqual(yield* statusOf(`/data-access/${path}`, token), 404, path)
      }
    }).pipe(withFixtures(
      { body: { id: "any" } },
      { path: "/data-access/consumers/7", body: { id: 7 } },
      { path: "/data-access/a b", body: { path: "decoded" } },
      { path: "/data-access/report-{year}-{month}.pdf", body: { part: true } }
    )))

  it.effect("is chosen by the status and the example that a client prefers, as in Prism", () =>
    Effect.gen(function*() {
      const token = yield* newToken
      const missing = "No fixture for GET /data-access/consumers/42 is what the header Prefer names; there are: " +
        "200 first, 200 no score, 404."
      const responses = [
        ["respond-async", 200, { id: 42 }],
        ["code=404", 404, { error: "gone" }],
        ["respond-async, example=\"no score\"", 200, { score: null }],
        ["code=200; example=first", 200, { id: 42 }],
        ["code=404, example=first", 404, { error: "not_found", error_description: missing }]
      ] as const
      for (const [prefer, status, body] of responses) {
        const response = yield* get("/data-access/consumers/42", token, { headers: { prefer } })
        assert.deepInclude(response, { status, body }, prefer)
      }
    }).pipe(withFixtures(
      { body: { id: 42 }, example: "first" },
      { body: { score: null }, example: "no score" },
      { status: 404, body: { error: "gone" } }
    )))

  it.effect("is chosen by the query parameters of a call, and the one with most of them wins", () =>
    Effect.gen(function*() {
      const token = yield* newToken
      const responses = [
        ["", "any"],
        ["?page=1", "any"],
        ["?page=2", "page 2"],
        ["?other=1&page=2&page=3", "page 2"],
        ["?page=3&page=2", "page 2"],
        ["?sort=name&page=2", "page 2 by name"],
        ["?sort=a%20b+c", "decoded"],
        ["?sort=name&page=2&sort=a+b+c", "page 2 by name"]
      ] as const
      for (const [query, is] of responses) {
        assert.deepInclude(yield* get(`/data-access/consumers/7${query}`, token), { status: 200, body: { is } }, query)
      }
    }).pipe(withFixtures(
      { body: { is: "any" } },
      { query: { page: "2" }, body: { is: "page 2" } },
      { query: { page: "2", sort: "name" }, body: { is: "page 2 by name" } },
      { query: { sort: "a b c" }, body: { is: "decoded" } },
      { query: { page: "2" }, body: { is: "later" } }
    )))

  it.effect("that needs other query parameters than the call has is named with them", () =>
    Effect.gen(function*() {
      const { body, status } = yield* get("/data-access/consumers/7?page=3", yield* newToken)
      assert.strictEqual(status, 404)
      assert.strictEqual(
        body["error_description"],
        "No fixture for GET /data-access/consumers/7 has the query of the call; there are: page=2, page=2&sort=name."
      )
    }).pipe(withFixtures({ query: { page: "2" } }, { query: { page: "2", sort: "name" } })))

  it.effect("gives its responses in sequence, repeats the last, and starts again after a reset", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      const given = [pendingReport]
      yield* simulator.setFixtures(given)
      // a refused call gets none of the responses
      assert.strictEqual((yield* get("/data-access/reports/1", "nonsense")).status, 401)
      const responses = Effect.replicateEffect(
        Effect.map(call("/data-access/reports/1"), ({ headers, status, text }) => [status, headers.get("etag"), text]),
        4
      )
      const sequence = [[202, "1", "{\"state\":\"pending\"}"], [503, null, ""], [200, null, "[]"], [200, null, "[]"]]
      assert.deepStrictEqual(yield* responses, sequence)
      assert.deepStrictEqual(yield* simulator.fixtures, [fixture({ path: "/data-access/reports/{id}", body: [] })])
      yield* simulator.setFixtures(given)
      assert.deepStrictEqual(yield* responses, sequence)
      yield* simulator.reset
      assert.deepStrictEqual(yield* responses, sequence)
    }).pipe(withFixtures(pendingReport)))

  it.effect("gives each response of its sequence to one of several calls at once", () =>
    Effect.gen(function*() {
      const token = yield* newToken
      const calls = Array.from({ length: 20 }, () => get("/data-access/reports/1", token))
      const bodies = (yield* Effect.all(calls, { concurrency: "unbounded" })).map(({ body }) => body["call"])
      assert.sameMembers(bodies, Array.from({ length: 20 }, (_, call) => call))
    }).pipe(withFixtures({
      path: "/data-access/reports/{id}",
      body: { call: 0 },
      next: Array.from({ length: 19 }, (_, call) => ({ status: 200, headers: {}, body: { call: call + 1 } }))
    })))

  it.effect("is not needed for a status that a client prefers", () =>
    Effect.gen(function*() {
      const call = get("/data-access/a", yield* newToken, { headers: { prefer: "code=503" } })
      assert.deepStrictEqual((yield* call).body, { group: "Data Access", method: "GET", path: "/data-access/a" })
      assert.strictEqual((yield* call).status, 503)
      assert.strictEqual((yield* get("/data-access/a", "other", { headers: { prefer: "code=200" } })).status, 401)
    }).pipe(Effect.provide(Simulator.layer())))

  it.effect("has a status, headers, and a body that is JSON unless its content type is another", () =>
    Effect.gen(function*() {
      const json = yield* call("/data-access/json")
      assert.strictEqual(json.headers.get("content-type"), "application/json")
      assert.strictEqual(json.text, "\"text\"")
      const csv = yield* call("/data-access/csv")
      assert.strictEqual(csv.headers.get("content-type"), "text/csv")
      assert.strictEqual(csv.headers.get("x-total"), "1")
      assert.strictEqual(csv.text, "a,b")
      const made = yield* call("/data-access/csv", "POST")
      assert.deepStrictEqual([made.status, made.text], [204, ""])
      const empty = yield* call("/data-access/empty")
      assert.deepStrictEqual([empty.status, empty.text], [202, ""])
    }).pipe(withFixtures(
      { path: "/data-access/json", body: "text" },
      { path: "/data-access/csv", headers: { "Content-Type": "text/csv", "x-total": "1" }, body: "a,b" },
      { path: "/data-access/csv", method: "POST", status: 204, body: { ignored: true } },
      { path: "/data-access/empty", status: 202 }
    )))

  it.effect("that is nearest is named in the response to a call that no fixture matches, with the difference", () =>
    Effect.gen(function*() {
      const token = yield* newToken
      const reasons = [
        [
          "/data-access/consumer/42",
          "GET /data-access/consumers/{id}, which has \"consumers\" instead of \"consumer\""
        ],
        ["/data-access/consumers", "GET /data-access/consumers/{id}, which goes on with \"/{id}\""],
        ["/data-access/consumers/42/score", "GET /data-access/consumers/{id}, which ends before \"/score\""],
        ["/furnishment/tradeline", "POST /furnishment/tradelines, which has \"tradelines\" instead of \"tradeline\""]
      ] as const
      for (const [path, nearest] of reasons) {
        const { body, status } = yield* get(`${path}?a=b`, token)
        assert.strictEqual(status, 404)
        assert.deepStrictEqual(body, {
          error: "not_found",
          error_description: `No fixture for GET ${path}; nearest: ${nearest}.`
        })
      }
      const deleted = yield* call("/furnishment/tradelines", "DELETE")
      assert.strictEqual(
        JSON.parse(deleted.text).error_description,
        "No fixture for DELETE /furnishment/tradelines; the fixtures of this path have POST."
      )
    }).pipe(withFixtures({ body: {} }, { method: "POST", path: "/furnishment/tradelines", body: {} })))

  it.effect("responds to HEAD as to GET, and with 405 to another method", () =>
    Effect.gen(function*() {
      const head = yield* call("/data-access/consumers/1", "HEAD")
      assert.deepStrictEqual([head.status, head.text], [200, ""])
      const other = yield* call("/data-access/consumers/1", "DELETE")
      assert.strictEqual(other.status, 405)
      assert.strictEqual(other.headers.get("allow"), "GET, POST")
    }).pipe(withFixtures({ body: {} }, { method: "POST", body: {} })))
})

/** Writes files to a separate folder, and loads what is at this path in it. */
const load = (files: Record<string, string>, at = "") =>
  Effect.gen(function*() {
    const [fileSystem, path] = [yield* FileSystem.FileSystem, yield* Path.Path]
    const folder = yield* Effect.orDie(fileSystem.makeTempDirectoryScoped())
    for (const [name, text] of Object.entries(files)) {
      const file = path.join(folder, name)
      yield* Effect.orDie(fileSystem.makeDirectory(path.dirname(file), { recursive: true }))
      yield* Effect.orDie(fileSystem.writeFileString(file, text))
    }
    return yield* Effect.mapError(
      Fixture.load(path.join(folder, at)),
      (error) => structuredClone(error).message.replace(folder, "")
    )
  }).pipe(Effect.scoped, Effect.provide(NodeContext.layer))

describe("a folder of fixtures", () => {
  it.effect("has the path, the method and the status in the names of its files", () =>
    Effect.gen(function*() {
      const fixtures = yield* load({
        "data-access/consumers/{id}.json": "{\"id\":1}",
        "data-access/consumers.POST.201.json": "[]",
        "furnishment/v1.2/files.404.json": "null",
        "README.md": "not a fixture"
      })
      assert.deepStrictEqual(fixtures, [
        { method: "POST", path: "/data-access/consumers", status: 201, headers: {}, body: [] },
        { method: "GET", path: "/data-access/consumers/{id}", status: 200, headers: {}, body: { id: 1 } },
        { method: "GET", path: "/furnishment/v1.2/files", status: 404, headers: {}, body: null }
      ])
    }))

  it.effect("is refused with the name of the file that is wrong, and without its content", () =>
    Effect.gen(function*() {
      const rows: ReadonlyArray<readonly [files: Record<string, string>, at: string, message: string]> = [
        [{ "data-access/a.json": "{ secret" }, "", "/data-access/a.json: The file is not JSON"],
        [
          { "other/a.json": "{}" },
          "",
          "/other/a.json: Its path has to begin with an endpoint group's, such as data-access"
        ],
        [{}, "", ": The folder has no file such as data-access/consumers/42.json"],
        [{}, "missing", "/missing: There is no such folder, or it cannot be read"],
        [{ "api.yaml": "openapi: 3.1.0" }, "api.yaml", "/api.yaml: There is no such folder, or it cannot be read"]
      ]
      for (const [files, at, message] of rows) assert.strictEqual(yield* Effect.flip(load(files, at)), message)
    }))
})
