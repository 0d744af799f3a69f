import { Replaces } from "@credit-data/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import * as Transport from "../src/internal/transport.ts"
import { granted, json } from "./support/fakeTransport.ts"
import { make } from "./support/tokenEndpoint.ts"

const repeatsSecret = "(withheld: it repeats a secret or a token)"
const isNoText = "(withheld: it is not plain text)"

const failureOf = (body: object, clientSecret = "the-secret-of-this-client") =>
  Effect.gen(function*() {
    const endpoint = yield* make(
      { credentials: { clientId: "the-client", clientSecret: Redacted.make(clientSecret) } },
      json(body, { status: 401 })
    )
    const failure = yield* Effect.flip(endpoint.requestToken(Replaces.Nothing()))
    return failure._tag === "InvalidClient" ? failure : yield* Effect.die(failure)
  })

const describedAs = (error_description: string, clientSecret?: string) =>
  Effect.map(
    failureOf({ error: "invalid_client", error_description }, clientSecret),
    ({ description = "" }) => description
  )

/** Error descriptions from the public documentation of authorization servers, and what must remain of each. */
const descriptions: ReadonlyArray<readonly [server: string, text: string, useful: string]> = [
  ["Auth0", "Unauthorized", "Unauthorized"],
  [
    "Auth0",
    "Client is not authorized to access \"https://api.example/v1\". You need to create a \"client-grant\" associated to this API.",
    "Client is not authorized to access … You need to create a \"client-grant\""
  ],
  ["Auth0", "Service not enabled within domain: https://api.example", "Service not enabled within domain:"],
  [
    "Entra ID",
    "AADSTS7000215: Invalid client secret provided. Ensure the secret being sent in the request is the client secret value, not the client secret ID, for a secret added to app '5f1a2b3c-0000-4444-8888-9abcdef01234'.",
    "AADSTS7000215: Invalid client secret provided. Ensure the secret being sent in the request is the client secret value"
  ],
  [
    "Entra ID",
    "AADSTS700016: Application with identifier '5f1a2b3c-0000-4444-8888-9abcdef01234' was not found in the directory 'Contoso'.",
    "AADSTS700016: Application with identifier … was not found in the directory"
  ],
  [
    "Entra ID",
    "AADSTS7000222: The provided client secret keys for app '5f1a2b3c-0000-4444-8888-9abcdef01234' are expired.",
    "The provided client secret keys for app … are expired."
  ],
  [
    "Entra ID",
    "AADSTS70011: The provided request must include a 'scope' input parameter. The provided value for the input parameter 'scope' is not valid.",
    "The provided value for the input parameter 'scope' is not valid."
  ],
  ["Okta", "The client secret supplied for a confidential client is invalid.", "client secret supplied for a"],
  [
    "Okta",
    "One or more scopes are not configured for the authorization server resource.",
    "One or more scopes are not configured for the authorization server resource."
  ],
  ["Okta", "Invalid value for 'client_id' parameter.", "Invalid value for 'client_id' parameter."],
  [
    "Okta",
    "The client is not authorized to use the provided grant type. Configured grant types: [authorization_code].",
    "The client is not authorized to use the provided grant type."
  ],
  ["Keycloak", "Invalid client or Invalid client credentials", "Invalid client or Invalid client credentials"],
  ["Keycloak", "Client secret not provided in request", "Client secret not provided in request"],
  ["Keycloak", "Client not enabled to retrieve service account", "Client not enabled to retrieve service account"],
  ["Keycloak", "Invalid scopes: data-access:everything", "Invalid scopes:"],
  ["Keycloak", "Missing form parameter: grant_type", "Missing form parameter: grant_type"],
  ["Google", "The OAuth client was not found.", "The OAuth client was not found."],
  ["Google", "Invalid JWT Signature.", "Invalid JWT Signature."],
  [
    "Google",
    "Client is unauthorized to retrieve access tokens using this method, or client not authorized for any of the scopes requested.",
    "Client is unauthorized to retrieve access tokens using this method"
  ],
  [
    "Hydra",
    "Client authentication failed (e.g., unknown client, no client authentication included, or unsupported authentication method).",
    "Client authentication failed"
  ],
  [
    "Hydra",
    "The requested scope is invalid, unknown, or malformed. The OAuth 2.0 Client is not allowed to request scope 'everything'.",
    "Client is not allowed to request scope"
  ],
  [
    "Hydra",
    "Requested audience 'https://api.example' has not been whitelisted by the OAuth 2.0 Client.",
    "has not been whitelisted by the OAuth"
  ],
  [
    "GitLab",
    "Client authentication failed due to unknown client, no client authentication included, or unsupported authentication method.",
    "Client authentication failed due to unknown client, no client authentication included, or unsupported authentication method."
  ],
  [
    "GitLab",
    "The provided authorization grant is invalid, expired, revoked, does not match the redirection URI used in the authorization request, or was issued to another client.",
    "The provided authorization grant is invalid, expired, revoked"
  ],
  ["PingFederate", "Invalid client or client credentials.", "Invalid client or client credentials."],
  ["Salesforce", "no client credentials user enabled", "no client credentials user enabled"],
  ["PayPal", "Client Authentication failed", "Client Authentication failed"],
  ["Spotify", "Invalid client secret", "Invalid client secret"],
  [
    "LinkedIn",
    "This application is not allowed to create application tokens",
    "This application is not allowed to create application tokens"
  ],
  ["Spring", "OAuth 2.0 Parameter: grant_type", "Parameter: grant_type"],
  [
    "WSO2",
    "A valid OAuth client could not be found for client_id: 5f1a2b3c",
    "A valid OAuth client could not be found for client_id:"
  ],
  [
    "WebSphere",
    "CWOAU0038E: The client could not be verified. Either the client ID: 5f1a2b3c or client secret is incorrect.",
    "The client could not be verified. Either the client ID: … or client secret is incorrect."
  ],
  ["Zoom", "Invalid client_id or client_secret", "Invalid client_id or client_secret"],
  [
    "FedEx",
    "The given client credentials were not valid. Please modify your request and try again.",
    "The given client credentials were not valid."
  ],
  ["HubSpot", "missing or unknown client id", "missing or unknown client id"],
  ["UAA", "No client with requested id: the-client-of-mine", "No client with requested id:"],
  ["UAA", "Bad credentials", "Bad credentials"]
]

