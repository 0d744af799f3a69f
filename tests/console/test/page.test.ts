import { SimulatorConsole } from "@credit-data/simulator"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { send } from "../src/client.ts"
import { simulated } from "../src/console.ts"

it.effect("the page of the console has at most 25 kB, and needs nothing from another server", () =>
  Effect.gen(function*() {
    const { url } = yield* SimulatorConsole.SimulatorConsole
    const { body } = yield* send(url)
    assert.isAtMost(Buffer.byteLength(body), 25_000)
    assert.isNull(/https?:\/\//.exec(body))
    assert.notInclude(body, "innerHTML")
  }).pipe(Effect.provide(simulated)))
