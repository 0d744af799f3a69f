import { AccessScope, ClientCredentials, Environment, Variables } from "@credit-data/core"
import { assert, describe, it } from "@effect/vitest"
import { Config, ConfigProvider, Effect, Either, Redacted } from "effect"
import { serverAddress } from "../src/internal/serverAddress.ts"
import * as validation from "../src/internal/validation.ts"

const read = <A>(config: Config.Config<A>, variables: Record<string, string>) =>
  config.pipe(Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(variables)))))

const readAll = (fields: Record<string, Config.Config<unknown>>, variables: Record<string, string>) =>
  Variables.read(fields).pipe(Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(variables)))))

describe("ClientCredentials.config", () => {
  const credentials = (clientId: string, clientSecret: string) =>
    read(Config.all(ClientCredentials.config), {
      CREDIT_DATA_CLIENT_ID: clientId,
      CREDIT_DATA_CLIENT_SECRET: clientSecret
    })

  it.effect("the client secret is kept unchanged, except for one line break at its end", () =>
    Effect.gen(function*() {
      for (
        const [given, kept] of [
          ["s e+c&r=e%t ü", "s e+c&r=e%t ü"],
          [" spaces ", " spaces "],
          ["a,b;c", "a,b;c"],
          ["from a file\n", "from a file"],
          ["from a file\r\n", "from a file"]
        ] as const
      ) {
        assert.strictEqual(Redacted.value((yield* credentials("id", given)).clientSecret), kept)
      }
    }))

  const line = "text without line breaks, control characters, or invisible characters at its ends"
  for (
    const [secret, expected] of [
      ["", "non-empty text"],
      ["   ", "non-empty text"],
      ["\u200b\u200d", "non-empty text"],
      ["canary\n\n", line],
      ["can\nary", line],
      ["can\rary", line],
      ["canary\0", line],
      ["a\tb", line],
      ["\u0085canary", line],
      ["canary\u2028", line],
      ["canary\ud800", line]
    ] as const
  ) {
    it.effect(`the error for the secret ${JSON.stringify(secret)} names the variable and what was expected, and no value`, () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(credentials("id", secret))
        const printed = `${error} ${JSON.stringify(error)}`
        assert.include(printed, "CREDIT_DATA_CLIENT_SECRET")
        assert.include(String(error), `Expected ${expected}`)
        assert.notInclude(printed, "canary")
      }))
  }

  it.effect("the error names both variables when both are wrong", () =>
    Effect.gen(function*() {
      const both = String(yield* Effect.flip(credentials(" ", "")))
      assert.include(both, "CREDIT_DATA_CLIENT_ID")
      assert.include(both, "CREDIT_DATA_CLIENT_SECRET")
    }))

  it.effect("a client id with blanks at its ends is refused, and one with quotes is accepted", () =>
    Effect.gen(function*() {
      for (const id of [" id", "id ", "id\u00a0"]) {
        const error = String(yield* Effect.flip(credentials(id, "s")))
        assert.include(error, "CREDIT_DATA_CLIENT_ID: \"Expected text without leading or trailing spaces\"")
        const validated = validation.all({
          given: validation.credentials({ clientId: id, clientSecret: Redacted.make("s") })
        })
        assert.include(String(yield* Effect.flip(validated)), "credentials.clientId")
      }
      assert.strictEqual((yield* credentials("\"id\"", "s")).clientId, "\"id\"")
    }))

  it.effect("quotes around a value that cannot have any are named, as a file for `docker run --env-file` leaves them", () =>
    Effect.gen(function*() {
      const fields = { scopes: AccessScope.config, baseUrl: Environment.config.baseUrl }
      const hint = "without the quotes around it"
      const error = String(
        yield* Effect.flip(readAll(fields, {
          CREDIT_DATA_SCOPES: "'data-access:all furnishment:all'",
          CREDIT_DATA_BASE_URL: "\"https://canary.example\""
        }))
      )
      assert.strictEqual(error.split(hint).length, 3, error)
      assert.notInclude(error, "canary")
      const unquoted = yield* Effect.flip(readAll(fields, {
        CREDIT_DATA_SCOPES: "canary",
        CREDIT_DATA_BASE_URL: "canary"
      }))
      assert.notInclude(String(unquoted), hint)
    }))

  it.effect("invisible characters at the ends of id, secret or audience are refused, and named", () =>
    Effect.gen(function*() {
      const invisible = ["\ufeff", "\u200b", "\u00ad", "\u2060", "\u200e", "\ufe0f", "\u3164"]
      const fields = { ...ClientCredentials.config, audience: Environment.config.audience }
      for (const mark of invisible) {
        for (const value of [`${mark}canary`, `canary${mark}`]) {
          const error = String(
            yield* Effect.flip(readAll(fields, {
              CREDIT_DATA_CLIENT_ID: value,
              CREDIT_DATA_CLIENT_SECRET: value,
              CREDIT_DATA_AUDIENCE: value
            }))
          )
          assert.strictEqual(error.split(line).length, 4, error)
          assert.notInclude(error, "canary")
        }
      }
      assert.strictEqual((yield* credentials("i\u200bd", "s")).clientId, "i\u200bd", "within a value they may be meant")
    }))

  it.effect("credentials given as a value are checked by the same rules", () =>
    Effect.gen(function*() {
      const validated = validation.all({
        given: validation.credentials({ clientId: "", clientSecret: Redacted.make("canary\t") })
      })
      const printed = String(yield* Effect.flip(validated))
      assert.include(printed, "credentials.clientId")
      assert.include(printed, "credentials.clientSecret")
      assert.notInclude(printed, "canary")
      for (const nothing of [undefined, null, "canary", 42]) {
        // @ts-expect-error: a program without types may pass this
        const error = String(yield* Effect.flip(validation.all({ given: validation.credentials(nothing) })))
        assert.include(error, "credentials: \"Expected a client id and secret\"")
      }
      // @ts-expect-error: a program without types may pass this
      const untyped = validation.all({ given: validation.credentials({ clientId: undefined, clientSecret: "canary" }) })
      assert.match(
        String(yield* Effect.flip(untyped)),
        /clientId: "Expected text".*clientSecret: "Expected a Redacted value"/
      )
    }))
})

