import { recordingTracer } from "@credit-data/test-support/recordingTracer"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, TestClock } from "effect"
import { failures } from "./support/fakeEndpoint.ts"
import * as Supply from "./support/supply.ts"

describe("the span of a token request", () => {
  const traced = Effect.gen(function*() {
    const { spans, tracer } = recordingTracer()
    const { endpoint, tokens } = yield* Effect.withTracer(Supply.make(), tracer)
    /** A caller within its own span. */
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
          "http.request.method": "POST",
          "server.address": "v2.example",
          "credit_data.token.reason": "Nothing"
        },
        undefined
      ]])
    }))

  it.scoped("is linked from the span of each caller that waited for it, even of a caller that gave up", () =>
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
        [["Nothing", "ServerError"], ["Nothing", "ServerError"], ["Nothing", "ServerError"]]
      )
      assert.deepStrictEqual(named("call").flatMap((span) => span.links), requests().map(({ spanId }) => spanId))
    }))

  it.scoped("has as error.type why no response arrived", () =>
    Effect.gen(function*() {
      const { call, endpoint, requests } = yield* traced
      yield* endpoint.fail(failures.tls)
      yield* call("call")
      yield* TestClock.adjust("100 millis")
      assert.deepStrictEqual(requests().map(({ attributes }) => attributes["error.type"]), ["Tls"])
    }))

  it.scoped("is linked only from callers that waited for it, and not from callers of an earlier or later request", () =>
    Effect.gen(function*() {
      const { call, endpoint, named, requests } = yield* traced
      yield* endpoint.fail(failures.unavailable)
      yield* call("first")
      yield* TestClock.adjust("100 millis")
      yield* call("between")
      yield* TestClock.adjust("10 seconds")
      const [first, second, third] = requests().map(({ spanId }) => spanId)
      assert.deepStrictEqual(named("first").flatMap(({ links }) => links), [first, second, third])
      assert.deepStrictEqual(named("between").flatMap(({ links }) => links), [second, third])
    }))

  it.scoped("is not linked if tracing was disabled where the supply was built", () =>
    Effect.gen(function*() {
      const { spans, tracer } = recordingTracer()
      const { tokens } = yield* Effect.withTracerEnabled(Supply.make(), false)
      yield* Effect.fork(Effect.withTracer(Effect.withSpan(tokens.get, "call"), tracer))
      yield* TestClock.adjust("100 millis")
      assert.deepStrictEqual(spans.map(({ links, name }) => [name, links]), [["call", []]])
    }))

  it.scoped("does not end the supply when a tracer throws: callers get a failure, and the endpoint no storm of requests", () =>
    Effect.gen(function*() {
      const { tracer } = recordingTracer()
      const throwing = () => {
        throw new Error("a tracer that throws")
      }
      const { endpoint, tokens } = yield* Effect.withTracer(Supply.make(), { ...tracer, span: throwing })
      for (let call = 0; call < 20; call++) {
        assert.isTrue(Exit.isFailure(yield* Effect.exit(tokens.get)))
        yield* TestClock.adjust("1 second")
      }
      assert.isAtMost(yield* endpoint.requests, 1)
    }))
})
