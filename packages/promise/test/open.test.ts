import { AccessTokens } from "@credit-data/core"
import { ofFetch } from "@credit-data/http-client/Internal"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { setImmediate } from "node:timers/promises"
import { open } from "../src/internal/open.ts"
import { rejection } from "./support/connection.ts"

/** The parts of a connection, and what happened to them. The end of the supply waits for the promise. */
const recorded = (before: Promise<void> = Promise.resolve()) => {
  const events: Array<string> = []
  const supply = Layer.scopedDiscard(
    Effect.addFinalizer(() => Effect.promise(() => before.then(() => void events.push("the supply has ended"))))
  )
  const others = {
    sender: ofFetch(fetch, (error) => error),
    release: () => void events.push("the transport is released")
  }
  return { events, others, supply }
}

const ended = ["the supply has ended", "the transport is released"]

describe("a connection", () => {
  it("is closed once, and each close resolves when everything has ended", async () => {
    let end = () => {}
    const { events, others, supply } = recorded(new Promise((resolve) => void (end = resolve)))
    const { close } = await open({ supply: Layer.merge(AccessTokens.layerTest(), supply), ...others })
    const closed = ["first", "second"].map((which) => close().then(() => void events.push(which)))
    await setImmediate()
    assert.deepStrictEqual(events, [])
    end()
    await Promise.all(closed)
    assert.deepStrictEqual(events, [...ended, "first", "second"])
  })

  it("that cannot be opened keeps nothing", async () => {
    const { events, others, supply } = recorded()
    const refused = Layer.effect(AccessTokens.AccessTokens, Effect.fail("refused")).pipe(
      Layer.provideMerge(supply)
    )
    assert.include(String(await rejection(open({ supply: refused, ...others }))), "refused")
    assert.deepStrictEqual(events, ended)
  })
})
