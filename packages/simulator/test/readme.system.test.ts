import { AdminServer, Fault, Simulator } from "@credit-data/simulator"
import { start } from "@credit-data/test-support/childProcess"
import { Command } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted, Stream } from "effect"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { form, sendText } from "./support/http.ts"

const readme = readFileSync(fileURLToPath(new URL("../README.md", import.meta.url)), "utf8")

/** The block of code in the README that has this text. */
const block = (language: string, text: string): string => {
  const found = [...readme.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
    .find(([, name, code = ""]) => name === language && code.includes(text))
  assert(found !== undefined)
  return found[2] ?? ""
}

const Test = AdminServer.layer().pipe(Layer.provideMerge(Simulator.layer()))

/** Starts a program with the variables of the admin server. */
const startProgram = (program: string, ...args: ReadonlyArray<string>) =>
  Effect.flatMap(AdminServer.AdminServer, ({ key, url }) =>
    start(
      Command.make(program, ...args).pipe(Command.env({ SIMULATOR_URL: url, SIMULATOR_KEY: Redacted.value(key) }))
    ))

/** A token request, whose response need not be JSON. */
const requestToken = Effect.flatMap(
  Simulator.Simulator,
  ({ environment }) =>
    sendText(`${environment.authV2Url}/oauth2/token`, { method: "POST", body: new URLSearchParams(form) })
)

/** Sends a token request as soon as a fault waits for it. */
const failOnce = Effect.gen(function*() {
  const { changes, faults } = yield* Simulator.Simulator
  yield* changes(0).pipe(
    Stream.mapEffect(() => faults),
    Stream.filter((waiting) => waiting.length > 0),
    Stream.runHead
  )
  return yield* requestToken
})

describe("the README of the simulator", () => {
  it.scopedLive("has an example for curl that causes a fault, reads the requests and resets", () =>
    Effect.gen(function*() {
      const [cause = "", read = "", reset = ""] = block("sh", "/api/faults").split("\n\n")
      const shell = (code: string) => Effect.flatMap(startProgram("sh", "-c", code), ({ end }) => end)
      const simulator = yield* Simulator.Simulator
      assert.strictEqual((yield* shell(cause)).exitCode, 0)
      assert.deepStrictEqual((yield* simulator.faults).map(({ remaining }) => remaining), [2])
      assert.strictEqual((yield* requestToken).status, 503)
      const [request] = JSON.parse((yield* shell(read)).stdout)
      assert.deepInclude(request, { server: "AuthV2", status: 503, fault: "Response" })
      assert.strictEqual((yield* shell(reset)).exitCode, 0)
      assert.deepStrictEqual(yield* simulator.received, [])
    }).pipe(Effect.provide(Test)))

  describe("with Python", () => {
    it.scopedLive("has an example that waits for a request in the stream of events", () =>
      Effect.gen(function*() {
        const { environment, failTokenRequests } = yield* Simulator.Simulator
        yield* failTokenRequests(Fault.Response({ status: 503 }))
        yield* sendText(`${environment.authV2Url}/of-another-test`)
        const python = yield* startProgram("python3", "-c", block("python", "urlopen"))
        assert.strictEqual((yield* failOnce).status, 503)
        const { exitCode, stderr, stdout } = yield* python.end
        assert.strictEqual(stderr, "")
        assert.strictEqual(stdout, "POST /oauth2/token 503\n")
        assert.strictEqual(exitCode, 0)
      }).pipe(Effect.provide(Test)))
  })
})
