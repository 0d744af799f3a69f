import { Fault } from "@credit-data/simulator"
import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { canary, tokenPrefix } from "../../src/canaries.ts"
import {
  type Expected,
  holds,
  invalidClient,
  invalidResponse,
  passingInvalidResponse,
  passingServerError,
  serverError
} from "../../src/faultRow.ts"
import { granted, makeServerInMemory } from "../../src/serverInMemory.ts"

type Rows = ReadonlyArray<readonly [name: string, fault: Fault.Fault, expected: Expected]>

const respond = (status: number, body?: string | Uint8Array, headers?: Record<string, string>) =>
  Fault.Response({ status, body, headers })

const token = granted(0)

/** The valid response with these fields replaced. A field that is undefined is left out. */
const but = (fields: Record<string, unknown>) => respond(200, JSON.stringify({ ...token, ...fields }))

/** The valid response, with this text as the value of `expires_in`. */
const expiresIn = (text: string) => respond(200, JSON.stringify(token).replace("86400", text))

const html = `<html><body>${canary}</body></html>`

const largeRefusal = JSON.stringify({
  error: "invalid_client",
  error_description: canary,
  id_token: "x".repeat(700_000)
})

const refusals: Rows = [
  ["401 invalid_client", Fault.oauthError(401, "invalid_client", canary), invalidClient(401)],
  ["400 invalid_client", Fault.oauthError(400, "invalid_client"), invalidClient(400)],
  ["403 invalid_client", Fault.oauthError(403, "invalid_client"), invalidClient(403)],
  ["401 with HTML", respond(401, html), invalidClient(401)],
  ["401 without a body", respond(401), invalidClient(401)],
  ["401 with a challenge", respond(401, "", { "www-authenticate": `Basic realm="${canary}"` }), invalidClient(401)],
  ...["invalid_scope", "unauthorized_client", "unsupported_grant_type", "invalid_request", "invalid_target"].map(
    (error) => [`400 ${error}`, Fault.oauthError(400, error, canary), serverError(400, error)] as const
  ),
  ["403 with HTML", respond(403, html), serverError(403)],
  ["404 without a body", respond(404), serverError(404)],
  ["407 of a forward proxy", respond(407, html), { error: { _tag: "TransportError", reason: "Proxy" }, requests: 1 }],
  ["401 with an id_token of 700 KB", respond(401, largeRefusal), invalidClient(401)],
  ["418 with a truncated body", respond(418, "{\"error\":"), serverError(418)]
]

const retryAfter = (status: number, wait: string) => respond(status, "", { "retry-after": wait })

const passing: Rows = [
  ["500 server_error", Fault.oauthError(500, "server_error", canary), passingServerError(500, "server_error")],
  ["502 with HTML", respond(502, html), passingServerError(502)],
  ["503 without a body", respond(503), passingServerError(503)],
  ["429", Fault.oauthError(429, "temporarily_unavailable"), passingServerError(429, "temporarily_unavailable")],
  ["503, Retry-After 2", retryAfter(503, "2"), passingServerError(503)],
  ["429, Retry-After as a date", retryAfter(429, "Thu, 01 Jan 1970 00:00:02 GMT"), passingServerError(429)],
  ["503, an invalid Retry-After", retryAfter(503, "soon, really"), passingServerError(503)],
  ["503, a negative Retry-After", retryAfter(503, "-5"), passingServerError(503)],
  // the deadline ends before the first retry
  ["503, Retry-After of a year", retryAfter(503, "31536000"), { ...passingServerError(503), requests: 1 }]
]

