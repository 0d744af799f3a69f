import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { granted, json } from "./support/fakeTransport.ts"
import { make } from "./support/tokenEndpoint.ts"

describe("text from the server", () => {
  const describedAs = (error_description: string, clientSecret = "the-secret") =>
    Effect.gen(function*() {
      const endpoint = yield* make(
        { credentials: { clientId: "the-client", clientSecret: Redacted.make(clientSecret) } },
        json({ error: "invalid_client", error_description }, { status: 401 })
      )
      const failure = yield* Effect.flip(endpoint.requestToken)
      return failure._tag === "InvalidClient" ? failure.description ?? "" : ""
    })

  it.effect("is cut to 200 printable characters", () =>
    Effect.gen(function*() {
      const long = yield* describedAs("\u001b[31mred\u001b[0m \u202e\n\tand " + "long ".repeat(100_000))
      assert.strictEqual(long.length, 200)
      assert.isTrue(long.startsWith("[31mred[0m and long long"), long)
      assert.isTrue(long.endsWith("…"))
      assert.strictEqual((yield* describedAs("𝒳".repeat(300))).endsWith("𝒳…"), true)
    }))

  it.effect("of 200 characters is kept whole, and one more is cut", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* describedAs("x".repeat(200)), "x".repeat(200))
      assert.strictEqual(yield* describedAs("x".repeat(201)), `${"x".repeat(199)}…`)
      assert.strictEqual(yield* describedAs("  a\t\n b\u0007c  "), "a bc")
    }))

  it.effect("is scrubbed of the tokens that the same body holds", () =>
    Effect.gen(function*() {
      const tokens = { access_token: "an-access-token", refresh_token: "a-refresh-token", id_token: "an-id-token" }
      const echo = Object.values(tokens).join(" ")
      const endpoint = yield* make({}, json({ ...tokens, error: "x", error_description: echo }))
      const failure = yield* Effect.flip(endpoint.requestToken)
      assert.deepInclude({ ...failure }, { _tag: "ServerError", description: "<redacted> <redacted> <redacted>" })
    }))

  it.effect("with the secret in it, in any form, is no scope", () =>
    Effect.gen(function*() {
      const secret = "p+ss&w=rd%\"/<x"
      const credentials = { clientId: "id", clientSecret: Redacted.make(secret) }
      for (
        const echo of [
          secret.replaceAll("\"", ""),
          encodeURIComponent(secret),
          encodeURIComponent(secret).toLowerCase(),
          btoa(secret),
          "p+ss&amp;w=rd%&quot;/&lt;x"
        ]
      ) {
        const endpoint = yield* make({ credentials }, json({ ...granted, scope: `data-access:all ${echo}` }))
        const outcome = yield* Effect.either(endpoint.requestToken)
        assert.strictEqual(outcome._tag, echo === secret.replaceAll("\"", "") ? "Right" : "Left", echo)
      }
      const endpoint = yield* make({}, json({ ...granted, refresh_token: "refresh-token", scope: "refresh-token" }))
      assert.deepInclude({ ...(yield* Effect.flip(endpoint.requestToken)) }, { rule: "Scope" })
    }))

  it.effect("is scrubbed of the secret, in every form in which a server would echo it", () =>
    Effect.gen(function*() {
      const secret = "s+e&c=r%e\"t ü"
      for (
        const echo of [
          secret,
          encodeURIComponent(secret),
          new URLSearchParams({ s: secret }).toString(),
          JSON.stringify({ s: secret }),
          secret.split("").join("\u0000")
        ]
      ) {
        const text = yield* describedAs(`You sent ${echo}.`, secret)
        assert.include(text, "<redacted>")
        assert.notInclude(text, "c=r")
        assert.notInclude(text, "c%3Dr")
      }
      for (const odd of ["top  secret", "se\u00a0cret", "se\u00adcret"]) {
        assert.strictEqual(yield* describedAs(`bad word: ${odd}`, odd), "bad word: <redacted>")
      }
      assert.notInclude(yield* describedAs(`${"x".repeat(195)}${secret}`, secret), "s+e")
    }))
})