describe("what is shown of an error description", () => {
  it.effect("is enough to understand the errors of well-known authorization servers", () =>
    Effect.gen(function*() {
      const lost: Array<string> = []
      for (const [server, text, useful] of descriptions) {
        const shown = yield* describedAs(text)
        if (!shown.includes(useful)) lost.push(`${server}: ${shown}`)
        assert.notMatch(shown, /5f1a2b3c|contoso/i)
      }
      assert.isAtLeast(descriptions.length, 30)
      assert.isAtMost(lost.length, descriptions.length - 27, lost.join("\n"))
      assert.deepStrictEqual(lost, [])
    }))

  it.effect("are at most 200 characters, on one line and without control characters", () =>
    Effect.gen(function*() {
      const long = yield* describedAs("\u001b[31mThe\u001b[0m \u202e\n\tclient " + "was not found ".repeat(50_000))
      assert.isAtMost(long.length, 200)
      assert.isTrue(long.startsWith("… The … client was not found") || long.startsWith("… client was not found"), long)
      assert.isTrue(long.endsWith(" …"), long)
      assert.strictEqual(yield* describedAs("  The\t\n client\u0007 failed  "), "The client failed")
    }))

  it.effect("are known words with their ordinary endings, punctuation and joints", () =>
    Effect.gen(function*() {
      const known = [
        "token",
        "Tokens",
        "accesses",
        "cached",
        "checked",
        "checking",
        "authorizing",
        "correctly",
        "server's",
        "don't",
        "(client",
        "\"client\"",
        "client_id",
        "grant_type/scope",
        "InvalidClient",
        "AADSTS7000215",
        `${"client-".repeat(9)}a`
      ]
      const unknown = [
        "tokenx",
        "cachly",
        "bying",
        "§client",
        "(((client",
        "client1",
        "1client",
        "client-zzq",
        "AADSTS70002150",
        `${"client-".repeat(9)}an`
      ]
      for (const word of known) assert.strictEqual(yield* describedAs(`the ${word} failed`), `the ${word} failed`, word)
      for (const word of unknown) assert.strictEqual(yield* describedAs(`the ${word} failed`), "the … failed", word)
    }))

  it.effect("are shown if at least half of them are known", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* describedAs("client zzq"), "client …")
      assert.strictEqual(yield* describedAs("client zzq qzz"), isNoText)
    }))

  it.effect("are no words of which none is known", () =>
    Effect.gen(function*() {
      for (const odd of ["Grüße aus München", "{\"a\":1}", "zx81 qwerty", "....", "12 34 56", "<b>"]) {
        assert.strictEqual(yield* describedAs(odd), isNoText, odd)
      }
      assert.strictEqual((yield* failureOf({ error: "custom_thing" })).error, isNoText)
      for (const code of ["invalid_client", "access_denied", "unsupported_grant_type", "temporarily_unavailable"]) {
        assert.strictEqual((yield* failureOf({ error: code })).error, code)
      }
    }))
})

