import { connect } from "@credit-data/promise"
import { Simulator } from "@credit-data/simulator"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"

describe("a connection", () => {
  it.live("calls", () =>
    Effect.gen(function*() {
      const variables = yield* Simulator.variables
      const simulator = yield* Simulator.Simulator
      yield* Effect.promise(async () => {
        const api = await connect({ variables })
        const response = await api.dataAccess("/data-access/consumers/42")
        console.log(response.status, await response.json())
        const r2 = await api.call("dataAccess", "GET", "/data-access/consumers/{id}", { id: "a/b" })
        console.log(r2.status, await r2.json(), await api.status())
        await api.close()
      })
      assert.strictEqual(yield* simulator.tokenRequests, 1)
    }).pipe(Effect.provide(Simulator.layer())))
})
