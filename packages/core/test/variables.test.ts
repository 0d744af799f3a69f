import { AccessScope, ClientCredentials, Environment, Variables } from "@credit-data/core"
import { assert, describe, it } from "@effect/vitest"
import { Config, ConfigProvider, Effect, Redacted } from "effect"
import { serverAddress } from "../src/internal/serverAddress.ts"

const fields = { ...Environment.config, ...ClientCredentials.config, scopes: AccessScope.config }

const read = <Fields extends Record<string, Config.Config<unknown>>>(
  fields: Fields,
  variables: Record<string, string>
) => Variables.read(fields).pipe(Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(variables)))))

const complete = {
  CREDIT_DATA_ENVIRONMENT: "sandbox",
  CREDIT_DATA_AUDIENCE: "an audience",
  CREDIT_DATA_BASE_URL: "https://api.example",
  CREDIT_DATA_CLIENT_ID: "id",
  CREDIT_DATA_CLIENT_SECRET: "secret",
  CREDIT_DATA_SCOPES: "data-access:all"
}

describe("Variables.read", () => {
  it.effect("Variables.read returns a value for each variable", () =>
    Effect.gen(function*() {
      const { clientSecret, ...others } = yield* read(fields, complete)
      assert.strictEqual(Redacted.value(clientSecret), "secret")
      assert.deepStrictEqual(others, {
        environment: "sandbox",
        audience: "an audience",
        baseUrl: "https://api.example",
        clientId: "id",
        scopes: ["data-access:all"]
      })
    }))

  it.effect("Variables.read fails with one error that has a line for each variable, and shows no value", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(read(fields, {
        CREDIT_DATA_ENVIRONMENT: "sandbox",
        CREDIT_DATA_BASE_URL: "http://canary.example",
        CREDIT_DATA_CLIENT_ID: " canary"
      }))
      const expected = [
        "The configuration is incomplete or wrong.",
        "- CREDIT_DATA_AUDIENCE is missing: the audience identifier of the environment, for example " +
        "https://api.sandbox.example",
        "- CREDIT_DATA_BASE_URL: Expected https (http only for localhost, 127.0.0.0/8 and [::1])",
        "- CREDIT_DATA_CLIENT_ID: Expected text without leading or trailing spaces",
        "- CREDIT_DATA_CLIENT_SECRET is missing: the client secret that the operator issued",
        "- CREDIT_DATA_SCOPES is missing: the scopes to request, separated by spaces, for example " +
        AccessScope.all.join(" "),
        "The operator of the service issues the addresses and the credentials. Every variable: https://github.com/credit-data/credit-data/blob/main/docs/configuration.md"
      ].join("\n")
      assert.strictEqual(String(error), expected)
      assert.strictEqual(error.message, expected)
      assert.strictEqual(error._tag, "ConfigError")
    }))

  it.effect("Variables.read names the operator only if a variable that the operator issues is missing or wrong", () =>
    Effect.gen(function*() {
      const own = { key: Variables.redacted("CREDIT_DATA_REDIS_URL", { description: "the Redis address" }) }
      assert.notInclude(String(yield* Effect.flip(read(own, {}))), "operator")
      const { CREDIT_DATA_BASE_URL: _, ...others } = complete
      assert.include(String(yield* Effect.flip(read({ ...own, ...fields }, others))), "operator of the service issues")
      const nested = { id: Config.nested(ClientCredentials.config.clientId, "PARTNER") }
      assert.include(String(yield* Effect.flip(read(nested, {}))), "operator of the service issues")
    }))

  it.effect("Variables.read prints the name that a nested provider gives to a variable", () =>
    Effect.gen(function*() {
      const nested = ConfigProvider.nested(ConfigProvider.fromMap(new Map()), "PARTNER")
      const error = yield* Variables.read(fields).pipe(Effect.withConfigProvider(nested), Effect.flip)
      assert.include(String(error), "- PARTNER_CREDIT_DATA_CLIENT_ID is missing: ")
    }))

  it.effect("Variables.read reports what is wrong with a variable that only the second of two providers has", () =>
    Effect.gen(function*() {
      const wrong = ConfigProvider.fromMap(new Map([["CREDIT_DATA_BASE_URL", "http://canary"]]))
      const both = ConfigProvider.orElse(ConfigProvider.fromMap(new Map()), () => wrong)
      const error = String(yield* Variables.read(fields).pipe(Effect.withConfigProvider(both), Effect.flip))
      assert.include(error, "- CREDIT_DATA_BASE_URL: Expected https")
      assert.include(error, "- CREDIT_DATA_CLIENT_ID is missing: the client id that the operator issued")
      assert.notInclude(error, "canary")
    }))

  it.effect("a secret variable is redacted, and its error shows what was expected and no value", () =>
    Effect.gen(function*() {
      const key = (value: string | undefined) =>
        read({
          key: Variables.redacted("MY_KEY", {
            description: "the key",
            example: "0123",
            problem: (text) => text.length < 8 ? "Expected at least 8 characters" : undefined
          })
        }, value === undefined ? {} : { MY_KEY: value })
      const { key: found } = yield* key("a-long-canary")
      assert.strictEqual(Redacted.value(found), "a-long-canary")
      assert.notInclude(String(found), "canary")
      const lineOf = (value?: string) => Effect.map(Effect.flip(key(value)), (error) => String(error).split("\n")[1])
      assert.strictEqual(yield* lineOf("canary"), "- MY_KEY: Expected at least 8 characters")
      assert.strictEqual(yield* lineOf(" "), "- MY_KEY: Expected non-empty text")
      assert.strictEqual(yield* lineOf(), "- MY_KEY is missing: the key, for example 0123")
      const { any } = yield* read({ any: Variables.redacted("MY_KEY", { description: "the key" }) }, { MY_KEY: "x" })
      assert.strictEqual(Redacted.value(any), "x")
    }))

  for (
    const [variable, value] of [
      ["CREDIT_DATA_SCOPES", "canary"],
      ["CREDIT_DATA_AUDIENCE", "canary\u00a0"]
    ] as const
  ) {
    it.effect(`Variables.read reports only the variable that is wrong: ${variable}`, () =>
      Effect.gen(function*() {
        const error = String(yield* Effect.flip(read(fields, { ...complete, [variable]: value })))
        const reported = error.split("\n").slice(1, -1)
        assert.strictEqual(reported.length, 1)
        assert.match(reported[0] ?? "", new RegExp(`^- ${variable}: Expected `))
      }))
  }

  it.effect("a variable with a default may be missing", () =>
    Effect.gen(function*() {
      const { audience } = yield* read({ audience: Config.withDefault(fields.audience, "a default") }, {})
      assert.strictEqual(audience, "a default")
    }))

  it.effect("Variables.read reports the wrong variable of an alternative", () =>
    Effect.gen(function*() {
      const either = Config.orElse(
        serverAddress("FIRST_URL", { description: "the first" }),
        () => serverAddress("SECOND_URL", { description: "the second" })
      )
      const lines = String(yield* Effect.flip(read({ either }, { FIRST_URL: "canary" }))).split("\n")
      assert.match(lines[1] ?? "", /^- FIRST_URL: Expected /)
      const plain = Config.orElse(serverAddress("FIRST_URL", { description: "the first" }), () =>
        Config.string("SECOND_URL"))
      const others = String(yield* Effect.flip(read({ plain }, { FIRST_URL: "canary" }))).split("\n")
      assert.match(others[1] ?? "", /^- FIRST_URL: Expected /)
    }))
})

