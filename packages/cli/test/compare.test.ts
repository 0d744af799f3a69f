import { Fault, Simulator } from "@credit-data/simulator"
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import * as PrintedJson from "./support/printedJson.ts"
import { decoded, failTokenRequests, sunset, test, together } from "./support/command.ts"
import { run } from "./support/program.ts"

describe.concurrent("credit-data compare", () => {
  test(
    "prints both tokens, the probes and a verdict",
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* run(["compare", "--probe=GET /data-access/consumers/42"])
      assert.strictEqual(code, 0)
      assert.match(stderr, sunset)
      assert.match(
        stdout,
        /^V1 +lifetime +23h 59m \d+s\n +granted +read:consumers .*\nV2 +lifetime .*\n +granted +data-access:all /
      )
      assert.match(stdout, /^GET \/data-access\/consumers\/42 +200 +200 +same$/m)
      assert.include(stdout, "Ready for V2.")
    })
  )

  test(
    "exits with 1 if there is a reason not to migrate, even with --json",
    Effect.gen(function*() {
      const { grantScopes } = yield* Simulator.Simulator
      yield* grantScopes(["data-access:all"])
      const [text, json, wrong] = yield* together(
        run(["compare"]),
        run(["compare", "--json", "--probe", "GET /nothing"]),
        run(["compare", "--probe", "POST /a"])
      )
      assert.strictEqual(text.code, 1)
      assert.include(text.stdout, "- V2 does not grant furnishment:all serviceplus:all")
      assert.strictEqual(json.code, 1)
      const { probes, problems, verdict } = decoded(PrintedJson.Compare, json.stdout)
      assert.deepStrictEqual([verdict, ...problems.map(({ type }) => type)], [
        "NotReady",
        "ScopesMissing",
        "ProbeFailed"
      ])
      assert.deepStrictEqual(probes, [{
        method: "GET",
        path: "/nothing",
        v1: { status: 404 },
        v2: { status: 404 },
        sameBody: true
      }])
      assert.strictEqual(wrong.code, 2)
    })
  )

  test(
    "exits with 1 without a probe, because nothing is proven",
    Effect.gen(function*() {
      const { code, stdout } = yield* run(["compare"])
      assert.strictEqual(code, 1)
      assert.include(stdout, "Not proven. No call was compared: give one --probe")
    })
  )

  test(
    "exits with 0 when V1 has ended and V2 works",
    Effect.gen(function*() {
      const withoutV1 = (...options: ReadonlyArray<string>) =>
        // the token of V1 is requested first
        Effect.zipRight(
          failTokenRequests(Fault.Response({ status: 410 }), 1),
          run(["compare", "--probe", "GET /data-access/a", ...options])
        )
      const text = yield* withoutV1()
      const json = yield* withoutV1("--json")
      assert.deepStrictEqual([text.code, json.code], [0, 0])
      assert.include(text.stdout, "Ready for V2, without a rollback.")
      const { probes, v1, verdict } = decoded(PrintedJson.Compare, json.stdout)
      assert.strictEqual(verdict, "ReadyWithoutRollback")
      assert.deepInclude(v1, { error: "ServerError" })
      assert.deepStrictEqual(probes.map(({ v1, v2 }) => [v1, v2]), [[null, { status: 200 }]])
    })
  )

  test(
    "shows why a probe had no response in its JSON",
    Effect.gen(function*() {
      const { failCalls } = yield* Simulator.Simulator
      yield* failCalls(Fault.Reset(), { times: 9 })
      const { stdout } = yield* run(["compare", "--json", "--probe", "GET /data-access/a"])
      const [probe] = decoded(PrintedJson.Compare, stdout).probes
      assert.deepInclude(probe, { v1: { error: "Reset" }, v2: { error: "Reset" }, sameBody: null })
    })
  )
})
