import { Simulator } from "@credit-data/simulator"
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import * as PrintedJson from "./support/printedJson.ts"
import { decoded, test, together } from "./support/command.ts"
import { run, runWith } from "./support/program.ts"

describe("credit-data doctor", () => {
  test(
    "prints each step, what to do, and exits with 1 when one failed",
    Effect.gen(function*() {
      const [good, refused] = yield* together(
        run(["doctor", "--probe", "/data-access/a"]),
        run(["doctor"], { CREDIT_DATA_CLIENT_SECRET: "another secret" })
      )
      assert.deepStrictEqual([good.code, good.stderr], [0, ""])
      const names = ["configuration", "name", "connection", "TLS", "clock", "token", "scopes", "API"]
      const lines = good.stdout.trim().split("\n").filter((line) => !line.startsWith(" "))
      assert.deepStrictEqual(lines.map((line) => line.split(/ +/)[1]), names)
      assert.match(good.stdout, /^ +from the environment: CREDIT_DATA_ENVIRONMENT, /m)
      assert.strictEqual(refused.code, 1)
      assert.match(refused.stdout, /^failed +token .*the client was refused[^]*Check\s+that\s+the\s+client\s+id/m)
      assert.notInclude(refused.stdout, "another secret")
    })
  )

  test(
    "prints no warning because of several probes",
    Effect.gen(function*() {
      const { code, stderr } = yield* run(["doctor", "--probe", "/data-access/a", "--probe", "/data-access/b"])
      assert.deepStrictEqual([code, stderr], [0, ""])
    })
  )

  test(
    "prints the set variables whose names are almost those of the missing ones",
    Effect.gen(function*() {
      const { CREDIT_DATA_CLIENT_ID: _id, CREDIT_DATA_SCOPES: _scopes, ...others } = yield* Simulator.variables
      const variables = { ...others, CREDIT_DATA_CLIENTID: "canary-value", credit_data_scope: "canary-value" }
      const { code, stdout } = yield* runWith(variables, ["doctor"])
      assert.strictEqual(code, 1)
      assert.match(stdout, /CREDIT_DATA_CLIENT_ID:[^]*Instead,\s+CREDIT_DATA_CLIENTID\s+is\s+set/)
      assert.match(stdout, /CREDIT_DATA_SCOPES:[^]*Instead,\s+credit_data_scope\s+is\s+set/)
      assert.notInclude(stdout, "canary-value")
    })
  )

  test(
    "prints JSON with a version",
    Effect.gen(function*() {
      const [good, wrong] = yield* together(
        run(["doctor", "--json"]),
        run(["doctor", "--json"], { CREDIT_DATA_AUTH: "V2" })
      )
      const { ok, steps } = decoded(PrintedJson.Doctor, good.stdout)
      assert.deepStrictEqual([ok, steps.length, good.code], [true, 8, 0])
      assert.deepStrictEqual([decoded(PrintedJson.Doctor, wrong.stdout).ok, wrong.code, wrong.stderr], [false, 1, ""])
      assert.include(wrong.stdout, "CREDIT_DATA_AUTH")
    })
  )
})
