import { AuthV1 } from "@credit-data/auth-v1"
import { AuthV2 } from "@credit-data/auth-v2"
import { TokenEndpoint } from "@credit-data/core"
import { Fault, Simulator } from "@credit-data/simulator"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger, Redacted } from "effect"
import { connecting, noNames } from "../../src/tls.ts"

/** An address of this machine on which no server listens any more. */
const closedAddress = Effect.map(Simulator.Simulator, ({ environment }) => environment.authV2Url).pipe(
  Effect.provide(Simulator.layer())
)

const requestToken = Effect.flatMap(
  TokenEndpoint.TokenEndpoint,
  (endpoint) => endpoint.requestToken({ _tag: "Nothing" })
)

const endpointV2 = Layer.unwrapEffect(
  Effect.map(
    Simulator.Simulator,
    ({ credentials, environment }) =>
      AuthV2.layerTokenEndpoint({ environment, credentials, scopes: ["data-access:all"] })
  )
)

describe.each(connecting)("a token request over %s", (_, connect) => {
  const transport = connect({ lookup: noNames("ENOTFOUND") })
  const simulated = endpointV2.pipe(Layer.provide(transport), Layer.provideMerge(Simulator.layer()))

  it.effect("a redirect is not followed, and the secret reaches no other server", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      for (const status of [301, 302, 303, 307, 308]) {
        yield* simulator.failTokenRequests(
          Fault.Response({ status, headers: { location: `${simulator.environment.baseUrl}/elsewhere` } })
        )
        assert.deepInclude({ ...(yield* Effect.flip(requestToken)) }, {
          _tag: "InvalidResponse",
          status,
          rule: "Redirect"
        })
      }
      const received = yield* simulator.received
      assert.deepStrictEqual([...new Set(received.map(({ server }) => server))], ["AuthV2"])
    }).pipe(Effect.provide(simulated)))

  const at = (authV2Url: string) =>
    Effect.flip(requestToken).pipe(Effect.provide(
      AuthV2.layerTokenEndpoint({
        environment: { name: "elsewhere", audience: "a", baseUrl: authV2Url, authV2Url },
        credentials: Simulator.Simulator.pipe(Effect.flatMap(({ credentials }) => credentials)),
        scopes: ["data-access:all"]
      }).pipe(Layer.provide(transport))
    ))

  it.effect("a closed port, an unknown name and a port without TLS have different reasons", () =>
    Effect.gen(function*() {
      const { environment } = yield* Simulator.Simulator
      const tls = yield* at(environment.authV2Url.replace("http:", "https:"))
      assert.deepInclude({ ...tls }, { _tag: "TransportError", reason: "Tls" })
      assert.deepInclude({ ...(yield* at(yield* closedAddress)) }, { _tag: "TransportError", reason: "Refused" })
      assert.deepInclude({ ...(yield* at("https://no-such-name.example")) }, {
        _tag: "TransportError",
        reason: "NameNotFound"
      })
      assert.strictEqual(yield* Effect.flatMap(Simulator.Simulator, (simulator) => simulator.tokenRequests), 0)
    }).pipe(Effect.provide(Simulator.layer())))

  it.effect("the next request reaches a server that has started in the meantime", () =>
    Effect.gen(function*() {
      const authV2Url = yield* closedAddress
      const credentials = {
        clientId: "simulated-client",
        clientSecret: Redacted.make("simulated-secret-0123456789abcdefghijklm")
      }
      const context = yield* Layer.build(
        AuthV2.layerTokenEndpoint({
          environment: {
            name: "late",
            audience: "https://simulator.credit-data.example",
            baseUrl: authV2Url,
            authV2Url
          },
          credentials,
          scopes: ["data-access:all"]
        }).pipe(Layer.provide(transport))
      )
      const request = Effect.provide(requestToken, context)
      assert.deepInclude({ ...(yield* Effect.flip(request)) }, { _tag: "TransportError", reason: "Refused" })
      const port = Number(new URL(authV2Url).port)
      yield* Layer.build(Simulator.layer({ credentials, ports: { AuthV1: 0, AuthV2: port, Api: 0 } }))
      assert.deepStrictEqual((yield* request).scopes, ["data-access:all"])
    }).pipe(Effect.scoped))

  it.effect("the message of a failure of V1 names V1's sunset, unless DNS did not respond", () =>
    Effect.gen(function*() {
      const { environment } = yield* Simulator.Simulator
      const failure = (authV1Url: string, code: "ENOTFOUND" | "EAI_AGAIN" = "ENOTFOUND") =>
        Effect.flip(requestToken).pipe(
          Effect.provide(
            AuthV1.layerTokenEndpoint({
              environment: { ...environment, authV1Url },
              credentials: Simulator.Simulator.pipe(Effect.flatMap(({ credentials }) => credentials))
            }).pipe(Layer.provide(connect({ lookup: noNames(code) })))
          ),
          Effect.map(({ message }) => message)
        )
      const sunset = "Auth V1 reached its sunset at the end of 2024"
      assert.include(yield* failure("https://no-such-name.example"), sunset)
      assert.include(yield* failure(environment.authV2Url), sunset)
      assert.notInclude(yield* failure("https://no-such-name.example", "EAI_AGAIN"), sunset)
    }).pipe(Effect.provide(Layer.merge(Simulator.layer(), Logger.remove(Logger.defaultLogger)))))
})
