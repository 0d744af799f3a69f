import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { json } from "./support/fakeTransport.ts"
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
