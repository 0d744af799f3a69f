import { type StoreEngine, StoreError } from "@credit-data/fleet"
import { withConstantRandom } from "@credit-data/test-support/constantRandom"
import { beginning } from "@credit-data/test-support/printed"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Exit, Option } from "effect"
import * as Lines from "../src/internal/logLines.ts"
import { onLook } from "./support/changedStore.ts"
import { one, setUp, storeOf, textOf } from "./support/virtualFleet.ts"

describe("a faulty store", () => {
  type Operation = Exclude<keyof StoreEngine.Service, never>
  const refused = Effect.fail(new StoreError.StoreError({ reason: "Refused", code: "OOM" }))

  /** A store some of whose operations fail, hang or die while `fault` is set. */
  const faulty =
    (operations: ReadonlyArray<Operation>, fault: { how: "fail" | "hang" | "die" | "throw" | "none" }) =>
    (store: StoreEngine.Service): StoreEngine.Service => {
      const guard = <A>(operation: Operation, effect: Effect.Effect<A, StoreError.StoreError>) => {
        if (operations.includes(operation) && fault.how === "throw") throw new Error("a canary")
        return Effect.suspend(() => {
          if (!operations.includes(operation) || fault.how === "none") return effect
          return fault.how === "fail"
            ? refused
            : fault.how === "hang"
            ? Effect.never
            : Effect.die(new Error("a canary"))
        })
      }
      return {
        read: (name) => guard("read", store.read(name)),
        takeLease: (name, lease) => guard("takeLease", store.takeLease(name, lease)),
        releaseLease: (name, owner) => guard("releaseLease", store.releaseLease(name, owner)),
        publish: (name, value) => guard("publish", store.publish(name, value))
      }
    }
  const operations = ["read", "takeLease", "releaseLease", "publish"] as const

  for (const how of ["fail", "hang", "die", "throw"] as const) {
    for (const operation of operations) {
      it.effect(`delays callers by at most 0.6 seconds and fails none, when ${operation} ${how}s`, () =>
        Effect.gen(function*() {
          const { ask, fleet, get, server } = yield* setUp({ size: 3, store: faulty([operation], { how }) })
          const first = yield* get(one(fleet), 200 + 600 + 300)
          assert.strictEqual(textOf(first), "token-1")
          const outcomes = yield* ask(fleet, 5_000)
          assert.isTrue(outcomes.every(Exit.isSuccess))
          assert.isAtMost(server.server.requests, 3)
        }))
    }
  }

  it.effect("is left alone for ten seconds after three faults, and used again when it works", () =>
    Effect.gen(function*() {
      const fault: { how: "fail" | "none" } = { how: "fail" }
      let reads = 0
      const { fleet, get, pass, server } = yield* setUp({
        size: 2,
        store: (store) =>
          onLook(faulty(operations, fault)(store), (look) =>
            Effect.suspend(() => {
              reads++
              return look
            }))
      })
      const process = one(fleet)
      server.server.respond = () => ({ lifetime: 10 })
      assert.deepStrictEqual((yield* storeOf(process)).lastUsedAt, Option.none())
      for (let round = 0; round < 3; round++) {
        yield* get(process, 1_000)
        const { lastFault, lastUsedAt } = yield* storeOf(process)
        assert.deepStrictEqual(Option.map(lastFault, ({ at }) => at), lastUsedAt)
        yield* pass(9_500)
      }
      assert.strictEqual(reads, 3)
      const after = yield* storeOf(process)
      const { reason } = Option.getOrThrow(after.lastFault)
      assert.deepStrictEqual([after.faults, reason], [3, "Refused"])
      fault.how = "none"
      yield* pass(20_000)
      assert.deepStrictEqual(yield* storeOf(process), after)
      yield* get(process, 1_000)
      const now = yield* storeOf(process)
      assert.deepStrictEqual([now.lastFault, now.published], [Option.none(), 1])
      const usedAt = (status: typeof now) => DateTime.toEpochMillis(Option.getOrThrow(status.lastUsedAt))
      assert.isAtLeast(usedAt(now) - usedAt(after), 20_000)
      // one line for the faults, and one for their end
      const expected = [beginning(Lines.storeUnusable("OOM", "…", "")), beginning(Lines.storeWorks("…"))]
      const found = process.logs.flatMap((line) => expected.filter((beginning) => line.startsWith(beginning)))
      assert.deepStrictEqual(found, expected)
    }))

  for (const operation of ["takeLease", "publish"] as const) {
    it.effect(`is left alone after three faults, with one line in the log, when only ${operation} fails`, () =>
      Effect.gen(function*() {
        const { fleet, get, server } = yield* setUp({ size: 1, store: faulty([operation], { how: "fail" }) })
        server.server.respond = () => ({ lifetime: 1 })
        for (let round = 0; round < 6; round++) yield* get(one(fleet), 1_500)
        const { faults, lastFault } = yield* storeOf(one(fleet))
        assert.deepStrictEqual([Option.isSome(lastFault), faults], [true, 3])
        assert.lengthOf(one(fleet).logs.filter((line) => line.includes("shared store of access tokens")), 1)
      }))
  }

  it.effect("that is slow delays a caller by at most 0.6 seconds", () =>
    Effect.gen(function*() {
      const slow = <A, E>(effect: Effect.Effect<A, E>) => Effect.delay(effect, "500 millis")
      const { fleet, get } = yield* setUp({
        size: 1,
        store: (store) => ({
          read: (name) => slow(store.read(name)),
          takeLease: (name, lease) => slow(store.takeLease(name, lease)),
          releaseLease: (name, owner) => slow(store.releaseLease(name, owner)),
          publish: (name, value) => slow(store.publish(name, value))
        })
      })
      assert.strictEqual(textOf(yield* get(one(fleet), 200 + 600 + 50)), "token-1")
    }))

  it.effect("is read less often by waiting processes when it is slow", () =>
    Effect.gen(function*() {
      const readsWhen = Effect.fnUntraced(function*(latency: Duration.DurationInput) {
        let reads = 0
        const { ask, fleet, server } = yield* setUp({
          size: 5,
          store: (store) =>
            onLook(store, (look) =>
              Effect.suspend(() => {
                reads++
                return Effect.delay(look, latency)
              }))
        })
        server.server.latency = Duration.seconds(4)
        assert.isTrue((yield* ask(fleet)).every(Exit.isSuccess))
        assert.strictEqual(server.server.requests, 1)
        return reads
      })
      // four processes wait for four seconds
      const fast = yield* readsWhen("1 millis")
      assert.isAtLeast(fast, 4 * 4_000 / 220)
      const slow = yield* readsWhen("150 millis")
      assert.isAtMost(slow, 4 * 4_000 / 750 + 10)
    }).pipe(withConstantRandom(0.5)))
})
