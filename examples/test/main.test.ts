import { AccessScope } from "@credit-data/core"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { assertInOrder, run, sunset } from "./run.ts"

it.live("main.ts prints the expected lines and exits with 0", () =>
  Effect.gen(function*() {
    const { exitCode, stderr, stdout } = yield* run("main.ts")
    assert.strictEqual(stderr, "")
    assert.strictEqual(exitCode, 0)
    assertInOrder(stdout, [
      "Against a simulator of the service, in this process",
      "Auth V2: one token for three endpoint groups",
      `token granted                        ${AccessScope.all.join(" ")}`,
      "lifetime                             23h 59m 59s",
      "GET /data-access/consumers/42        200",
      "GET /furnishment/submissions/7       200",
      "GET /enablement-services/offers/1    200",
      "token requests                       1",
      "Auth V1: the same program, one word changed",
      sunset,
      "token granted                        read:consumers",
      "token requests                       1",
      "Wrong credentials: a typed failure, handled by its tag",
      /InvalidClient +The token endpoint http.*refused the client: 401 invalid_client/
    ])
    assert.notInclude(stdout, "A second supply")
    // the refusal is the last thing that happens, and no reader should take it for a failure of the example
    const [end] = stdout.trimEnd().split("\n\n").slice(-1)
    assert.strictEqual(
      end,
      "Everything went as expected, the refusal included. Next: docs/get-started.md writes a service and its test."
    )
  }))
