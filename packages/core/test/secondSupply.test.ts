import { AccessTokens, TokenEndpoint } from "@credit-data/core"
import { assert, it } from "@effect/vitest"
import { printed } from "@credit-data/test-support/printed"
import * as VirtualClock from "@credit-data/test-support/virtualClock"
import { Effect, Layer, Logger, TestClock } from "effect"
import { secondSupply } from "../src/internal/logLines.ts"
import { makeTokenEndpoint, type Options } from "../src/internal/tokenEndpoint.ts"
import * as FakeTransport from "./support/fakeTransport.ts"
import { credentials, options } from "./support/tokenEndpoint.ts"

// supplies of other tests in this process have another client
const own = { credentials: { ...credentials, clientId: "the client of two supplies" } }

it.effect("a second supply for the same client within a minute logs a warning, once until a minute has passed without it", () =>
  Effect.gen(function*() {
    const warnings: Array<string> = []
    const logger = Logger.make(({ message }) => warnings.push(String(message)))
    const transport = yield* FakeTransport.make(FakeTransport.json(FakeTransport.granted))
    const build = (changed: Partial<Options>) =>
      AccessTokens.layer().pipe(
        Layer.provide(
          Layer.effect(TokenEndpoint.TokenEndpoint, makeTokenEndpoint({ ...options, ...own, ...changed }))
        ),
        Layer.provide([transport.layer, Logger.replace(Logger.defaultLogger, logger)]),
        Layer.build,
        Effect.scoped
      )
    yield* build({ path: "/first" }).pipe(Effect.withClock(VirtualClock.make().clockOf(() => 30_000)))
    yield* build({})
    yield* build({ scopes: ["serviceplus:all"] })
    yield* build({ credentials: { ...credentials, clientId: "another" } })
    yield* build({ path: "/another" })
    assert.deepStrictEqual(warnings, [])
    yield* TestClock.adjust("1 minute")
    yield* build({})
    assert.deepStrictEqual(warnings, [], "a minute later")
    yield* TestClock.adjust("59 seconds")
    yield* build({})
    assert.strictEqual(
      `WARN ${warnings}`,
      printed(
        secondSupply(`${options.authorizationServer.url}${options.path} (test, client the client of two supplies)`)
      )
    )
    for (let requests = 0; requests < 20; requests++) {
      yield* build({})
      yield* TestClock.adjust("5 seconds")
    }
    assert.strictEqual(warnings.length, 1, "a layer that is provided inside each request has one warning")
    yield* TestClock.adjust("1 minute")
    yield* build({})
    yield* build({})
    assert.strictEqual(warnings.length, 2, "after a minute without it, it is news")
  }))