const bytesOf = (text: string) => Array.from(Buffer.from(text))
const base64 = (text: string) => Buffer.from(text).toString("base64")
const base32 = (text: string) => {
  const bits = bytesOf(text).map((byte) => byte.toString(2).padStart(8, "0")).join("")
  return (bits.match(/.{1,5}/g) ?? []).map((five) =>
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[parseInt(five.padEnd(5, "0"), 2)]
  ).join("")
}
const each = (text: string, print: (byte: number) => string, separator = "") => bytesOf(text).map(print).join(separator)
const hex = (byte: number) => byte.toString(16).padStart(2, "0")
const rotated = (text: string) =>
  text.replace(/[a-z]/gi, (letter) => {
    const base = letter <= "Z" ? 65 : 97
    return String.fromCharCode((letter.charCodeAt(0) - base + 13) % 26 + base)
  })
const reversed = (text: string) => Array.from(text).toReversed().join("")

/** The spellings that languages, printers, proxies and people use. */
const spellings: Record<string, (secret: string) => string> = {
  "as it is": (secret) => secret,
  "upper case": (secret) => secret.toUpperCase(),
  "lower case": (secret) => secret.toLowerCase(),
  "reversed": reversed,
  "rotated by 13": rotated,
  "percent, by JavaScript": encodeURIComponent,
  "percent, each byte": (secret) => each(secret, (byte) => `%${hex(byte)}`),
  "percent, twice": (secret) => encodeURIComponent(each(secret, (byte) => `%${hex(byte)}`)),
  "percent, nine times": (secret) => each(secret, (byte) => `%${"25".repeat(8)}${hex(byte)}`),
  "a form": (secret) => new URLSearchParams({ client_secret: secret }).toString(),
  "JSON": (secret) => JSON.stringify(secret),
  "JSON, twice": (secret) => JSON.stringify(JSON.stringify(secret)),
  "JSON, unicode escapes": (secret) => each(secret, (byte) => `\\u00${hex(byte)}`),
  "JavaScript, hex escapes": (secret) => each(secret, (byte) => `\\x${hex(byte)}`),
  "JavaScript, code points": (secret) => each(secret, (byte) => `\\u{${hex(byte)}}`),
  "octal escapes": (secret) => each(secret, (byte) => `\\${byte.toString(8)}`),
  "octal numbers": (secret) => each(secret, (byte) => byte.toString(8), " "),
  "HTML, decimal": (secret) => each(secret, (byte) => `&#${byte};`),
  "HTML, decimal without a semicolon": (secret) => each(secret, (byte) => `&#${byte}`),
  "HTML, hex": (secret) => each(secret, (byte) => `&#x${hex(byte)};`),
  "HTML, hex without a semicolon": (secret) => each(secret, (byte) => `&#x${hex(byte)}`),
  "hex": (secret) => each(secret, hex),
  "hex, upper case": (secret) => each(secret, hex).toUpperCase(),
  "hex with blanks": (secret) => each(secret, hex, " "),
  "hex with colons": (secret) => each(secret, hex, ":"),
  "hex with 0x": (secret) => each(secret, (byte) => `0x${hex(byte)}`, ", "),
  "a Buffer of Node": (secret) => `<Buffer ${each(secret, hex, " ")}>`,
  "a list of bytes": (secret) => `[${bytesOf(secret).join(", ")}]`,
  "a list of bytes with blanks": (secret) => bytesOf(secret).join(" "),
  "a Buffer as JSON": (secret) => JSON.stringify(Buffer.from(secret)),
  "binary": (secret) => each(secret, (byte) => byte.toString(2).padStart(8, "0"), " "),
  "base64": base64,
  "base64url": (secret) => Buffer.from(secret).toString("base64url"),
  "base64, twice": (secret) => base64(base64(secret)),
  "base64, in lines": (secret) => base64(secret).replace(/.{8}/g, "$&\n"),
  "base64 of id and secret": (secret) => base64(`the-client:${secret}`),
  "base32": base32,
  "base32, lower case": (secret) => base32(secret).toLowerCase(),
  "quoted-printable": (secret) => each(secret, (byte) => `=${hex(byte).toUpperCase()}`),
  "uuencoded": (secret) => each(secret, (byte) => String.fromCharCode(33 + byte % 64)),
  "letters with blanks": (secret) => Array.from(secret).join(" "),
  "letters with dots": (secret) => Array.from(secret).join("."),
  "letters with hyphens": (secret) => Array.from(secret).join("-"),
  "letters with invisible characters": (secret) => Array.from(secret).join("\u200b"),
  "letters in quotes": (secret) => Array.from(secret, (letter) => `'${letter}'`).join(", "),
  "letters on lines": (secret) => Array.from(secret).join("\n"),
  "groups of four": (secret) => secret.replace(/.{4}/g, "$& "),
  "spelling alphabet of numbers": (secret) => Array.from(secret, (letter) => letter.charCodeAt(0) - 96).join("-"),
  "masked at its end": (secret) => `${secret.slice(0, -4)}****`
}

