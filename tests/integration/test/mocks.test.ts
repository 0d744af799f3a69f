import { HttpClient } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it, vi } from "@effect/vitest"
import { Effect } from "effect"
import http from "node:http"
import { syncBuiltinESMExports } from "node:module"

// What docs/testing.md says about mocks of other libraries.

describe("a mock of node:http", () => {
  it.effect("is used by NodeHttpClient after syncBuiltinESMExports", () =>
    Effect.gen(function*() {
      const { request } = http
      const mocked: Array<unknown> = []
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          http.request = request
          syncBuiltinESMExports()
        })
      )
      http.request = (...args: ReadonlyArray<unknown>): never => {
        mocked.push(args[0])
        throw new Error("mocked")
      }
      syncBuiltinESMExports()
      // nothing listens on port 9
      yield* Effect.exit(HttpClient.get("http://127.0.0.1:9"))
      assert.lengthOf(mocked, 1)
    }).pipe(Effect.scoped, Effect.provide(NodeHttpClient.layer)))
})

// all fake timers would stop the scheduler of Effect, and with it the tests after this one
it.live("fake timers that replace only Date leave Effect's sleep as it is", () =>
  Effect.acquireUseRelease(
    Effect.sync(() => vi.useFakeTimers({ toFake: ["Date"] })),
    () => Effect.sleep("1 millis"),
    () => Effect.sync(() => vi.useRealTimers())
  ))
