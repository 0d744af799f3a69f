import { AccessTokens } from "@credit-data/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { callObserver, observeCalls } from "../src/internal/callObserver.ts"

describe("the observer of a supply's calls", () => {
  it.effect("is the last one, until its scope closes", () =>
    Effect.gen(function*() {
      const tokens = yield* AccessTokens.AccessTokens
      assert.isUndefined(callObserver(tokens))
      const observer = () => ({ begins: () => Effect.void, ends: () => Effect.void })
      const [first, second] = [observer(), observer()]
      const [firstScope, secondScope] = [yield* Scope.make(), yield* Scope.make()]
      yield* Scope.extend(observeCalls(tokens, first), firstScope)
      assert.strictEqual(callObserver(tokens), first)
      assert.isUndefined(callObserver({ ...tokens }))
      yield* Scope.extend(observeCalls(tokens, second), secondScope)
      yield* Scope.close(firstScope, Exit.void)
      assert.strictEqual(callObserver(tokens), second)
      yield* Scope.close(secondScope, Exit.void)
      assert.isUndefined(callObserver(tokens))
    }).pipe(Effect.provide(AccessTokens.layerTest())))
})