describe("a secret in an error description", () => {
  const secrets = [
    "s3cr3t-Of_the.Client~2026",
    "MjAyNi0xMS0yMSBub3QgYSBzZWNyZXQ",
    "q8ZtVn2LxRw7BcYpKd4MhFgJ",
    "correcthorsebatterystaple",
    "correct horse battery staple"
  ]
  for (const [name, spell] of Object.entries(spellings)) {
    it.effect(`is not shown when it is spelled like this: ${name}`, () =>
      Effect.gen(function*() {
        for (const secret of secrets) {
          const spelled = spell(secret)
          const shown = yield* describedAs(`The client secret ${spelled} is not valid.`, secret)
          const rest = shown.replace(/^The client secret|is not valid\.$/g, "")
          assert.isTrue([repeatsSecret, isNoText].includes(shown) || /^[ …]*$/.test(rest), `${spelled}: ${shown}`)
        }
      }))
  }

  it("has been spelled in at least 44 ways", () => assert.isAtLeast(Object.keys(spellings).length, 44))

  it.effect("withholds the text if it consists of ordinary words, whatever stands between them", () =>
    Effect.gen(function*() {
      const secret = "access token required"
      for (const spelled of [secret, "Access-Token_Required", "access. Token: required", "access  token\nrequired"]) {
        assert.strictEqual(yield* describedAs(`It was ${spelled}.`, secret), repeatsSecret, spelled)
      }
      assert.strictEqual(yield* describedAs("A token is required.", secret), "A token is required.")
      assert.strictEqual(yield* describedAs("The password is wrong.", "password"), repeatsSecret, "a short secret")
      assert.strictEqual((yield* failureOf({ error: "invalid_password" }, "password")).error, repeatsSecret)
    }))

  it.effect("withholds the text if twelve letters of it are repeated", () =>
    Effect.gen(function*() {
      assert.strictEqual(
        yield* describedAs("The access token failed.", "zz-access-token-zz"),
        "The access token failed."
      )
      assert.strictEqual(yield* describedAs("The access tokens failed.", "zz-access-tokens-zz"), repeatsSecret)
    }))

  it.effect("withholds the text if a token of the same body is repeated", () =>
    Effect.gen(function*() {
      const tokens = {
        access_token: "an-access-token",
        refresh_token: "refresh the token",
        id_token: "identity of user"
      }
      for (const echo of Object.values(tokens)) {
        const { description } = yield* failureOf({
          ...tokens,
          error: "invalid_client",
          error_description: `It was ${echo}.`
        })
        assert.strictEqual(description, repeatsSecret)
      }
    }))
})

