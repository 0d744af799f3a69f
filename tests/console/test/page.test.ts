import { SimulatorConsole } from "@credit-data/simulator"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { send } from "../src/client.ts"
import { simulated } from "../src/console.ts"

describe("the page of the console", () => {
  it.effect("has at most 25 kB, and needs nothing from another server", () =>
    Effect.gen(function*() {
      const { url } = yield* SimulatorConsole.SimulatorConsole
      const { body } = yield* send(url)
      assert.isAtMost(Buffer.byteLength(body), 25_000)
      assert.isNull(/https?:\/\//.exec(body))
      assert.notInclude(body, "innerHTML")
    }).pipe(Effect.provide(simulated)))

  it.effect("has a new nonce in each response", () =>
    Effect.gen(function*() {
      const { url } = yield* SimulatorConsole.SimulatorConsole
      const nonces = yield* Effect.forEach([1, 2], () =>
        Effect.map(send(url), ({ body }) => Array.from(body.matchAll(/nonce=([\w-]+)/g), ([, nonce]) => nonce)))
      assert.deepStrictEqual(
        nonces.map((all) =>
          new Set(all).size
        ),
        [1, 1]
      )
      assert.strictEqual(new Set(nonces.flat()).size, 2)
      assert.notInclude(nonces.flat(), "NONCE")
    }).pipe(Effect.provide(simulated)))
})
