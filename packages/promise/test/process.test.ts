import { Fault, Simulator } from "@credit-data/simulator"
import { run, script } from "@credit-data/test-support/childProcess"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { fileURLToPath } from "node:url"

const program = fileURLToPath(new URL("support/program.ts", import.meta.url))

describe("a process with a connection", () => {
  for (const ending of ["close", "nothing"]) {
    it.live(`reads the environment, prints nothing, and ends by itself after ${ending}`, () =>
      Effect.gen(function*() {
        const env = yield* Simulator.variables
        const { exitCode, stderr, stdout } = yield* run(script(program, ending), { env })
        assert.deepStrictEqual([exitCode, stdout, stderr], [0, "200\n", ""])
      }).pipe(Effect.provide(Simulator.layer())))
  }

  for (const thread of ["main thread", "worker"]) {
    it.live(`prints a warning and an error as one line of JSON each, to standard error, from a ${thread}`, () =>
      Effect.gen(function*() {
        const simulator = yield* Simulator.Simulator
        yield* simulator.failTokenRequests(Fault.oauthError(401, "invalid_client"), { times: 2 })
        const env = { ...yield* Simulator.variables, CREDIT_DATA_AUTH: "v1" }
        const { exitCode, stderr, stdout } = yield* run(script(program, "close", thread), { env })
        assert.strictEqual(exitCode, 0)
        assert.include(stdout, "refused the client")
        const lines: ReadonlyArray<Record<string, string>> = stderr.trim().split("\n").map((line) => JSON.parse(line))
        assert.deepStrictEqual(lines.map(({ level }) => level), ["WARN", "ERROR"])
        assert.approximately(Date.parse(lines[1]?.["time"] ?? ""), Date.now(), 60_000)
      }).pipe(Effect.provide(Simulator.layer())))
  }

  it.live("goes on if nobody reads its standard error any more", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      yield* simulator.failTokenRequests(Fault.oauthError(401, "invalid_client"), { times: 2 })
      const env = { ...yield* Simulator.variables, CREDIT_DATA_AUTH: "v1" }
      const unread = "{ \"$@\" 2>&1 1>&3 3>&- | true; } 3>&1"
      const { stdout } = yield* run(["sh", "-c", unread, "sh", ...script(program, "close")], { env })
      assert.include(stdout, "refused the client")
    }).pipe(Effect.provide(Simulator.layer())))

  it.live("exits with 1 and prints every variable that is missing or wrong", () =>
    Effect.gen(function*() {
      const { exitCode, stderr } = yield* run(script(program), { env: { CREDIT_DATA_BASE_URL: "http://canary" } })
      assert.strictEqual(exitCode, 1)
      assert.include(stderr, "- CREDIT_DATA_CLIENT_ID is missing")
      assert.include(stderr, "- CREDIT_DATA_AUTH_V2_URL is missing")
      assert.include(stderr, "- CREDIT_DATA_BASE_URL: Expected https")
    }))
})