describe("the scopes of a token response", () => {
  const scopesOf = (scope: string, clientSecret = "the-secret-of-this-client") =>
    Effect.gen(function*() {
      const credentials = { clientId: "the-client", clientSecret: Redacted.make(clientSecret) }
      const endpoint = yield* make({ credentials }, json({ ...granted, scope }))
      return (yield* endpoint.requestToken(Replaces.Nothing())).scopes
    })

  it.effect("are shown as they are if they look like scopes, and withheld if not", () =>
    Effect.gen(function*() {
      const names = ["data-access:all", "read:consumers", "read:credit.auto.score.vantage3", "openid", "a/b"]
      assert.deepStrictEqual(yield* scopesOf(names.join(" ")), names)
      for (const [name, spell] of Object.entries(spellings)) {
        if (/as it is|case|hyphens|dots|masked/.test(name)) continue
        const spelled = spell("s3cr3t-Of_the.Client~2026").replaceAll(/[^\x21-\x7e]/g, "_")
        assert.deepStrictEqual(yield* scopesOf(spelled), ["(withheld)"], name)
      }
    }))

  it.effect("are outside the contract if they repeat a secret", () =>
    Effect.gen(function*() {
      const refused = (scope: string) =>
        Effect.map(Effect.flip(scopesOf(scope, "the-secret-of-this-client")), (error) => ({ ...error }))
      for (const scope of ["the-secret-of-this-client", "data-access:all the.secret.of.this.client"]) {
        assert.deepInclude(yield* refused(scope), { _tag: "InvalidResponse", rule: "Scope" })
      }
    }))
})

describe("a foreign error", () => {
  it("keeps what Node, undici and Effect say about a connection", () => {
    const texts = [
      ["connect ECONNREFUSED 10.0.0.1:443", "connect ECONNREFUSED …"],
      ["getaddrinfo ENOTFOUND db7.contoso.example", "getaddrinfo ENOTFOUND …"],
      ["socket hang up", "socket hang up"],
      ["certificate has expired", "certificate has expired"],
      ["self-signed certificate in certificate chain", "self-signed certificate in certificate chain"],
      ["unable to verify the first certificate", "unable to verify the first certificate"],
      [
        "Client network socket disconnected before secure TLS connection was established",
        "Client network socket disconnected before secure TLS connection was established"
      ],
      ["Parse Error: Expected HTTP/, RTSP/ or ICE/", "Parse Error: Expected HTTP/, … or …"],
      ["fetch failed", "fetch failed"],
      ["read ECONNRESET", "read ECONNRESET"]
    ] as const
    for (const [text, shown] of texts) assert.strictEqual(Transport.foreignError(text, []), shown)
    const error = Object.assign(new TypeError("fetch failed"), { code: "UND_ERR_SOCKET" })
    assert.deepInclude<object>({ ...Object(Transport.foreignError(error, [])) }, {
      name: "TypeError",
      code: "UND_ERR_SOCKET"
    })
    for (
      const code of ["DEPTH_ZERO_SELF_SIGNED_CERT", "ERR_TLS_CERT_ALTNAME_INVALID", "HPE_INVALID_CONSTANT", "EAI_AGAIN"]
    ) {
      assert.deepInclude<object>({ ...Object(Transport.foreignError({ code }, [])) }, { code })
    }
  })
})

describe("a response of any size", () => {
  it.effect("is read, with the longest token that is accepted", () =>
    Effect.gen(function*() {
      const longest = "aB3-".repeat(16 * 1024)
      const token = yield* make(
        {},
        json({ ...granted, access_token: longest, id_token: "x".repeat(700_000), scope: "read:consumers a:b" })
      )
      assert.strictEqual(Redacted.value((yield* token.requestToken(Replaces.Nothing())).secret), longest)
      const failed = yield* make(
        {},
        json({ error: "e", error_description: "z".repeat(800_000), access_token: "t".repeat(4_000) }, { status: 400 })
      )
      assert.deepInclude({ ...(yield* Effect.flip(failed.requestToken(Replaces.Nothing()))) }, {
        _tag: "ServerError",
        error: isNoText
      })
    }))
})
