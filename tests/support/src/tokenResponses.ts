// What token endpoints respond besides a token, and the failure that each response must cause.

export const granted = {
  access_token: "an-access-token",
  scope: "data-access:all",
  expires_in: 86_400,
  token_type: "Bearer"
}

/** The valid response with these fields replaced. A field that is undefined is left out. */
export const but = (fields: Record<string, unknown>): string => JSON.stringify({ ...granted, ...fields })

export interface TokenResponse {
  readonly name: string
  readonly status: number
  readonly body: string | Uint8Array<ArrayBuffer> | null
  readonly failure:
    | { readonly _tag: "InvalidClient" | "ServerError"; readonly error: string | undefined }
    | { readonly _tag: "InvalidResponse"; readonly rule: string }
  readonly retryable: boolean
}

type Body = TokenResponse["body"]

const valid = JSON.stringify(granted)
const bytes = (text: string, encoding: BufferEncoding) => new Uint8Array(Buffer.from(text, encoding))
const shown = (value: unknown) => JSON.stringify(value).slice(0, 12)

/** A 200 that breaks a rule of the contract. */
const outside = (rule: string, ...bodies: ReadonlyArray<readonly [name: string, body: Body]>) =>
  bodies.map(([name, body]): TokenResponse => ({
    name,
    status: 200,
    body,
    failure: { _tag: "InvalidResponse", rule },
    // a token that has expired on arrival comes from a cache whose entry will expire too
    retryable: rule === "Expired"
  }))

/** The valid response with each of these values in a field. */
const values = (field: string, ...values: ReadonlyArray<unknown>) =>
  values.map((value) => [`${field} ${shown(value)}`, but({ [field]: value })] as const)

export const outsideTheContract: ReadonlyArray<TokenResponse> = [
  ...outside(
    "Json",
    ["no body", null],
    ["cut JSON", valid.slice(0, -5)],
    ["trailing garbage", `${valid} and more`],
    ["HTML", "<html><body>Sign in</body></html>"],
    ["UTF-16 without a mark", bytes(valid, "utf16le")]
  ),
  ...outside(
    "Object",
    ["an array", JSON.stringify([granted])],
    ["a string", "\"an-access-token\""],
    ["a number", "42"],
    ["null", "null"],
    ["nesting 200 000 deep", "[".repeat(200_000) + "]".repeat(200_000)]
  ),
  ...outside("Utf8", ["Latin-1", bytes(but({ note: "ü" }), "latin1")], ["UTF-16", bytes(`\ufeff${valid}`, "utf16le")]),
  ...outside(
    "AccessToken",
    ["no access_token", but({ access_token: undefined })],
    [
      "a field nested 200 000 deep",
      `{"access_token":${"[".repeat(200_000)}${"]".repeat(200_000)},"token_type":"Bearer"}`
    ],
    ...values("access_token", "", null, 42, ["a"], "a b", "a\0b", "tökén", "a\r\nb", "x".repeat(64 * 1024 + 1))
  ),
  ...outside(
    "TokenType",
    ["no token_type", but({ token_type: undefined })],
    ...values("token_type", "MAC", "DPoP", "", null, 1)
  ),
  ...outside(
    "ExpiresIn",
    ["expires_in 1e400", valid.replace("86400", "1e400")],
    ...values("expires_in", -1, -0.5, {}, "", "-1", "1.5", "soon", true)
  ),
  ...outside("Expired", ...values("expires_in", 0, 0.5, "0")),
  ...outside("Scope", ...values("scope", 1, ["data-access:all"])),
  ...outside("Size", ["more than 1 MiB", " ".repeat(1024 * 1024) + valid])
]

const otherStatus = (status: number, rule: string, body: Body): TokenResponse => ({
  name: String(status),
  status,
  body,
  failure: { _tag: "InvalidResponse", rule },
  retryable: false
})

export const otherStatuses: ReadonlyArray<TokenResponse> = [
  ...[201, 202, 206].map((status) => otherStatus(status, "Status", valid)),
  otherStatus(204, "Status", null),
  otherStatus(304, "Status", null),
  ...[300, 301, 302, 303, 307, 308].map((status) => otherStatus(status, "Redirect", null))
]

const failed = (
  _tag: "InvalidClient" | "ServerError",
  status: number,
  error: string | undefined,
  retryable: boolean,
  body: Body = error === undefined ? null : JSON.stringify({ error, access_token: "no" })
): TokenResponse => ({
  name: `${status} ${error ?? (body === null ? "without a body" : `with ${shown(body)}`)}`,
  status,
  body,
  failure: { _tag, error },
  retryable
})

const foreign = ["<html>", "[", "{}", "{\"error\":1,\"error_description\":[]}", "x".repeat(2 * 1024 * 1024)]

/** The status decides first, then the code, and a body that is no OAuth error is ignored. */
export const failures: ReadonlyArray<TokenResponse> = [
  ...[401, 400, 403].map((status) => failed("InvalidClient", status, "invalid_client", false)),
  failed("InvalidClient", 401, "invalid_scope", false),
  ...[null, ...foreign].map((body) => failed("InvalidClient", 401, undefined, false, body)),
  ...["invalid_scope", "unauthorized_client", "unsupported_grant_type", "invalid_request", "invalid_target"].map(
    (error) => failed("ServerError", 400, error, false)
  ),
  failed("ServerError", 403, "access_denied", false),
  ...[400, 404, 410, 501, 505].map((status) => failed("ServerError", status, undefined, false)),
  ...[408, 409, 425, 429, 502, 504, 599].map((status) => failed("ServerError", status, undefined, true)),
  ...["server_error", "invalid_client"].map((error) => failed("ServerError", 500, error, true)),
  failed("ServerError", 503, "temporarily_unavailable", true),
  ...foreign.map((body) => failed("ServerError", 500, undefined, true, body)),
  failed("ServerError", 200, "invalid_client", false),
  ...["server_error", "temporarily_unavailable"].map((error) => failed("ServerError", 200, error, true))
]
