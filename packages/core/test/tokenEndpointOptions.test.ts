import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { environment } from "./support/fakeEndpoint.ts"
import { granted, json } from "./support/fakeTransport.ts"
import { make } from "./support/tokenEndpoint.ts"

describe("invalid options of a token endpoint", () => {
  it.effect("the error for an invalid option describes what was expected", () =>
    Effect.gen(function*() {
      assert.include(yield* fails({ deadline: 0 }), "deadline: \"Expected a finite duration above zero\"")
      assert.include(
        // @ts-expect-error: a program without types may leave this out
        yield* fails({ environment: { ...environment, authV2Url: undefined } }),
        "environment.authV2Url: \"Expected "
      )
    }))

  const fails = (options: Parameters<typeof make<never, never>>[0]) =>
    Effect.map(Effect.flip(make(options, json(granted))), (error) => String(error))

  it.effect("building fails with a ConfigError that names all invalid options and shows no value", () =>
    Effect.gen(function*() {
      const error = yield* fails({
        environment: {
          ...environment,
          name: " ",
          audience: "a\nb",
          baseUrl: "http://api.example",
          authV2Url: "https://user:pass@v2.example"
        },
        // @ts-expect-error: a program without types may pass this
        scopes: ["read:consumers"],
        credentials: { clientId: "", clientSecret: Redacted.make("canary\t") },
        deadline: Number.NaN
      })
      for (
        const name of [
          "environment.name",
          "environment.audience",
          "environment.baseUrl",
          "environment.authV2Url",
          "scopes",
          "credentials.clientId",
          "credentials.clientSecret",
          "deadline"
        ]
      ) {
        assert.strictEqual(error.split(`(Invalid data at ${name}:`).length, 2, `${name} in ${error}`)
      }
      assert.notInclude(error, "canary")
      assert.notInclude(error, "pass")
      assert.notInclude(error, "api.example")
    }))

  const absolute = "an absolute URL"
  const secure = "https (http only for localhost, 127.0.0.0/8 and [::1])"
  const anonymous = "a URL without user information"
  const plain = "a URL without a query or a fragment"
  const short = "the address without /oauth2/token"
  for (
    const [url, expected] of [
      ["", "non-empty text"],
      ["v2.example", absolute],
      ["http://v2.example", secure],
      ["ftp://v2.example", secure],
      ["ftp://localhost", secure],
      ["http://127.0.0.1.evil.example", secure],
      ["http://localhost.evil.example", secure],
      ["http://10.0.0.1", secure],
      ["https://user@v2.example", anonymous],
      ["https://:pass@v2.example", anonymous],
      ["https://v2.example?a=b", plain],
      ["https://v2.example/?", plain],
      ["https://v2.example?", plain],
      ["https://v2.example#top", plain],
      ["https://v2.example#", plain],
      ["https://v2.example/oauth2/token", short],
      ["https://v2.example/oauth2/token//", short]
    ] as const
  ) {
    it.effect(`an authorization server at ${JSON.stringify(url)} is refused: ${expected}`, () =>
      Effect.gen(function*() {
        const error = yield* fails({ environment: { ...environment, authV2Url: url } })
        assert.include(error, `environment.authV2Url: "Expected ${expected}`)
      }))
  }

  for (
    const [url, endpointUrl] of [
      ["https://v2.example/", "https://v2.example/oauth2/token"],
      ["https://v2.example/tenant//", "https://v2.example/tenant/oauth2/token"],
      ["HTTPS://V2.example:443", "https://v2.example/oauth2/token"],
      ["http://localhost:8080", "http://localhost:8080/oauth2/token"],
      ["http://127.10.20.30", "http://127.10.20.30/oauth2/token"],
      ["http://[::1]:80", "http://[::1]/oauth2/token"]
    ] as const
  ) {
    it.effect(`an authorization server at ${url} is accepted`, () =>
      Effect.gen(function*() {
        const endpoint = yield* make({ environment: { ...environment, authV2Url: url } }, json(granted))
        yield* endpoint.requestToken({ _tag: "Nothing" })
        assert.strictEqual((yield* endpoint.sent)[0]?.url, endpointUrl)
      }))
  }
})
