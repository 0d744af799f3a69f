import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Exit } from "effect"
import type { Process } from "./support/fleet.ts"
import { one, setUp, storeOf, textOf } from "./support/virtualFleet.ts"

const hour = 3_600_000

/** Tokens and failures that were taken from others, and what was published. */
const counts = (process: Process) =>
  Effect.map(storeOf(process), ({ failuresTaken, published, tokensTaken }) => ({
    tokensTaken,
    failuresTaken,
    published
  }))

describe("what a process counts", () => {
  it.effect("are the tokens and failures of others, and what it published itself", () =>
    Effect.gen(function*() {
      const { fleet, get, pass, server, start } = yield* setUp({ size: 2 })
      const [first, second] = [one(fleet), one(fleet.slice(1))]
      yield* get(first)
      yield* get(second)
      assert.deepStrictEqual(yield* counts(first), { tokensTaken: 0, failuresTaken: 0, published: 1 })
      assert.deepStrictEqual(yield* counts(second), { tokensTaken: 1, failuresTaken: 0, published: 0 })
      server.server.respond = () => ({ status: 400, error: "invalid_scope" })
      yield* pass(1.1 * hour)
      assert.strictEqual(textOf(yield* get(first, 300)), "ServerError")
      assert.strictEqual(textOf(yield* get(second, 300)), "ServerError")
      assert.deepStrictEqual(yield* counts(first), { tokensTaken: 0, failuresTaken: 0, published: 2 })
      assert.deepStrictEqual(yield* counts(second), { tokensTaken: 1, failuresTaken: 1, published: 0 })
      server.server.respond = () => ({})
      yield* pass(1_000)
      const third = yield* start(0)
      const token = textOf(yield* get(third, 500))
      assert.strictEqual(textOf(yield* get(second, 1_500)), token, "found while it remembers the failure")
      assert.deepStrictEqual(yield* counts(second), { tokensTaken: 2, failuresTaken: 1, published: 0 })
    }))

  it.effect("contains no failure that it does not share", () =>
    Effect.gen(function*() {
      const { fleet, get, server } = yield* setUp({ size: 2 })
      server.server.latency = Duration.seconds(11)
      assert.strictEqual(textOf(yield* get(one(fleet), 15_000)), "TransportError")
      assert.deepStrictEqual(yield* counts(one(fleet)), { tokensTaken: 0, failuresTaken: 0, published: 0 })
    }))

  it.effect("contains no value that a higher fence had overtaken before it was published", () =>
    Effect.gen(function*() {
      const { fleet, get } = yield* setUp({
        size: 1,
        store: (store) => ({ ...store, publish: () => Effect.succeed(false) })
      })
      assert.isTrue(Exit.isSuccess(yield* get(one(fleet))))
      assert.deepStrictEqual(yield* counts(one(fleet)), { tokensTaken: 0, failuresTaken: 0, published: 0 })
    }))
})
