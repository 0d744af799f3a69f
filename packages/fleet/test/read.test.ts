import type { TokenStore } from "@credit-data/fleet"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Option, Redacted } from "effect"
import { entryOf, makeMemory, readStore } from "./support/fleet.ts"
import { setUp } from "./support/virtualFleet.ts"

/** A store whose operations other than reading are defects. */
const readOnly = (store: TokenStore.Service): TokenStore.Service => {
  const refuse = () => Effect.die(new Error("only read"))
  return { read: store.read, takeLease: refuse, releaseLease: refuse, publish: refuse }
}

/** A process, and what its store contains now. */
const setUpOne = Effect.gen(function*() {
  let memory = yield* makeMemory
  const { clock, ...fleet } = yield* setUp({
    size: 1,
    store: (store) => {
      memory = store
      return store
    }
  })
  return { ...fleet, stored: Effect.suspend(() => readStore(readOnly(memory))).pipe(Effect.withClock(clock)) }
})

describe("what a store contains", () => {
  it.effect("is nothing before a process has used it", () =>
    Effect.gen(function*() {
      const { stored } = yield* setUpOne
      assert.deepStrictEqual(yield* stored, { token: Option.none(), failure: Option.none() })
    }))

  it.effect("is the token until it expires", () =>
    Effect.gen(function*() {
      const { ask, fleet, pass, stored } = yield* setUpOne
      yield* ask(fleet, 1_000)
      const { failure, token } = yield* stored
      assert.strictEqual(Redacted.value(Option.getOrThrow(token).secret), "token-1")
      assert.isTrue(Option.isNone(failure))
      yield* pass(3_600_000)
      assert.isTrue(Option.isNone((yield* stored).token))
    }))

  it.effect("is the failure that the processes share, and its end", () =>
    Effect.gen(function*() {
      const { ask, fleet, now, pass, server, stored } = yield* setUpOne
      server.server.respond = () => ({ status: 400, error: "invalid_scope", headers: { "retry-after": "20" } })
      yield* ask(fleet, 1_000)
      const { failure, token } = yield* stored
      assert.isTrue(Option.isNone(token))
      const { error, until } = Option.getOrThrow(failure)
      assert.strictEqual(error._tag, "ServerError")
      // the response arrived 200 ms after the start
      assert.strictEqual(DateTime.toEpochMillis(until) - now(), 19_200)
      yield* pass(20_000)
      assert.isTrue(Option.isNone((yield* stored).failure))
    }))

  it.effect("is nothing when the value cannot be opened", () =>
    Effect.gen(function*() {
      const store = yield* makeMemory
      const { name } = yield* entryOf({})
      yield* store.publish(name, { bytes: new Uint8Array(100), fence: 1, expiresAt: 60_000, owner: "" })
      assert.deepStrictEqual(yield* readStore(readOnly(store)), { token: Option.none(), failure: Option.none() })
    }))
})