describe("the program's own Config in Variables.read", () => {
  it.effect("is reported as missing if it is missing, whatever its kind", () =>
    Effect.gen(function*() {
      const own = {
        secret: Config.redacted("PARTNER_SECRET"),
        text: Config.string("PARTNER_TEXT"),
        credentials: Config.all(ClientCredentials.config)
      }
      const lines = String(yield* Effect.flip(read(own, { CREDIT_DATA_CLIENT_ID: "id" }))).split("\n")
      assert.match(lines[1] ?? "", /^- PARTNER_SECRET is missing: /)
      assert.match(lines[2] ?? "", /^- PARTNER_TEXT is missing: /)
      assert.match(lines[3] ?? "", /^- CREDIT_DATA_CLIENT_SECRET is missing: /)
    }))

  it.effect("keeps its description in an error outside of Variables.read", () =>
    Effect.gen(function*() {
      const mode = Variables.literal("MODE", { description: "the mode of the program", values: ["on", "off"] })
      const provider = ConfigProvider.fromMap(new Map())
      assert.include(
        String(yield* Effect.flip(mode.pipe(Effect.withConfigProvider(provider)))),
        "the mode of the program"
      )
    }))
})

describe("Variables.literal", () => {
  const color = Variables.literal("COLOR", { description: "the color of the service", values: ["blue", "green"] })

  it.effect("Variables.literal returns one of the accepted values", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* read({ color }, { COLOR: "green" }), { color: "green" })
      const { optional } = yield* read({ optional: Config.withDefault(color, "blue") }, {})
      assert.strictEqual(optional, "blue")
    }))

  it.effect("Variables.literal names the accepted values, and does not show another one", () =>
    Effect.gen(function*() {
      const wrong = String(yield* Effect.flip(read({ color }, { COLOR: "a canary" })))
      assert.include(wrong, "- COLOR: Expected blue or green")
      assert.notInclude(wrong, "canary")
      assert.include(String(yield* Effect.flip(read({ color }, {}))), "- COLOR is missing: the color of the service")
    }))
})

describe("Variables.invalid", () => {
  it("Variables.invalid names the option and what was expected", () => {
    const error = Variables.invalid(["environment", "name"], "Expected text")
    assert.strictEqual(error._tag, "ConfigError")
    assert.strictEqual(String(error), "(Invalid data at environment.name: \"Expected text\")")
  })
})
