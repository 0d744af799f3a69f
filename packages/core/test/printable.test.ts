import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { inspect } from "node:util"
import { printable, printableScopes, withoutSecrets } from "../src/internal/printable.ts"
import { json } from "./support/fakeTransport.ts"
import { make } from "./support/tokenEndpoint.ts"

const secret = "Gh7+/k%? &=ü\"Zq_secret-of-this-client"

const failureOf = (body: object) =>
  Effect.gen(function*() {
    const endpoint = yield* make(
      { credentials: { clientId: "the-client", clientSecret: Redacted.make(secret) } },
      json(body, { status: 401 })
    )
    const failure = yield* Effect.flip(endpoint.requestToken({ _tag: "Nothing" }))
    return failure._tag === "InvalidClient" ? failure : yield* Effect.die(failure)
  })

/** Error descriptions from the public documentation of authorization servers. */
const descriptions: ReadonlyArray<readonly [server: string, text: string]> = [
  ["Auth0", "Unauthorized"],
  [
    "Auth0",
    "Client is not authorized to access \"https://api.example/v1\". You need to create a \"client-grant\" associated to this API."
  ],
  ["Auth0", "Service not enabled within domain: https://api.example"],
  [
    "Entra ID",
    "AADSTS7000215: Invalid client secret provided. Ensure the secret being sent in the request is the client secret value, not the client secret ID, for a secret added to app '5f1a2b3c-0000-4444-8888-9abcdef01234'."
  ],
  [
    "Entra ID",
    "AADSTS700016: Application with identifier '5f1a2b3c-0000-4444-8888-9abcdef01234' was not found in the directory 'Contoso'."
  ],
  [
    "Entra ID",
    "AADSTS7000222: The provided client secret keys for app '5f1a2b3c-0000-4444-8888-9abcdef01234' are expired."
  ],
  [
    "Entra ID",
    "AADSTS70011: The provided request must include a 'scope' input parameter. The provided value for the input parameter 'scope' is not valid."
  ],
  ["Okta", "The client secret supplied for a confidential client is invalid."],
  ["Okta", "One or more scopes are not configured for the authorization server resource."],
  ["Okta", "Invalid value for 'client_id' parameter."],
  [
    "Okta",
    "The client is not authorized to use the provided grant type. Configured grant types: [authorization_code]."
  ],
  ["Keycloak", "Invalid client or Invalid client credentials"],
  ["Keycloak", "Client secret not provided in request"],
  ["Keycloak", "Client not enabled to retrieve service account"],
  ["Keycloak", "Invalid scopes: data-access:everything"],
  ["Keycloak", "Missing form parameter: grant_type"],
  ["Google", "The OAuth client was not found."],
  ["Google", "Invalid JWT Signature."],
  [
    "Google",
    "Client is unauthorized to retrieve access tokens using this method, or client not authorized for any of the scopes requested."
  ],
  [
    "Hydra",
    "Client authentication failed (e.g., unknown client, no client authentication included, or unsupported authentication method)."
  ],
  [
    "Hydra",
    "The requested scope is invalid, unknown, or malformed. The OAuth 2.0 Client is not allowed to request scope 'everything'."
  ],
  ["Hydra", "Requested audience 'https://api.example' has not been whitelisted by the OAuth 2.0 Client."],
  [
    "GitLab",
    "Client authentication failed due to unknown client, no client authentication included, or unsupported authentication method."
  ],
  [
    "GitLab",
    "The provided authorization grant is invalid, expired, revoked, does not match the redirection URI used in the authorization request, or was issued to another client."
  ],
  ["PingFederate", "Invalid client or client credentials."],
  ["Salesforce", "no client credentials user enabled"],
  ["PayPal", "Client Authentication failed"],
  ["Spotify", "Invalid client secret"],
  ["LinkedIn", "This application is not allowed to create application tokens"],
  ["Spring", "OAuth 2.0 Parameter: grant_type"],
  ["WSO2", "A valid OAuth client could not be found for client_id: 5f1a2b3c"],
  [
    "WebSphere",
    "CWOAU0038E: The client could not be verified. Either the client ID: 5f1a2b3c or client secret is incorrect."
  ],
  ["Zoom", "Invalid client_id or client_secret"],
  ["FedEx", "The given client credentials were not valid. Please modify your request and try again."],
  ["HubSpot", "missing or unknown client id"],
  ["UAA", "No client with requested id: the-client-of-mine"],
  ["UAA", "Bad credentials"],
  [
    "Hydra",
    "The requested audience claim is invalid. Requested audience \"https://api.example\" has not been whitelisted by the OAuth 2.0 Client."
  ],
  ["Hydra", "The OAuth 2.0 Client is not allowed to request scope \"everything\"."],
  [
    "Entra ID",
    "AADSTS500011: The resource principal named https://api.example was not found in the tenant named Contoso. Trace ID: 0f1e2d3c-1111 Correlation ID: 9a8b7c6d-2222 Timestamp: 2026-01-31 12:00:00Z"
  ],
  ["Keycloak", "Invalid client or Invalid client credentials"],
  ["Apigee", "Client identifier is required"],
  ["Apigee", "ClientId is Invalid"],
  ["Spring", "OAuth 2.0 Parameter: scope. See https://datatracker.ietf.org/doc/html/rfc6749#section-5.2"],
  ["NestJS", "Unauthorized: client 'partner-42' is unknown (request 7f3a)"],
  [
    "Auth0",
    "Grant type 'client_credentials' not allowed for the client. (https://auth0.com/docs/clients/client-grant-types)"
  ]
]

