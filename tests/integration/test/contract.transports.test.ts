import { AuthV1 } from "@credit-data/auth-v1"
import { AuthV2 } from "@credit-data/auth-v2"
import { AccessTokens, TokenEndpoint } from "@credit-data/core"
import { type Received, Simulator } from "@credit-data/simulator"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck, Layer, Redacted } from "effect"
import { simulated } from "../src/simulated.ts"
import { transports } from "../src/transports.ts"

const bodyOf = (received: Received.Received | undefined) =>
  received === undefined ? "" : new TextDecoder().decode(Redacted.value(received.body))

describe.each(transports)("a token request over %s", (_, transport) => {
  const received = (layer: ReturnType<typeof simulated>) =>
    Effect.gen(function*() {
      const token = yield* Effect.flatMap(AccessTokens.AccessTokens, (tokens) => tokens.get)
      const [request, ...others] = yield* Effect.flatMap(Simulator.Simulator, (simulator) => simulator.received)
      assert.strictEqual(others.length, 0)
      assert(request !== undefined)
      return { token, request }
    }).pipe(Effect.provide(layer))

  const form = "client_id=simulated-client&client_secret=simulated-secret-0123456789abcdefghijklm" +
    "&audience=https%3A%2F%2Fsimulator.credit-data.example"
  const versions = [
    ["V1", AuthV1.layerConfig(), {
      path: "/oauth/token",
      form: `${form}&grant_type=client_credentials`,
      scopes: ["read:consumers", "write:consumers", "read:credit.simulated.score.vantage3"]
    }],
    ["V2", AuthV2.layerConfig(), {
      path: "/oauth2/token",
      form: `${form}&scope=data-access%3Aall+furnishment%3Aall+serviceplus%3Aall&grant_type=client_credentials`,
      scopes: ["data-access:all", "furnishment:all", "serviceplus:all"]
    }]
  ] as const
  for (const [version, auth, expected] of versions) {
    it.effect(`matches the contract of ${version} exactly`, () =>
      Effect.gen(function*() {
        const { request, token } = yield* received(simulated(auth, transport))
        assert.deepInclude(request, { server: `Auth${version}`, method: "POST", url: expected.path })
        assert.strictEqual(request.headers["content-type"], "application/x-www-form-urlencoded")
        assert.strictEqual(bodyOf(request), expected.form)
        assert.deepStrictEqual(token.scopes, expected.scopes)
        for (const name of ["authorization", "traceparent", "b3", "cookie"]) assert.notProperty(request.headers, name)
      }))
  }

  it.effect("has the secret in its body and nowhere else", () =>
    Effect.gen(function*() {
      const secret = "p+ss&w=rd%ü"
      const credentials = { clientId: "id", clientSecret: Redacted.make(secret) }
      const { request } = yield* received(simulated(AuthV2.layerConfig(), transport, { credentials }))
      assert.include(bodyOf(request), new URLSearchParams([["client_secret", secret]]).toString())
      const others = JSON.stringify([request.url, request.headers])
      for (const form of [secret, encodeURIComponent(secret), btoa("p+ss&w=rd%").slice(0, 8), "p+ss", "p%2Bss"]) {
        assert.notInclude(others, form)
      }
    }))

  const text = FastCheck.oneof(
    FastCheck.constantFrom("+&=% ü", "a b", "100%", "ü+ü=&", "日本語", "😀"),
    FastCheck.string({ unit: "grapheme", minLength: 1 })
    // what the packages refuse: control characters, and invisible characters at the ends
  ).filter((value) => !/^[\s\p{Cf}]*$|[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]|^[\p{Cf}\p{DI}]|[\p{Cf}\p{DI}]$/u.test(value))

  const id = text.filter((value) => value === value.trim())

  const bringsOver = (clientId: string, secret: string) => {
    const credentials = { clientId, clientSecret: Redacted.make(secret) }
    return Effect.gen(function*() {
      const { environment, received } = yield* Simulator.Simulator
      const endpoint = AuthV2.layerTokenEndpoint({ environment, credentials, scopes: ["data-access:all"] })
      yield* Effect.flatMap(TokenEndpoint.TokenEndpoint, (port) => port.requestToken({ _tag: "Nothing" })).pipe(
        Effect.provide(endpoint)
      )
      assert.deepStrictEqual([...new URLSearchParams(bodyOf((yield* received)[0])).entries()], [
        ["client_id", clientId],
        ["client_secret", secret],
        ["audience", environment.audience],
        ["scope", "data-access:all"],
        ["grant_type", "client_credentials"]
      ])
    }).pipe(Effect.provide(Layer.merge(transport, Simulator.layer({ credentials }))))
  }

  it("transmits ids and secrets byte for byte", () =>
    FastCheck.assert(
      FastCheck.asyncProperty(id, text, (clientId, secret) => Effect.runPromise(bringsOver(clientId, secret))),
      { numRuns: 40 }
    ))
})
