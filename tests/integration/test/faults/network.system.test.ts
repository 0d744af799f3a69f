import { AuthV2 } from "@credit-data/auth-v2"
import { TokenEndpoint } from "@credit-data/core"
import { Simulator } from "@credit-data/simulator"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, TestClock, TestServices } from "effect"
import { holds, nothingLeft, simulator, transportError } from "../../src/faultRow.ts"
import { expectedOver, tables, untilTheDeadline } from "../../src/networkFaults.ts"
import { transports } from "../../src/transports.ts"

/** The connections that remain open after a successful request. `fetch` has one pool per process, which cannot be closed. */
const idleConnections = { fetch: 1, "node:http": 0, undici: 0 } as const

describe.concurrent.each(transports)("a token request over %s", (name, transport) => {
  describe.each(tables)("%s", (_, rows) => {
    for (const [row, fault, expected] of rows) {
      it.effect(row, () =>
        holds(fault, expectedOver(name, expected), transport).pipe(
          Effect.zipRight(TestServices.provideLive(nothingLeft(idleConnections[name]))),
          Effect.provide(simulator)
        ))
    }
  })

  it.scoped("the option deadline limits the time of a token request", () =>
    Effect.gen(function*() {
      const { awaitReceived, credentials, environment, failTokenRequests } = yield* Simulator.Simulator
      const options = { environment, credentials, scopes: ["data-access:all"], deadline: "2 seconds" } as const
      const context = yield* Layer.build(Layer.provide(AuthV2.layerTokenEndpoint(options), transport))
      const { requestToken } = yield* Effect.provide(TokenEndpoint.TokenEndpoint, context)
      for (const [count, [, fault]] of untilTheDeadline.filter(([row]) => !row.startsWith("100 ")).entries()) {
        yield* failTokenRequests(fault)
        const request = yield* Effect.fork(Effect.flip(requestToken({ _tag: "Nothing" })))
        yield* awaitReceived("AuthV2", count + 1)
        yield* TestClock.adjust("2 seconds")
        assert.deepInclude<object>(yield* Fiber.join(request), transportError("Timeout").error)
      }
    }).pipe(Effect.provide(Simulator.layer())))
})
