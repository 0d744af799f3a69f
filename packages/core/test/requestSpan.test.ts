import { recordingTracer } from "@credit-data/test-support/recordingTracer"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, TestClock } from "effect"
import { failures } from "./support/fakeEndpoint.ts"
import * as Supply from "./support/supply.ts"

describe("the span of a token request", () => {
  const traced = Effect.gen(function*() {
    const { spans, tracer } = recordingTracer()
    const { endpoint, tokens } = yield* Effect.withTracer(Supply.make({ clientId: "acme" }), tracer)
    /** A caller within its own span. */
    const call = (name: string) =>
      Effect.fork(Effect.exit(Effect.withTracer(Effect.withSpan(tokens.get, name), tracer)))
    const named = (name: string) => spans.filter((span) => span.name === name)
    return { call, endpoint, named, requests: () => named("TokenEndpoint.requestToken"), tokens }
  })

  it.scoped("is not part of the trace of the caller, and has the environment, the client, the host and the reason", () =>
    Effect.gen(function*() {
      const { call, requests } = yield* traced
      yield* call("call")
      yield* TestClock.adjust("100 millis")
      assert.deepStrictEqual(requests().map(({ attributes, parent }) => [attributes, parent]), [[
        {
          "credit_data.environment": "test",
          "credit_data.client_id": "acme",
          "http.request.method": "POST",
          "server.address": "v2.example",
          "credit_data.token.reason": "Nothing"
        },
        undefined
      ]])
    }))

  it.scoped("has the type of the failure, and each retry has a span", () =>
    Effect.gen(function*() {
      const { call, endpoint, requests } = yield* traced
      yield* endpoint.fail(failures.unavailable)
      yield* call("call")
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(
        requests().map(({ attributes }) => [attributes["credit_data.token.reason"], attributes["error.type"]]),
        [["Nothing", "ServerError"], ["Nothing", "ServerError"], ["Nothing", "ServerError"]]
      )
    }))

  it.scoped("has as error.type why no response arrived", () =>
    Effect.gen(function*() {
      const { call, endpoint, requests } = yield* traced
      yield* endpoint.fail(failures.tls)
      yield* call("call")
      yield* TestClock.adjust("100 millis")
      assert.deepStrictEqual(requests().map(({ attributes }) => attributes["error.type"]), ["Tls"])
    }))

  it.scoped("reaches callers as a defect when the tracer throws, and the endpoint gets no storm of requests", () =>
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
