import { Fault, Simulator } from "@credit-data/simulator"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { canary, tokenPrefix } from "../src/canaries.ts"
import { start } from "../src/program.ts"
import { transports } from "../src/transports.ts"

const simulator = Simulator.layer({ credentials: { clientId: "id", clientSecret: Redacted.make(canary) } })

describe.concurrent.each(transports)("an unhandled rejection that Node prints shows no secret, over %s", (name) => {
  const rows: ReadonlyArray<
    readonly [printed: string, prepare: (simulator: Simulator.Service) => Effect.Effect<void>]
  > = [
    [
      "refused the client",
      ({ failTokenRequests }) => failTokenRequests(Fault.oauthError(401, "invalid_client", `You sent ${canary}`))
    ],
    [
      "returned a response outside the contract",
      ({ failTokenRequests }) =>
        failTokenRequests(Fault.Response({ status: 200, body: `{"access_token":["${canary}"]}` }))
    ],
    ["InsufficientScope", ({ grantScopes }) => grantScopes(["furnishment:all"])],
    ["No response from the API", ({ failCalls }) => failCalls(Fault.Reset(), { times: 4 })],
    ["Decode", ({ failCalls }) => failCalls(Fault.Response({ status: 200, body: "no JSON" }))]
  ]
  for (const [printed, prepare] of rows) {
    it.scopedLive(printed, () =>
      Effect.gen(function*() {
        yield* prepare(yield* Simulator.Simulator)
        const { end } = yield* start("rejected.ts", name)
        const { exitCode, stderr, stdout } = yield* end
        assert.strictEqual(exitCode, 1)
        assert.include(stderr, printed)
        for (const secret of [canary, tokenPrefix]) assert.notInclude(stdout + stderr, secret)
      }).pipe(Effect.provide(simulator)), 30_000)
  }
})
