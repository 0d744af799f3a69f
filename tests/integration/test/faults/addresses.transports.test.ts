import { AuthV1 } from "@credit-data/auth-v1"
import { AuthV2 } from "@credit-data/auth-v2"
import { TokenEndpoint } from "@credit-data/core"
import { Fault, Simulator } from "@credit-data/simulator"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { credentials, requestToken } from "../../src/clients.ts"
import { connecting, noNames } from "../../src/transports.ts"

/** An address of this machine on which no server listens any more. */
const closedAddress = Effect.map(Simulator.Simulator, ({ environment }) => environment.authV2Url).pipe(
  Effect.provide(Simulator.layer({ credentials }))
)

describe.each(connecting)("a token request over %s", (_, connect) => {
  const transport = connect({ lookup: noNames("ENOTFOUND") })
  const failureAt = (url: string) => Effect.map(Effect.flip(requestToken(url, transport)), (error) => ({ ...error }))

  it.effect("a redirect is not followed, and the secret reaches no other server", () =>
    Effect.gen(function*() {
      const { environment, failTokenRequests, received } = yield* Simulator.Simulator
      const redirected = { headers: { location: `${environment.baseUrl}/elsewhere` } }
      for (const status of [301, 302, 303, 307, 308]) {
        yield* failTokenRequests(Fault.Response({ status, ...redirected }))
        const failure = yield* failureAt(environment.authV2Url)
        assert.deepInclude(failure, { _tag: "InvalidResponse", endpointStatus: status, rule: "Redirect" })
      }
      assert.deepStrictEqual([...new Set((yield* received).map(({ server }) => server))], ["AuthV2"])
    }).pipe(Effect.provide(Simulator.layer({ credentials }))))

  it.effect("a closed port, an unknown name and a port without TLS have different reasons", () =>
    Effect.gen(function*() {
      const { environment, tokenRequests } = yield* Simulator.Simulator
      const rows = [
        ["Tls", environment.authV2Url.replace("http:", "https:")],
        ["Refused", yield* closedAddress],
        ["NameNotFound", "https://no-such-name.example"]
      ] as const
      for (const [reason, url] of rows) {
        assert.deepInclude(yield* failureAt(url), { _tag: "TransportError", reason })
      }
      assert.strictEqual(yield* tokenRequests, 0)
    }).pipe(Effect.provide(Simulator.layer())))

  it.effect("the next request reaches a server that has started in the meantime", () =>
    Effect.gen(function*() {
      const authV2Url = yield* closedAddress
      const environment = {
        name: "late",
        audience: "https://simulator.credit-data.example",
        baseUrl: authV2Url,
        authV2Url
      }
      const context = yield* Layer.build(
        AuthV2.layerTokenEndpoint({ environment, credentials, scopes: ["data-access:all"] }).pipe(
          Layer.provide(transport)
        )
      )
      const { requestToken } = yield* Effect.provide(TokenEndpoint.TokenEndpoint, context)
      const request = requestToken({ _tag: "Nothing" })
      assert.deepInclude({ ...(yield* Effect.flip(request)) }, { _tag: "TransportError", reason: "Refused" })
      const ports = { AuthV1: 0, AuthV2: Number(new URL(authV2Url).port), Api: 0 }
      yield* Layer.build(Simulator.layer({ credentials, ports }))
      assert.deepStrictEqual((yield* request).scopes, ["data-access:all"])
    }).pipe(Effect.scoped))

  it.effect("the message of a failure of V1 names V1's end, unless DNS did not respond", () =>
    Effect.gen(function*() {
      const { environment } = yield* Simulator.Simulator
      const failure = (authV1Url: string, code: "ENOTFOUND" | "EAI_AGAIN" = "ENOTFOUND") =>
        Effect.flatMap(TokenEndpoint.TokenEndpoint, (port) => port.requestToken({ _tag: "Nothing" })).pipe(
          Effect.provide(
            AuthV1.layerTokenEndpoint({ environment: { ...environment, authV1Url }, credentials }).pipe(
              Layer.provide(connect({ lookup: noNames(code) }))
            )
          ),
          Effect.flip,
          Effect.map(({ message }) => message)
        )
      const sunset = "2024"
      assert.include(yield* failure("https://no-such-name.example"), sunset)
      assert.include(yield* failure(environment.authV2Url), sunset)
      assert.notInclude(yield* failure("https://no-such-name.example", "EAI_AGAIN"), sunset)
    }).pipe(Effect.provide(Layer.merge(Simulator.layer(), Logger.remove(Logger.defaultLogger)))))
})
