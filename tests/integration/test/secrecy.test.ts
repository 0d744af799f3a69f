import { AuthV1 } from "@credit-data/auth-v1"
import { AuthV2 } from "@credit-data/auth-v2"
import { AccessTokens, TokenEndpoint } from "@credit-data/core"
import { DataAccess, Furnishment } from "@credit-data/http-client"
import { Fault, Simulator } from "@credit-data/simulator"
import { recordingTracer } from "@credit-data/test-support/recordingTracer"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Redacted, Scope, Stream, TestClock } from "effect"
import { canary } from "../src/canaries.ts"
import { assertNothingShows, printAll } from "../src/printers.ts"
import { transports } from "../src/transports.ts"

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
  const credentials = { clientId: "id", clientSecret: Redacted.make(canary) }

  it.effect("no value, error, exit, response, event, status or configuration shows a secret or a token", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      const { environment } = simulator
      const options = { environment, credentials, scopes: ["data-access:all"] } as const
      const context = yield* Layer.build(
        DataAccess.layer().pipe(Layer.provideMerge(AuthV2.layer(options)), Layer.provide(transport))
      )
      const tokens = yield* Effect.provide(AccessTokens.AccessTokens, context)
      const dataAccess = yield* Effect.provide(DataAccess.DataAccess, context)
      const listener = yield* Effect.fork(Stream.runCollect(Stream.take(tokens.events, 4)))
      yield* Effect.yieldNow()

      const token = yield* tokens.get
      const response = yield* dataAccess.get("/data-access/consumers/42")
      yield* response.json
      yield* simulator.failCalls(Fault.Response({ status: 200, body: "not JSON" }))
      const undecodable = yield* Effect.flip(
        Effect.flatMap(dataAccess.get("/data-access/consumers/42"), ({ json }) => json)
      )
      yield* simulator.failCalls(Fault.Reset(), { times: 4 })
      const reset = yield* Effect.flip(dataAccess.get("/data-access/consumers/42"))
      const refusedUrl = yield* Effect.flip(dataAccess.get("https://elsewhere.example"))
      yield* tokens.invalidate(token)
      const again = yield* tokens.get

      const endpointContext = yield* Layer.build(AuthV1.layerTokenEndpoint(options).pipe(Layer.provide(transport)))
      const endpoint = yield* Effect.provide(TokenEndpoint.TokenEndpoint, endpointContext)
      const failures: Record<string, unknown> = {}
      for (
        const [name, fault] of Object.entries({
          refused: Fault.oauthError(401, "invalid_client", `You sent ${canary}.`),
          failed: Fault.oauthError(500, canary, canary),
          leaking: Fault.Response({
            status: 200,
            body: JSON.stringify({ access_token: [canary], token_type: canary })
          }),
          short: Fault.Response({ status: 200, body: canary }),
          reset: Fault.Reset()
        })
      ) {
        yield* simulator.failTokenRequests(fault)
        const exit = yield* Effect.exit(endpoint.requestToken({ _tag: "Nothing" }))
        assert.isTrue(Exit.isFailure(exit))
        failures[name] = exit
        if (Exit.isFailure(exit)) failures[`${name}, the cause`] = exit.cause
        yield* simulator.failTokenRequests(fault)
        failures[`${name}, the error`] = yield* Effect.flip(endpoint.requestToken({ _tag: "Nothing" }))
      }

      yield* assertNothingShows({
        credentials,
        options,
        token,
        again,
        tokens,
        endpoint,
        dataAccess,
        response,
        undecodable,
        reset,
        refusedUrl,
        ...failures,
        exit: Exit.succeed(token),
        status: yield* tokens.status,
        events: Array.from(yield* Fiber.join(listener)),
        context,
        layer: AuthV2.layer(options),
        config: AuthV2.config,
        simulator,
        received: yield* simulator.received
      })
    }).pipe(Effect.scoped, Effect.provide(Simulator.layer({ credentials }))))

  it.effect("no span shows a secret or a token", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      const { spans, tracer } = recordingTracer()
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
        Effect.provide(
          DataAccess.layer().pipe(
            Layer.provide(
              AuthV2.layer({ environment: simulator.environment, credentials, scopes: ["data-access:all"] })
            ),
            Layer.provide(transport)
          )
        ),
        Effect.withTracer(tracer)
      )
      const names = spans.map(({ name }) => name)
      assert.include(names, "TokenEndpoint.requestToken")
      assert.include(names, "GET")
      yield* assertNothingShows({ spans })
    }).pipe(Effect.provide(Simulator.layer({ credentials }))))

  it.effect("no ConfigError shows a secret", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const environment = {
        name: "n",
        audience: "a",
        baseUrl: `http://${canary}.example`,
        authV2Url: `https://user:${canary}@auth.example`
      }
      const secret = Redacted.make(`${canary}\n\n`)
      const layer = AuthV2.layer({
        environment,
        credentials: { clientId: "id", clientSecret: secret },
        scopes: ["data-access:all"]
      }).pipe(Layer.provide(transport))
      yield* assertNothingShows({
        built: yield* Effect.exit(Layer.buildWithScope(layer, scope)),
        group: yield* Effect.exit(Layer.buildWithScope(
          Furnishment.layer().pipe(Layer.provide([AccessTokens.layerTest({ environment }), transport])),
          scope
        ))
      })
    }))
})
