import { assert, it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { makeShared } from "../src/internal/sharedLayer.ts"

class Built extends Context.Tag("Built")<Built, object>() {}

it.scoped("parts of different kinds are never the same", () =>
  Effect.gen(function*() {
    const share = makeShared<Built, never, never>()
    const build = (part: unknown) =>
      Effect.map(share([part], () => Layer.sync(Built, () => ({}))), (context) => Context.get(context, Built))
    const parts = [{}, undefined, null, "null", Redacted.make("a"), Redacted.make("b"), Number.NaN]
    // the number of an object in a key must not be the number itself
    const numbers = Array.from({ length: 1_000 }, (_, number) => number)
    const all = yield* Effect.forEach([...parts, ...numbers], build)
    assert.strictEqual(new Set(all).size, all.length)
    assert.strictEqual(yield* build(Redacted.make("a")), all[4])
  }))