describe("what an authorization server writes", () => {
  for (const [server, text] of descriptions) {
    it.effect(`is shown as ${server} wrote it: ${text.slice(0, 60)}`, () =>
      Effect.gen(function*() {
        const failure = yield* failureOf({ error: "invalid_client", error_description: text })
        assert.strictEqual(failure.description, text)
        assert.include(failure.message, text)
      }))
  }

  it.effect("never shows a secret of the request, whether plain, URL-encoded, in Base64 or in a form", () =>
    Effect.gen(function*() {
      const token = "an.access-token_of~this+response/1234567890"
      const basic = (text: string) => Buffer.from(text).toString("base64")
      const forms = (value: string) => [
        value,
        encodeURIComponent(value),
        encodeURIComponent(value).replace(/%[\dA-F]{2}/g, (code) => code.toLowerCase()),
        new URLSearchParams({ client_secret: value }).toString(),
        basic(value),
        basic(`the-client:${value}`),
        basic(`x${value}y`),
        Buffer.from(`ab${value}`).toString("base64url"),
        encodeURIComponent(basic(value))
      ]
      for (const value of [secret, token]) {
        for (const form of forms(value)) {
          const failure = yield* failureOf({
            error: `invalid ${form}`,
            error_description: `before ${form} after`,
            access_token: token
          })
          const printed = [
            failure.message,
            JSON.stringify(failure),
            inspect(failure),
            failure.error,
            failure.description
          ]
            .join("\n")
          for (const each of [value, encodeURIComponent(value), basic(value).slice(4, -6)]) {
            assert.notInclude(printed, each)
          }
          assert.include(failure.description, "before ")
          assert.include(failure.description, "<redacted>")
          assert.include(failure.description, " after")
        }
      }
    }))

  it.effect("never shows a token of the same response", () =>
    Effect.gen(function*() {
      for (const name of ["access_token", "refresh_token", "id_token"]) {
        const failure = yield* failureOf({
          error: "invalid_client",
          error_description: "of Zq7-token.",
          [name]: "Zq7-token"
        })
        assert.strictEqual(failure.description, "of <redacted>.", name)
      }
    }))

  /** How languages encode a value in a form or a URL: the characters that remain, and what a space becomes. */
  const encoders: ReadonlyArray<readonly [language: string, kept: RegExp, space: string, lower?: boolean]> = [
    ["Java and the browser's forms", /[\w*.-]/, "+"],
    ["JavaScript, encodeURIComponent", /[\w.!~*'()-]/, "%20"],
    ["Go and Python, quote_plus", /[\w.~-]/, "+"],
    ["PHP, rawurlencode, and C#, EscapeDataString", /[\w.~-]/, "%20"],
    ["PHP, urlencode", /[\w.-]/, "+"],
    ["Ruby, CGI.escape", /[\w*.~-]/, "+"],
    ["C#, HttpUtility.UrlEncode", /[\w!()*.-]/, "+", true],
    ["an encoder of everything but letters and digits", /[a-z\d]/i, "%20"]
  ]
  const punctuation = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index))
    .filter((character) => /[^a-z\d]/i.test(character))

  for (const [language, kept, space, lower] of encoders) {
    it(`never shows a secret as it is encoded by ${language}`, () => {
      const encode = (text: string) =>
        Array.from(text, (character) => {
          if (character === " ") return space
          if (kept.test(character)) return character
          const hex = [...Buffer.from(character)].map((byte) => `%${byte.toString(16)}`).join("")
          return lower === true ? hex : hex.toUpperCase()
        }).join("")
      const secrets = [
        ...punctuation.map((character) => `Zq7${character}vKx${character}${character}9`),
        punctuation.map((character, index) => `${character}${index}`).join(""),
        "Zq7üvKx€9😀"
      ]
      for (const value of secrets) {
        const redacted = "before <redacted> after"
        assert.strictEqual(withoutSecrets(`before ${encode(value)} after`, [value]), redacted, value)
        assert.strictEqual(withoutSecrets(`before ${value} after`, [value]), redacted, value)
      }
    })
  }

  it("never shows a token as long as tokens can be, however it is encoded", () => {
    const token = "Zq7*v~K.x)".repeat(6_553)
    for (const form of [token, encodeURIComponent(token), token.replaceAll("*", "%2A").replaceAll(")", "%29")]) {
      const text = `a ${form} b`
      assert.strictEqual(withoutSecrets(text, [token], text.length), "a <redacted> b")
      assert.strictEqual(withoutSecrets(text, [token]), "a <redacted>")
    }
  })

  it("never shows the form of a token request in Base64", () => {
    const value = `Zq7*v~K(x)' 9!${punctuation.join("4")}ü😀`
    const form = btoa(new URLSearchParams({ client_id: "the-client", client_secret: value }).toString())
    const shown = withoutSecrets(`received ${form}`, [value])
    const before = btoa("client_id=the-client&client_secret=")
    assert.match(shown, /^received \S{0,4}/)
    assert.include(shown, "<redacted>")
    assert.isAtMost(shown.length, `received ${before}<redacted>`.length + 4)
  })

  it.effect("is an InvalidClient, even if a token in it is half a character or longer than any token", () =>
    Effect.gen(function*() {
      for (const id_token of ["\ud800".repeat(5), "x".repeat(64 * 1024 + 1)]) {
        const failure = yield* failureOf({ error: "invalid_client", error_description: "no", id_token })
        assert.strictEqual(failure.description, "no")
      }
    }))

  it.effect("is printed on one line, without control and bidirectional characters, and with at most 300 characters", () =>
    Effect.gen(function*() {
      const text = "\u001b[31mred\u001b[0m\r\n\tright\u202eleft\u2028\ud800 " + "long ".repeat(100_000)
      const failure = yield* failureOf({ error: "invalid_client", error_description: text })
      assert.strictEqual(failure.description, text.slice(0, 1_000), "the data is as it came")
      for (const printed of [failure.message, JSON.stringify(failure)]) {
        assert.notMatch(printed, /[\p{Cc}\p{Cf}\p{Zl}\p{Cs}]/u)
        assert.isAtMost(printed.length, 1_500)
      }
      assert.include(failure.message, "\\u{1b}[31mred\\u{1b}[0m\\r\\n\\tright\\u{202e}left\\u{2028}\\u{d800} long")
    }))

  it("is cut at 300 characters", () => {
    assert.strictEqual(printable("x".repeat(300)), "x".repeat(300))
    assert.strictEqual(printable("x".repeat(301)), `${"x".repeat(299)}…`)
    assert.strictEqual(printable("\n".repeat(300)).length, 300)
  })

  it("loses nothing but the secret, however short the secret is", () => {
    assert.strictEqual(withoutSecrets("a bad case", ["zz", ""]), "a bad case")
    assert.strictEqual(withoutSecrets("abc zz abc", ["zz"]), "abc <redacted> abc")
    assert.strictEqual(withoutSecrets("abcabc ab", ["ab", "abc"]), "<redacted><redacted> <redacted>")
    assert.strictEqual(
      withoutSecrets("%20 %zz %e2%82%ac+%C3 a%2eb%2Ec %", ["a.b.c"]),
      "%20 %zz %e2%82%ac+%C3 <redacted> %"
    )
    assert.strictEqual(withoutSecrets("%25%61b%2D%2d%62", ["ab-", "-b"]), "%25<redacted><redacted>")
  })
})

describe("scopes in a text", () => {
  it("are at most ten, each with at most 300 characters", () => {
    assert.strictEqual(printableScopes(["a", "b:c"]), "a, b:c")
    assert.strictEqual(
      printableScopes(Array.from({ length: 12 }, (_, index) => `s${index}`)).slice(-13),
      "s9 and 2 more"
    )
    assert.isAtMost(printableScopes(Array.from({ length: 5_000 }, () => "x".repeat(1_000))).length, 3_100)
  })
})