describe("Environment", () => {
  it.effect("Environment.config reads three variables and removes the slash from the end of the URL", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(
        yield* read(Config.all(Environment.config), {
          CREDIT_DATA_ENVIRONMENT: "sandbox",
          CREDIT_DATA_AUDIENCE: "https://api.example/",
          CREDIT_DATA_BASE_URL: "https://api.example/v1/"
        }),
        {
          environment: "sandbox",
          audience: "https://api.example/",
          baseUrl: "https://api.example/v1"
        }
      )
    }))

  it.effect("the check of an environment does not check the address of an authorization server", () =>
    Effect.gen(function*() {
      const environment = { name: "sandbox", audience: "a", baseUrl: "https://api.example" }
      assert.deepStrictEqual(yield* validation.all(validation.environment(environment)), environment)
      const withServer = { ...environment, authV9Url: "ftp://canary.example" }
      assert.deepStrictEqual(yield* validation.all(validation.environment(withServer)), environment)
    }))

  describe("the address of a server", () => {
    const address = () =>
      serverAddress("AUTH_URL", {
        description: "the address of V9",
        example: "https://v9.example",
        path: "/token"
      })
    const failure = (url: Config.Config<string>, variables: Record<string, string>) =>
      Effect.map(Effect.flip(readAll({ url }, variables)), String)

    it.effect("the address of a server is read, without the slash at its end", () =>
      Effect.gen(function*() {
        assert.strictEqual(yield* read(address(), { AUTH_URL: "https://v9.example/" }), "https://v9.example")
        assert.strictEqual(
          yield* read(serverAddress("AUTH_URL", { description: "the address of a server" }), {
            AUTH_URL: "http://[::1]:1/a/"
          }),
          "http://[::1]:1/a"
        )
      }))

    it.effect("the error for a missing address names the variable and describes it", () =>
      Effect.gen(function*() {
        const error = yield* failure(address(), {})
        assert.include(error, "AUTH_URL")
        assert.include(error, "the address of V9, without /token, for example https://v9.example")
        assert.include(
          yield* failure(serverAddress("AUTH_URL", { description: "the address of a server" }), {}),
          "AUTH_URL is missing: the address of a server\n"
        )
      }))

    it.effect("the whole address of an endpoint and an insecure address are refused, without being shown", () =>
      Effect.gen(function*() {
        for (
          const [value, expected] of [
            ["https://canary.example/token", "Expected the address without /token"],
            ["http://canary.example", "Expected https"],
            ["canary", "Expected an absolute URL"]
          ] as const
        ) {
          const error = yield* failure(address(), { AUTH_URL: value })
          assert.include(error, "AUTH_URL")
          assert.include(error, expected)
          assert.notInclude(error, "canary")
        }
        assert.strictEqual(
          yield* read(serverAddress("AUTH_URL", { description: "the address of a server" }), {
            AUTH_URL: "https://v9.example/token"
          }),
          "https://v9.example/token"
        )
      }))
  })
})

describe("AccessScope", () => {
  it.effect("scopes that a provider returns as something else than text are refused with the name of the variable", () =>
    Effect.gen(function*() {
      for (const value of [["data-access:all"], null, 5]) {
        const provider = ConfigProvider.fromMap(
          new Map(Object.entries(JSON.parse(JSON.stringify({ CREDIT_DATA_SCOPES: value }))))
        )
        const read = AccessScope.config.pipe(Effect.withConfigProvider(provider))
        const error = String(yield* Effect.flip(read))
        assert.include(error, "CREDIT_DATA_SCOPES")
        assert.notInclude(error, "not a function")
      }
    }))

  it.effect("scopes are read as a set, in the order of the contract", () =>
    Effect.gen(function*() {
      const scopes = (text: string) => read(AccessScope.config, { CREDIT_DATA_SCOPES: text })
      assert.deepStrictEqual(yield* scopes("serviceplus:all  data-access:all serviceplus:all"), [
        "data-access:all",
        "serviceplus:all"
      ])
      assert.deepStrictEqual(yield* scopes("  data-access:all \t\n furnishment:all  "), [
        "data-access:all",
        "furnishment:all"
      ])
      for (const text of ["", "  ", "canary", "data-access:all,furnishment:all", "data-access:all canary"]) {
        const error = String(yield* Effect.flip(scopes(text)))
        assert.include(error, "CREDIT_DATA_SCOPES")
        assert.include(error, `Expected one or more of ${AccessScope.all.join(", ")}, separated by spaces`)
        assert.notInclude(error, "canary")
      }
    }))

  it("a list of scopes is checked by the same rules", () => {
    assert.deepStrictEqual(Either.getOrThrow(validation.scopes(["furnishment:all", "data-access:all"])), [
      "data-access:all",
      "furnishment:all"
    ])
    assert.isTrue(Either.isLeft(validation.scopes([])))
  })
})