const notATokenResponse: Rows = [
  ["200 with an error", Fault.oauthError(200, "invalid_scope"), serverError(200, "invalid_scope")],
  ["200 with invalid_client", Fault.oauthError(200, "invalid_client"), serverError(200, "invalid_client")],
  [
    "200 with an error beside a token",
    respond(200, JSON.stringify({ ...token, error: "invalid_scope" })),
    serverError(200, "invalid_scope")
  ],
  ["200 without a body", respond(200), invalidResponse("Json")],
  ["204", respond(204), invalidResponse("Status", 204)],
  ["206", respond(206, JSON.stringify(token)), invalidResponse("Status", 206)],
  ["an array", respond(200, JSON.stringify([token])), invalidResponse("Object")],
  ["a string", respond(200, JSON.stringify(canary)), invalidResponse("Object")],
  ["a number", respond(200, "42"), invalidResponse("Object")],
  ["null", respond(200, "null"), invalidResponse("Object")],
  ["truncated JSON", respond(200, JSON.stringify(token).slice(0, -1)), invalidResponse("Json")],
  ["trailing garbage", respond(200, `${JSON.stringify(token)}}`), invalidResponse("Json")],
  ["HTML", respond(200, html), invalidResponse("Json")],
  ["arrays, 200 000 deep", respond(200, "[".repeat(200_000) + "]".repeat(200_000)), invalidResponse("Object")],
  [
    "objects, 200 000 deep",
    respond(200, `{"access_token":${"{\"a\":".repeat(100_000)}1${"}".repeat(100_000)}}`),
    invalidResponse("AccessToken")
  ],
  ["Latin-1", respond(200, Buffer.from(JSON.stringify({ ...token, note: "ü" }), "latin1")), invalidResponse("Utf8")],
  ["UTF-16", respond(200, Buffer.from(JSON.stringify(token), "utf16le")), invalidResponse("Json")],
  [
    "UTF-16 with a byte order mark",
    respond(200, Buffer.from(`\ufeff${JSON.stringify(token)}`, "utf16le")),
    invalidResponse("Utf8")
  ],
  ["1 MiB and one byte", respond(200, JSON.stringify(token).padEnd(1024 * 1024 + 1)), invalidResponse("Size")],
  ["304", respond(304), invalidResponse("Status", 304)],
  ...[301, 302, 303, 307, 308].map((status) =>
    [
      `${status}`,
      respond(status, undefined, { location: "https://elsewhere.example" }),
      invalidResponse("Redirect", status)
    ] as const
  )
]

const brokenFields: Rows = [
  ...[undefined, "", null, 42, [canary], `${tokenPrefix} x`, `${tokenPrefix}\0`, `${tokenPrefix}ü`, "x".repeat(65_537)]
    .map((value) =>
      [
        `access_token ${JSON.stringify(value)?.slice(0, 20)}`,
        but({ access_token: value }),
        invalidResponse("AccessToken")
      ] as const
    ),
  ...[undefined, null, "", "MAC", "DPoP", 42].map((value) =>
    [`token_type ${JSON.stringify(value)}`, but({ token_type: value }), invalidResponse("TokenType")] as const
  ),
  ...["0", "0.5", "\"0\"", "0.99"].map((text) =>
    [`expires_in ${text}`, expiresIn(text), passingInvalidResponse("Expired")] as const
  ),
  ...["-1", "-0.5", "1e400", "-1e400", "{}", "[]", "true", "\"\"", "\"1.5\"", "\"-1\"", "\"soon\""].map((
    text
  ) => [`expires_in ${text}`, expiresIn(text), invalidResponse("ExpiresIn")] as const),
  ...[42, ["data-access:all"]].map((value) =>
    [`scope ${JSON.stringify(value).slice(0, 20)}`, but({ scope: value }), invalidResponse("Scope")] as const
  )
]

const longText: Rows = [
  [
    "error_description of 500 KiB, with terminal escapes",
    Fault.oauthError(400, "invalid_request", `\u001b[31m${"x".repeat(500 * 1024)}`),
    serverError(400, "invalid_request")
  ],
  [
    "an error of 1 MiB",
    Fault.oauthError(500, "x".repeat(1024 * 1024)),
    // its body exceeds the limit, so only the status is used
    passingServerError(500)
  ]
]

describe.concurrent.each([
  ["refusals", refusals],
  ["temporary failures", passing],
  ["not a token response", notATokenResponse],
  ["invalid fields", brokenFields],
  ["long text", longText]
])("responses of the token endpoint: %s", (_, rows) => {
  for (const [name, fault, expected] of rows) {
    it.effect(
      name,
      () =>
        Effect.flatMap(
          makeServerInMemory,
          ({ server, transport }) => holds({ name, fault, ...expected }, server, transport, 0)
        )
    )
  }
})
