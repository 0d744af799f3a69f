import { recordingTracer } from "@credit-data/test-support/recordingTracer"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, TestClock } from "effect"
import { failures } from "./support/fakeEndpoint.ts"
import * as Supply from "./support/supply.ts"

describe("the span of a token request", () => {
  const traced = Effect.gen(function*() {
    const { spans, tracer } = recordingTracer()
    const { endpoint, tokens } = yield* Effect.withTracer(Supply.make(), tracer)
    /** A caller within a span of its own. */
    const call = (name: string) =>
      Effect.fork(Effect.exit(Effect.withTracer(Effect.withSpan(tokens.get, name), tracer)))
    const named = (name: string) => spans.filter((span) => span.name === name)
    return { call, endpoint, named, requests: () => named("TokenEndpoint.requestToken"), tokens }
  })

  it.scoped("is not part of the trace of the caller, and has the environment, the host and the reason", () =>
    Effect.gen(function*() {
      const { call, requests } = yield* traced
      yield* call("call")
      yield* TestClock.adjust("100 millis")
      assert.deepStrictEqual(requests().map(({ attributes, parent }) => [attributes, parent]), [[
        {
          "credit_data.environment": "test",
          "server.address": "v2.example",
          "credit_data.token.reason": "Nothing"
        },
        undefined
      ]])
    }))

  it.scoped("is linked from the span of each caller that waited for it, also of one that gave up", () =>
    Effect.gen(function*() {
      const { call, named, requests, tokens } = yield* traced
      const impatient = yield* call("impatient")
      yield* call("patient")
      yield* TestClock.adjust("50 millis")
      yield* Fiber.interrupt(impatient)
      yield* TestClock.adjust("50 millis")
      yield* call("cached")
      yield* TestClock.adjust("48 minutes")
      yield* call("background")
      yield* TestClock.adjust("100 millis")
      yield* tokens.invalidate(yield* tokens.get)
      yield* call("after a rejection")
      yield* TestClock.adjust("100 millis")
      const [first, , third] = requests().map(({ spanId }) => spanId)
      const links = (name: string) => named(name).flatMap((span) => span.links)
      assert.deepStrictEqual(links("impatient"), [first])
      assert.deepStrictEqual(links("patient"), [first])
      assert.deepStrictEqual(links("cached"), [])
      assert.deepStrictEqual(links("background"), [])
      assert.deepStrictEqual(links("after a rejection"), [third])
    }))

  it.scoped("has the type of the failure, and each retry has a span", () =>
    Effect.gen(function*() {
      const { call, endpoint, named, requests } = yield* traced
      yield* endpoint.fail(failures.unavailable)
      yield* call("call")
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(
        requests().map(({ attributes }) => [attributes["credit_data.token.reason"], attributes["error.type"]]),
        [["Nothing", "ServerError"], ["Retry", "ServerError"], ["Retry", "ServerError"]]
      )
      assert.deepStrictEqual(named("call").flatMap((span) => span.links), requests().map(({ spanId }) => spanId))
    }))

  it.scoped("costs no caller its token if the tracer throws", () =>
    Effect.gen(function*() {
      const { tokens } = yield* Supply.make()
      const { tracer } = recordingTracer()
      const hostile = {
        ...tracer,
        span: (...options: Parameters<typeof tracer.span>) => ({
          ...tracer.span(...options),
          addLinks: () => {
            throw new Error("a tracer that throws")
          }
        })
      }
      const caller = yield* Effect.fork(Effect.withTracer(Effect.withSpan(tokens.get, "call"), hostile))
      yield* TestClock.adjust("100 millis")
      yield* Fiber.join(caller)
    }))
})
