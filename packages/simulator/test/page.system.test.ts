import { Simulator, SimulatorConsole } from "@credit-data/simulator"
import { start } from "@credit-data/test-support/childProcess"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { Test } from "./support/admin.ts"
import { form, sendText } from "./support/http.ts"

const page = readFileSync(fileURLToPath(new URL("../../../docs/simulator.md", import.meta.url)), "utf8")

/** The block of code in the page that has this text. */
const block = (language: string, text: string): string => {
  const found = [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
    .find(([, name, code = ""]) => name === language && code.includes(text))
  assert(found !== undefined)
  return found[2] ?? ""
}

/** Starts a program with the variables of the admin server. */
const startProgram = (program: string, ...args: ReadonlyArray<string>) =>
  Effect.flatMap(
    SimulatorConsole.SimulatorConsole,
    ({ key, url }) => start([program, ...args], { env: { SIMULATOR_URL: url, SIMULATOR_KEY: Redacted.value(key) } })
  )

/** A token request, whose response need not be JSON. */
const requestToken = Effect.flatMap(
  Simulator.Simulator,
  ({ environment }) =>
    sendText(`${environment.authV2Url}/oauth2/token`, { method: "POST", body: new URLSearchParams(form) })
)

describe("the page about the simulator", () => {
  it.scopedLive("has an example for curl that causes a fault, reads the requests and resets", () =>
    Effect.gen(function*() {
      const [cause = "", read = "", reset = ""] = block("sh", "/api/v1/faults").split("\n\n")
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

  it.scopedLive("has an example for curl that adds a fixture with a query and a sequence", () =>
    Effect.gen(function*() {
      const { end } = yield* startProgram("sh", "-c", block("sh", "/api/v1/fixtures"))
      assert.strictEqual((yield* end).exitCode, 0)
      const { environment } = yield* Simulator.Simulator
      const { access_token: token } = JSON.parse((yield* requestToken).text)
      const called = Effect.map(
        sendText(`${environment.baseUrl}/data-access/reports/1?format=json`, {
          headers: { authorization: `Bearer ${token}` }
        }),
        ({ status, text }) => [status, text]
      )
      assert.deepStrictEqual(yield* Effect.replicateEffect(called, 3), [
        [202, ""],
        [200, "{\"score\":712}"],
        [200, "{\"score\":712}"]
      ])
    }).pipe(Effect.provide(Test)))
})
