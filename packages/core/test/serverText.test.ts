import { Replaces } from "@credit-data/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { granted, json } from "./support/fakeTransport.ts"
import { make } from "./support/tokenEndpoint.ts"

const withheld = "(withheld: it repeats a secret or a token)"

describe("text from the server", () => {
  const describedAs = (error_description: string, clientSecret = "the-secret") =>
    Effect.gen(function*() {
      const endpoint = yield* make(
        { credentials: { clientId: "the-client", clientSecret: Redacted.make(clientSecret) } },
        json({ error: "invalid_client", error_description }, { status: 401 })
      )
      const failure = yield* Effect.flip(endpoint.requestToken(Replaces.Nothing()))
      return failure._tag === "InvalidClient" ? failure.description ?? "" : ""
    })

  it.effect("an error description is cut to 200 printable characters", () =>
    Effect.gen(function*() {
      const long = yield* describedAs("\u001b[31mred\u001b[0m \u202e\n\tand " + "long ".repeat(100_000))
      assert.strictEqual(long.length, 200)
      assert.isTrue(long.startsWith("[31mred[0m and long long"), long)
      assert.isTrue(long.endsWith("…"))
      assert.strictEqual((yield* describedAs("𝒳".repeat(300))).endsWith("𝒳…"), true)
    }))

  it.effect("an error description of 200 characters is kept, and a longer one is cut", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* describedAs("x".repeat(200)), "x".repeat(200))
      assert.strictEqual(yield* describedAs("x".repeat(201)), `${"x".repeat(199)}…`)
      assert.strictEqual(yield* describedAs("  a\t\n b\u0007c  "), "a bc")
    }))

  it.effect("an error description that shows a token of the same body is withheld", () =>
    Effect.gen(function*() {
      const tokens = { access_token: "an-access-token", refresh_token: "a-refresh-token", id_token: "an-id-token" }
      for (const echo of Object.values(tokens)) {
        const endpoint = yield* make({}, json({ ...tokens, error: "x", error_description: `It was ${echo}.` }))
        const failure = yield* Effect.flip(endpoint.requestToken(Replaces.Nothing()))
        assert.deepInclude({ ...failure }, { _tag: "ServerError", description: withheld })
      }
    }))

  it.effect("an answer with the secret in its scope, encoded or not, is refused", () =>
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
        const outcome = yield* Effect.either(endpoint.requestToken(Replaces.Nothing()))
        assert.strictEqual(outcome._tag, echo === secret.replaceAll("\"", "") ? "Right" : "Left", echo)
      }
      const endpoint = yield* make({}, json({ ...granted, refresh_token: "refresh-token", scope: "refresh-token" }))
      assert.deepInclude({ ...(yield* Effect.flip(endpoint.requestToken(Replaces.Nothing()))) }, { rule: "Scope" })
    }))

  const percent = (text: string) =>
    Array.from(new TextEncoder().encode(text), (byte) => `%${byte.toString(16).padStart(2, "0")}`).join("")
  const json0 = (text: string) => JSON.stringify(text).slice(1, -1)
  const base64 = (text: string) => Buffer.from(text).toString("base64")
  // the encodings of other languages and of proxies
  const encodings: Record<string, (secret: string) => string> = {
    "as it is": (secret) => secret,
    "in capitals": (secret) => secret.toUpperCase(),
    "percent-encoded by JavaScript": encodeURIComponent,
    "percent-encoded by Python and PHP": (secret) =>
      encodeURIComponent(secret).replace(/[!*'()]/g, (sign) => percent(sign)),
    "percent-encoded with every character": percent,
    "percent-encoded twice": (secret) => encodeURIComponent(encodeURIComponent(secret)),
    "percent-encoded three times": (secret) => encodeURIComponent(encodeURIComponent(encodeURIComponent(secret))),
    "as a form": (secret) => new URLSearchParams({ s: secret }).toString(),
    "in JSON": json0,
    "in JSON by PHP": (secret) => json0(secret).replaceAll("/", "\\/"),
    "in JSON by .NET and Go": (secret) =>
      json0(secret).replace(
        /[&+<>']/g,
        (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0").toUpperCase()}`
      ),
    "in JSON twice": (secret) => json0(json0(secret)),
    "in HTML": (secret) =>
      secret.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll("\"", "&quot;").replaceAll("'", "&#39;"),
    "in numeric HTML entities": (secret) => Array.from(secret, (sign) => `&#${sign.codePointAt(0)};`).join(""),
    "in hexadecimal HTML entities": (secret) =>
      Array.from(secret, (sign) => `&#x${sign.codePointAt(0)?.toString(16)};`).join(""),
    "in hex": (secret) => Buffer.from(secret).toString("hex"),
    "in base64": base64,
    "in base64 with more in front": (secret) => base64(`x${secret}`),
    "in base64 with more behind": (secret) => `${base64(`${secret}${"x".repeat(3 - (secret.length % 3))}`)}y`,
    "in base64url": (secret) => Buffer.from(secret).toString("base64url"),
    "as Basic credentials": (secret) => base64(`the-client:${secret}`),
    "as Basic credentials, form-encoded first": (secret) => base64(`the-client:${encodeURIComponent(secret)}`),
    "as the whole form in base64": (secret) =>
      base64(new URLSearchParams({ client_id: "the-client", client_secret: secret }).toString()),
    "with invisible characters in between": (secret) => secret.split("").join("\u200b"),
    "cut to twelve characters": (secret) => secret.slice(3, 15)
  }
  const secrets = [
    "s+e&c=r%e\"t ü/<x>'!*()\\",
    "MjAyNi0xMS0yMSBub3QgYSBzZWNyZXQ",
    "%41%42&amp;\\u0041\\n-literally",
    "~~~???>>>~~~???>>>"
  ]
  for (const [name, encode] of Object.entries(encodings)) {
    it.effect(`an error description is withheld when it shows the secret ${name}`, () =>
      Effect.gen(function*() {
        for (const secret of secrets) {
          const echo = encode(secret)
          assert.strictEqual(yield* describedAs(`You sent ${echo.slice(0, 180)}.`, secret), withheld, echo)
        }
      }))
  }

  it.effect("an error description that shares fewer than twelve characters with the secret is kept", () =>
    Effect.gen(function*() {
      const secret = "correct-horse-battery-staple"
      assert.strictEqual(yield* describedAs("The word is correct-hor.", secret), "The word is correct-hor.")
      assert.strictEqual(yield* describedAs("The word is correct-hors.", secret), withheld)
      assert.strictEqual(yield* describedAs("It ends with ttery-stapl.", secret), "It ends with ttery-stapl.")
      assert.strictEqual(yield* describedAs("It ends with ttery-staple.", secret), withheld)
    }))

  it.effect("an error description is withheld when it shows a shorter secret, or one with other blanks", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* describedAs("You sent hunter2.", "hunter2"), withheld)
      assert.strictEqual(yield* describedAs("You sent hunter3.", "hunter2"), "You sent hunter3.")
      for (const odd of ["top  secret", "se\u00a0cret", "se\u00adcret"]) {
        assert.strictEqual(yield* describedAs(`bad word: ${odd}`, odd), withheld)
      }
    }))

  it.effect("an error description is searched for secrets after it is cut", () =>
    Effect.gen(function*() {
      const secret = "correct-horse-battery-staple"
      const text = yield* describedAs(`${"x".repeat(195)}${secret}`, secret)
      assert.strictEqual(text, `${"x".repeat(195)}corr…`)
      assert.strictEqual(yield* describedAs(`${"x".repeat(180)}${secret}`, secret), withheld)
    }))

  it.effect("an error description with malformed escapes is kept unchanged", () =>
    Effect.gen(function*() {
      for (
        const odd of [
          "%",
          "%zz",
          "\\",
          "\\u12",
          "&#xffffffff;",
          "&#9999999;",
          "&nosuch;",
          "%25".repeat(60),
          "=".repeat(50)
        ]
      ) {
        assert.strictEqual(yield* describedAs(`odd: ${odd}`, "correct-horse-battery-staple"), `odd: ${odd}`)
      }
    }))

  it.effect("an answer of any size is read, with the longest token that is accepted", () =>
    Effect.gen(function*() {
      const longest = "aB3-".repeat(16 * 1024)
      const token = yield* make(
        {},
        json({ ...granted, access_token: longest, id_token: "x".repeat(700_000), scope: "read:consumers a:b" })
      )
      assert.strictEqual(Redacted.value((yield* token.requestToken(Replaces.Nothing())).secret), longest)
      const refused = yield* make(
        {},
        json({ error: "invalid_client", error_description: "No.", id_token: "y".repeat(700_000) }, { status: 401 })
      )
      assert.deepInclude({ ...(yield* Effect.flip(refused.requestToken(Replaces.Nothing()))) }, {
        _tag: "InvalidClient",
        description: "No."
      })
      const failed = yield* make(
        {},
        json({ error: "e", error_description: "z".repeat(800_000), access_token: "t".repeat(4_000) }, { status: 400 })
      )
      assert.deepInclude({ ...(yield* Effect.flip(failed.requestToken(Replaces.Nothing()))) }, {
        _tag: "ServerError",
        error: "e"
      })
    }))
})
