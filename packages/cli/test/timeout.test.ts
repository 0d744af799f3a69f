import { Fault, Simulator } from "@credit-data/simulator"
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { failTokenRequests, test, together } from "./support/command.ts"
import { run, runProcess } from "./support/program.ts"

describe.concurrent("--timeout", () => {
  test(
    "ends a command whose server does not respond, with the exit code 4",
    Effect.gen(function*() {
      const { failCalls } = yield* Simulator.Simulator
      yield* failCalls(Fault.Silence(), { times: 1 })
      const call = yield* runProcess(["call", "--timeout", "3s", "/data-access/a"])
      assert.deepStrictEqual([call.code, call.stdout], [4, ""])
      assert.match(call.stderr, /^Timed out after 3000 ms \(--timeout\)\. /)
      yield* failTokenRequests(Fault.Silence())
      const outcomes = yield* together(
        runProcess(["token", "--timeout=3s"]),
        runProcess(["exec", "--timeout", "500ms", "--", "true"]),
        runProcess(["compare", "--timeout", "500ms"])
      )
      for (const { code, stderr, stdout } of outcomes) assert.deepStrictEqual([code, stdout], [4, ""], stderr)
      // the failure of the token request explains more
      assert.include(outcomes[0].stderr, "The token endpoint http://127.0.0.1:")
    })
  )

  test(
    "does not limit the program of exec, and limits each step of doctor",
    Effect.gen(function*() {
      const exec = yield* runProcess(["exec", "--timeout", "3s", "--", "sleep", "4"])
      assert.strictEqual(exec.code, 0)
      yield* failTokenRequests(Fault.Silence())
      const { code, stdout } = yield* runProcess(["doctor", "--timeout", "1s"])
      assert.strictEqual(code, 1)
      assert.match(stdout, /^failed +token +\d{3,4} ms +no complete response \(Timeout\)/m)
    })
  )

  test(
    "accepts a number with a unit, and no other value",
    Effect.gen(function*() {
      const outcomes = yield* together(
        ...["5", "s", "1d", "-1s", "1.5s", "1s2"].map((time) => run(["token", `--timeout=${time}`]))
      )
      for (const { code, stderr } of outcomes) {
        assert.strictEqual(code, 2)
        assert.include(stderr, "--timeout does not accept this value. Expected a time such as 500ms, 30s or 2m.")
      }
    })
  )
})
