import { Fault, Simulator } from "@credit-data/simulator"
import { run } from "@credit-data/test-support/childProcess"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { fileURLToPath } from "node:url"

const folder = fileURLToPath(new URL("../other-languages", import.meta.url))

const programs: ReadonlyArray<readonly [language: string, program: string, ...args: ReadonlyArray<string>]> = [
  ["Python", "python3", "client.py"],
  ["Java", "java", "Client.java"],
  ["Go", "go", "run", "client.go"]
]

const responses = `\
200 {"group":"Data Access","method":"GET","path":"/data-access/consumers/42"}
200 {"group":"Furnishment","method":"GET","path":"/furnishment/submissions/7"}
`

describe("a program that is not in JavaScript", () => {
  for (const [language, program, ...args] of programs) {
    it.live(
      `in ${language} uses the simulator by the name of this machine, with one token for all calls`,
      () =>
        Effect.gen(function*() {
          const { failCalls, tokenRequests } = yield* Simulator.Simulator
          const variables = yield* Simulator.variables
          assert.notMatch(variables["CREDIT_DATA_BASE_URL"] ?? "", /127\.0\.0\.1|localhost/)
          const start = run([program, ...args], { cwd: folder, env: variables })
          assert.deepStrictEqual(yield* start, { exitCode: 0, stdout: responses, stderr: "" })
          assert.strictEqual(yield* tokenRequests, 1)

          yield* failCalls(Fault.oauthError(401, "invalid_token"))
          assert.strictEqual((yield* start).stdout, responses)
          assert.strictEqual(yield* tokenRequests, 3)
        }).pipe(Effect.provide(Simulator.layer({ host: "0.0.0.0" }))),
      120_000
    )
  }
})
