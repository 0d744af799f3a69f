import { AuthV2 } from "@credit-data/auth-v2"
import { TokenEndpoint } from "@credit-data/core"
import { Simulator } from "@credit-data/simulator"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Redacted, TestClock, TestServices } from "effect"
import { canary } from "../../src/canaries.ts"
import { holds, nothingLeft, transportError } from "../../src/faultRow.ts"
import { expectedOver, tables, untilTheDeadline } from "../../src/networkFaults.ts"
import { transports } from "../../src/transports.ts"

/** The connections that remain open after a successful request. `fetch` has one pool per process, which cannot be closed. */
const idleConnections = { fetch: 1, "node:http": 0, undici: 0 } as const

describe.concurrent.each(transports)("a token request over %s", (name, transport) => {
  describe.each(tables)("%s", (_, rows) => {
    for (const [row, fault, expected] of rows) {
      it.effect(row, () =>
        Effect.gen(function*() {
          const simulator = yield* Simulator.Simulator
          yield* holds({ name: row, fault, ...expectedOver(name, expected) }, simulator, transport)
          yield* TestServices.provideLive(nothingLeft(idleConnections[name]))
        }).pipe(Effect.provide(
          Simulator.layer({ credentials: { clientId: "id", clientSecret: Redacted.make(canary) } })
        )))
    }
  })

  const withLimits = (options: Pick<TokenEndpoint.Options, "deadline">) =>
    Effect.gen(function*() {
      const { credentials, environment } = yield* Simulator.Simulator
      const layer = AuthV2.layerTokenEndpoint({ environment, credentials, scopes: ["data-access:all"], ...options })
      const context = yield* Layer.build(Layer.provide(layer, transport))
      return yield* Effect.provide(TokenEndpoint.TokenEndpoint, context)
    })

  it.scoped("the option deadline limits the time of a token request", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      const { requestToken } = yield* withLimits({ deadline: "2 seconds" })
      for (const [count, [, fault]] of untilTheDeadline.filter(([row]) => !row.startsWith("100 ")).entries()) {
        yield* simulator.failTokenRequests(fault)
        const request = yield* Effect.fork(Effect.flip(requestToken({ _tag: "Nothing" })))
        yield* simulator.awaitReceived("AuthV2", count + 1)
        yield* TestClock.adjust("2 seconds")
        assert.deepInclude<object>(yield* Fiber.join(request), transportError("Timeout").error)
      }
    }).pipe(Effect.provide(Simulator.layer())))
})
