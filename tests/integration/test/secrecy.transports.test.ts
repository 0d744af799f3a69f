import { AuthV2 } from "@credit-data/auth-v2"
import { DataAccess } from "@credit-data/http-client"
import { Fault, Simulator } from "@credit-data/simulator"
import { recordingTracer } from "@credit-data/test-support/recordingTracer"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, TestClock } from "effect"
import { canary } from "../src/canaries.ts"
import { credentials } from "../src/clients.ts"
import { assertNothingShows, printAll } from "../src/printers.ts"
import { transports } from "../src/transports.ts"

// values, errors, responses, events and configurations: everyExport.transports.test.ts

it.effect("the printers print a canary that is not redacted, so they would find a leak", () =>
  Effect.gen(function*() {
    for (const [printer, text] of yield* printAll(new Error(canary))) {
      if (!["JSON.stringify", "Inspectable.format", "console.table", "Cause as JSON"].includes(printer)) {
        assert.include(text, canary, printer)
      }
    }
    for (const [printer, text] of yield* printAll({ secret: canary })) {
      if (!["String", "template", "stack", "Cause.pretty"].includes(printer)) assert.include(text, canary, printer)
    }
  }))

describe.each(transports)("secrecy over %s", (_, transport) => {
  it.effect("no span shows a secret or a token", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      const { spans, tracer } = recordingTracer()
      const Auth = AuthV2.layer({ environment: simulator.environment, credentials, scopes: ["data-access:all"] })
      yield* simulator.failTokenRequests(Fault.oauthError(400, "invalid_request", canary))
      yield* Effect.gen(function*() {
        const dataAccess = yield* DataAccess.DataAccess
        yield* Effect.flip(dataAccess.get("/data-access/consumers/42"))
        yield* TestClock.adjust("30 seconds")
        yield* dataAccess.get("/data-access/consumers/42")
        yield* simulator.failCalls(Fault.Response({ status: 401 }))
        yield* dataAccess.get("/data-access/consumers/42")
        yield* simulator.failCalls(Fault.Reset(), { times: 4 })
        yield* Effect.flip(dataAccess.get("/data-access/consumers/42"))
      }).pipe(
        Effect.provide(DataAccess.layer().pipe(Layer.provide(Auth), Layer.provide(transport))),
        Effect.withTracer(tracer)
      )
      const names = spans.map(({ name }) => name)
      assert.include(names, "TokenEndpoint.requestToken")
      assert.include(names, "GET")
      yield* assertNothingShows({ spans })
    }).pipe(Effect.provide(Simulator.layer({ credentials }))))
})
