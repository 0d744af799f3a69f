import { Fault, Simulator } from "@credit-data/simulator"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { events, Test } from "../support/admin.ts"
import { get, newToken } from "../support/http.ts"

describe("the stream of events", () => {
  it.effect("begins with a reset and the state, and goes on with what changes", () =>
    Effect.gen(function*() {
      const first = yield* Effect.fork(events(4))
      yield* newToken
      const all = yield* Fiber.join(first)
      assert.deepStrictEqual(all.slice(0, 2).map(({ event }) => event), ["reset", "state"])
      assert.isTrue(all.slice(2).every(({ event }) => ["request", "token", "state"].includes(event)))
    }).pipe(Effect.provide(Test)))

  it.effect("has the settings only when they change, and not with every request", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      for (let call = 0; call < 5; call++) yield* get("/data-access/a")
      yield* simulator.failCalls(Fault.Delay({ duration: 0 }))
      yield* get("/data-access/faulty")
      const all = yield* events(8)
      assert.deepStrictEqual(all.map(({ event }) => event), [
        "reset",
        ...Array.from({ length: 5 }, () => "request"),
        "state",
        "request"
      ])
      const requests = all.filter(({ event }) => event === "request")
      assert.deepStrictEqual(requests.map(({ data }) => data["ordinal"]), [1, 2, 3, 4, 5, 6])
    }).pipe(Effect.provide(Test)))

  it.effect("goes on after the last event that a client has seen", () =>
    Effect.gen(function*() {
      yield* newToken
      const seen = (yield* events(4)).at(-1)
      assert(seen !== undefined)
      yield* get("/data-access/missed", "nonsense")
      const [missed] = yield* events(1, seen.id)
      assert.strictEqual(missed?.event, "request")
      assert.deepInclude(missed?.data, { url: "/data-access/missed", status: 401 })
    }).pipe(Effect.provide(Test)))

  it.effect("has an id only after the last event of a revision, so that a lost connection loses no request", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      yield* get("/data-access/1")
      const known = (yield* events(3)).at(-1)
      assert(known !== undefined)
      // the request that takes a fault changes the settings
      yield* simulator.failCalls(Fault.Delay({ duration: 0 }))
      yield* get("/data-access/2")
      const [settings, request] = yield* events(2, known.id)
      assert.deepInclude(settings, { event: "state", id: "" })
      assert.deepInclude(request, { event: "request" })
      assert.notStrictEqual(request?.id, "")
    }).pipe(Effect.provide(Test)))

  it.effect("starts with a reset for an event of another start", () =>
    Effect.gen(function*() {
      const [first] = yield* events(1, "another-start.99")
      assert.strictEqual(first?.event, "reset")
    }).pipe(Effect.provide(Test)))
})
