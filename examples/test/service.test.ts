import { Fault, Simulator } from "@credit-data/simulator"
import { run, script } from "@credit-data/test-support/childProcess"
import { startService } from "@credit-data/test-support/service"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const fileOf = (name: string) => fileURLToPath(new URL(`../src/service/${name}`, import.meta.url))

const Environment = Layer.merge(Simulator.layer(), NodeHttpClient.layer)

const start = (variables: Record<string, string> = {}) =>
  Effect.flatMap(Simulator.variables, (simulated) => startService(fileOf("main.ts"), { ...simulated, ...variables }))

const deployment = readFileSync(new URL("../../docs/deployment.md", import.meta.url), "utf8")

/** The entries of a Kubernetes object on the page about deployment. */
const entriesOf = (kind: string) =>
  new Map(
    deployment.split(/^(?:---|```)/m).filter((part) => part.includes(`kind: ${kind}\n`)).flatMap((part) =>
      Array.from(part.matchAll(/^ {2}([A-Z]\w*): (\S+)$/gm), ([, name = "", value = ""]) => [name, value] as const)
    )
  )

/** A folder with these files. */
const folderOf = (files: Readonly<Record<string, string>>) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const folder = mkdtempSync(join(tmpdir(), "service-"))
      for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
      return folder
    }),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
  )

describe.each(["service", "promise-service"])("the example %s", (name) => {
  const file = fileURLToPath(new URL(`../src/${name}/main.ts`, import.meta.url))

  it.live(
    "starts with the variables and the files of the manifest on the page about deployment",
    () =>
      Effect.gen(function*() {
        const simulated = yield* Simulator.variables
        const variables = entriesOf("ConfigMap")
        assert.include(deployment, `mountPath: ${variables.get("SECRETS_FOLDER")},`)
        const valuesOf = (names: Iterable<string>) =>
          Object.fromEntries(Array.from(names, (name) => [name, simulated[name] ?? ""]))
        const folder = yield* folderOf(valuesOf(entriesOf("Secret").keys()))
        const service = yield* startService(file, {
          ...valuesOf(variables.keys()),
          SECRETS_FOLDER: folder
        })
        assert.strictEqual((yield* service.get("/consumers/42")).status, 200)
      }).pipe(Effect.scoped, Effect.provide(Layer.fresh(Environment))),
    60_000
  )

  it.live("exits with 1 and lines of JSON if it cannot start", () =>
    Effect.gen(function*() {
      for (const [variables, part] of [[{}, "CREDIT_DATA_CLIENT_ID"], [{ PORT: "x" }, "PORT"]] as const) {
        const simulated = part === "PORT" ? yield* Simulator.variables : {}
        const { exitCode, stderr, stdout } = yield* run(script(file), {
          env: { ...simulated, ...variables }
        })
        assert.strictEqual(exitCode, 1)
        const lines = `${stdout}${stderr}`.trim().split("\n").map((line) => JSON.stringify(JSON.parse(line)))
        assert.include(lines.join(), part)
      }
    }).pipe(Effect.provide(Layer.fresh(Environment))), 60_000)
})

describe("the service", () => {
  for (const version of ["v1", "v2"] as const) {
    it.live(
      `uses Auth ${version.toUpperCase()} with CREDIT_DATA_AUTH, has metrics and checks, and ends on request`,
      () =>
        Effect.gen(function*() {
          const simulator = yield* Simulator.Simulator
          const service = yield* start({ CREDIT_DATA_AUTH: version })
          const consumer = yield* service.get("/consumers/c4711")
          assert.deepStrictEqual(JSON.parse(consumer.text), { id: "c4711", path: "/data-access/consumers/c4711" })
          const servers = (yield* simulator.received).map(({ server }) => server)
          assert.deepStrictEqual(servers, [`Auth${version.toUpperCase()}`, "Api"])
          assert.strictEqual((yield* service.get("/health/live")).status, 200)
          assert.strictEqual((yield* service.get("/health/ready")).status, 200)
          assert.include((yield* service.get("/metrics")).text, "credit_data_token_requests_total{")
          const [, { stderr, stdout }] = yield* service.stop
          // the id of a consumer is personal data
          assert.notInclude(stdout + stderr, "c4711")
        }).pipe(Effect.scoped, Effect.provide(Layer.fresh(Environment))),
      60_000
    )
  }

  it.live(
    "is not ready with wrong credentials, reports why, and responds with 500, because a retry does not help",
    () =>
      Effect.gen(function*() {
        const simulator = yield* Simulator.Simulator
        const service = yield* start({ CREDIT_DATA_CLIENT_SECRET: "not the secret" })
        const ready = yield* service.get("/health/ready")
        assert.strictEqual(ready.status, 503)
        assert.include(ready.text, "\"failure\":\"InvalidClient\"")
        assert.strictEqual((yield* service.get("/consumers/42")).status, 500)
        assert.strictEqual((yield* service.get("/health/live")).status, 200)
        assert.strictEqual(yield* simulator.tokenRequests, 1)
        const [, { stderr, stdout }] = yield* service.stop
        assert.include(stdout, "A call of Data Access failed: InvalidClient\"")
        assert.notInclude(stdout + stderr, "not the secret")
      }).pipe(Effect.scoped, Effect.provide(Layer.fresh(Environment))),
    60_000
  )

  it.live("responds with 500 where a scope is missing, and its metrics name the scope", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      yield* simulator.grantScopes(["furnishment:all"])
      const service = yield* start()
      assert.strictEqual((yield* service.get("/consumers/42")).status, 500)
      assert.strictEqual((yield* service.get("/health/ready")).status, 200, "for the group whose scope was granted")
      const { text } = yield* service.get("/metrics")
      assert.match(text, /^credit_data_token_usable\{.*\} 1$/m)
      assert.match(text, /^credit_data_token_scope_missing\{.*scope="data-access:all".*\} 1$/m)
      assert.match(text, /^credit_data_token_scope_missing\{.*scope="furnishment:all".*\} 0$/m)
    }).pipe(Effect.scoped, Effect.provide(Layer.fresh(Environment))), 60_000)

  it.live("responds with 503 while the token endpoint is down", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      yield* simulator.failTokenRequests(Fault.Response({ status: 503, headers: { "retry-after": "60" } }))
      const service = yield* start()
      assert.strictEqual((yield* service.get("/consumers/42")).status, 503)
    }).pipe(Effect.scoped, Effect.provide(Layer.fresh(Environment))), 60_000)

  it.live(
    "passes a 404 on, makes the other failures of the API 503 or 500, and logs no path",
    () =>
      Effect.gen(function*() {
        const simulator = yield* Simulator.Simulator
        const service = yield* start()
        for (const [status, expected] of [[404, 404], [429, 503], [500, 503], [400, 500], [403, 500], [418, 500]]) {
          yield* simulator.failCalls(Fault.Response({ status: status ?? 0 }))
          assert.strictEqual((yield* service.get("/consumers/c4711")).status, expected, `${status}`)
        }
        yield* simulator.failCalls(Fault.Response({ status: 200, body: "no JSON" }))
        assert.strictEqual((yield* service.get("/consumers/c4711")).status, 500)
        yield* simulator.failCalls(Fault.Reset(), { times: 4 })
        assert.strictEqual((yield* service.get("/consumers/c4711")).status, 503)
        const [, { stderr, stdout }] = yield* service.stop
        assert.include(stdout, "A call of Data Access failed: status 429")
        assert.notInclude(stdout + stderr, "c4711")
      }).pipe(Effect.scoped, Effect.provide(Layer.fresh(Environment))),
    60_000
  )

  it.live.each(["service", "promise-service"])(
    "needs no variables with a simulated API in its process: %s",
    (name) =>
      Effect.gen(function*() {
        const service = yield* startService(fileURLToPath(new URL(`../src/${name}/local.ts`, import.meta.url)), {})
        assert.strictEqual((yield* service.get("/consumers/42")).status, 200)
        const [, { stdout }] = yield* service.stop
        assert.include(stdout, "The API is simulated.")
      }).pipe(Effect.scoped, Effect.provide(NodeHttpClient.layer)),
    60_000
  )
})
