import { Fault } from "@credit-data/simulator"
import { gzipSync } from "node:zlib"
import { canary } from "./canaries.ts"
import {
  type Expected,
  invalidClient,
  invalidResponse,
  passingServerError,
  serverError,
  transportError
} from "./faultRow.ts"
import { granted } from "./servers.ts"
import type { TransportName } from "./transports.ts"

const response = Fault.responseBytes
const cutHeaders = "HTTP/1.1 200 OK\r\nContent-"
const part = `{"access_token":"${canary}`
const long = ["Content-Length: 1000"]
const chunked = ["Transfer-Encoding: chunked"]

/** What follows these bytes: the end of the connection, a reset, or nothing. */
const end = (bytes: string | Uint8Array) => Fault.Bytes({ bytes, ending: "End" })
const reset = (bytes: string) => Fault.Bytes({ bytes, ending: "Reset" })
const hang = (bytes: string) => Fault.Bytes({ bytes, ending: "Hang" })

/** The valid token response with these fields replaced. */
const but = (fields: object) => Fault.Response({ status: 200, body: JSON.stringify({ ...granted(0), ...fields }) })

const retryAfter = (wait: string) => Fault.Response({ status: 503, headers: { "retry-after": wait } })

const proxyRefusal: Expected = { ...transportError("Proxy"), requests: 1 }

/** The expected failure of a row: one for all transports, or one for each. */
export type Rows = ReadonlyArray<
  readonly [name: string, fault: Fault.Fault, expected: Expected | Readonly<Record<TransportName, Expected>>]
>

/** One response for each class of failure, with the secret wherever a server can put it. tests/support/src/tokenResponses.ts has the full list. */
const responses: Rows = [
  ["401 with the secret in the description", Fault.oauthError(401, "invalid_client", canary), invalidClient(401)],
  [
    "401 with the secret in the challenge",
    Fault.Response({ status: 401, headers: { "www-authenticate": `Basic realm="${canary}"` } }),
    invalidClient(401)
  ],
  ["400 invalid_scope", Fault.oauthError(400, "invalid_scope", canary), serverError(400, "invalid_scope")],
  [
    "400 with a description of 500 KiB and terminal escapes",
    Fault.oauthError(400, "invalid_request", `\u001b[31m${"x".repeat(500 * 1024)}`),
    serverError(400, "invalid_request")
  ],
  ["403 with an HTML page", Fault.Response({ status: 403, body: `<html>${canary}</html>` }), serverError(403)],
  ["500 server_error", Fault.oauthError(500, "server_error", canary), passingServerError(500, "server_error")],
  // a body above the size limit is not read, so only the status is used
  ["500 with an error of 1 MiB", Fault.oauthError(500, "x".repeat(1024 * 1024)), passingServerError(500)],
  ["503 with Retry-After: 2", retryAfter("2"), passingServerError(503)],
  // the deadline ends before the first retry
  ["503 with Retry-After of a year", retryAfter("31536000"), serverError(503)],
  [
    "407 of a forward proxy",
    Fault.Response({ status: 407 }),
    // fetch hides the response to a request that is not tunnelled
    { fetch: transportError("Other"), "node:http": proxyRefusal, undici: proxyRefusal }
  ],
  ["200 with text", Fault.Response({ status: 200, body: canary }), invalidResponse("Json")],
  ["200 with the secret in place of the token", but({ access_token: [canary] }), invalidResponse("AccessToken")],
  ["200 with an expired token", but({ expires_in: 0 }), invalidResponse("Expired")]
]

/** Responses that are cut or are not HTTP. */
const cutOrGarbled: Rows = [
  ["a reset before the response", Fault.Reset(), transportError("Reset")],
  ["an end before the response", end(""), transportError("Reset")],
  ["an end within the headers", end(cutHeaders), transportError("Reset")],
  ["a reset within the headers", reset(cutHeaders), transportError("Reset")],
  [
    "an end within the body, before its Content-Length",
    end(response({ headers: long, body: part })),
    transportError("Cut")
  ],
  ["a reset within the body", reset(response({ headers: long, body: part })), transportError("Cut")],
  ["a cut chunk", end(response({ headers: chunked, body: `ff\r\n${part}` })), transportError("Cut")],
  ["chunks without the last one", end(response({ headers: chunked, body: "2\r\n{}\r\n" })), transportError("Cut")],
  ["garbage instead of HTTP", end("garbage\r\n\r\n"), transportError("Garbled")],
  ["TLS instead of HTTP", end(Uint8Array.of(21, 3, 1, 0, 2, 2, 70)), transportError("Garbled")],
  [
    "two Content-Lengths",
    end(response({ headers: ["Content-Length: 1", "Content-Length: 2"], body: "{}" })),
    transportError("Garbled")
  ],
  [
    "a Content-Length that is not a number",
    end(response({ headers: ["Content-Length: many"], body: "{}" })),
    transportError("Garbled")
  ],
  [
    "a chunk whose size is not a number",
    end(response({ headers: chunked, body: "many\r\n{}" })),
    // once a response has begun, node:http reports only that the connection ended
    { fetch: transportError("Garbled"), "node:http": transportError("Cut"), undici: transportError("Garbled") }
  ],
  [
    "headers of more than 1 MiB",
    end(response({ headers: [`X-Long: ${canary.repeat(40_000)}`], body: "{}" })),
    transportError("Garbled")
  ]
]

/** Faults that end only with the deadline. */
export const untilTheDeadline: Rows = [
  ["no response", Fault.Silence(), transportError("Timeout")],
  ["a response after an hour", Fault.Delay({ duration: "1 hour" }), transportError("Timeout")],
  ["half the headers and then silence", hang(cutHeaders), transportError("Timeout")],
  ["headers and then silence", hang(response({ headers: long })), transportError("Timeout")],
  ["half a body and then silence", hang(response({ headers: long, body: part })), transportError("Timeout")],
  [
    "100 Continue and then silence",
    hang("HTTP/1.1 100 Continue\r\n\r\n"),
    // undici, which fetch uses too, closes a connection on an unrequested 100
    { fetch: transportError("Reset"), "node:http": transportError("Timeout"), undici: transportError("Reset") }
  ],
  [
    "headers, one byte every 100 ms",
    Fault.Drip({ bytes: response({ headers: [`X-Long: ${"x".repeat(200)}`] }), every: "100 millis" }),
    transportError("Timeout")
  ],
  [
    "a body, one byte every 100 ms",
    Fault.Drip({ bytes: response({ headers: long, body: part.padEnd(1000) }), every: "100 millis" }),
    transportError("Timeout")
  ]
]

const endless = (status: number) => Fault.Endless({ bytes: response({ status, headers: ["Connection: close"] }) })

/** Responses above the size limit. */
const tooMuch: Rows = [
  ["an endless body", endless(200), invalidResponse("Size")],
  ["an endless body of a 503", endless(503), passingServerError(503)],
  ["an endless body of a 404", endless(404), serverError(404)],
  ["3 MiB", Fault.Response({ status: 200, body: " ".repeat(3 * 1024 * 1024) }), invalidResponse("Size")],
  [
    "16 MiB in 16 KiB of gzip",
    Fault.Response({
      status: 200,
      headers: { "content-encoding": "gzip" },
      body: gzipSync(" ".repeat(16 * 1024 * 1024))
    }),
    // the others do not decompress the body, so its bytes are not valid UTF-8
    { fetch: invalidResponse("Size"), "node:http": invalidResponse("Utf8"), undici: invalidResponse("Utf8") }
  ]
]

/** The tables of faults on the wire, by what they have in common. */
export const tables = [
  ["failures and invalid responses", responses],
  ["truncated or malformed responses", cutOrGarbled],
  ["faults that last until the deadline", untilTheDeadline],
  ["responses that are too large", tooMuch]
] as const

/** The expected failure of a row over a transport. */
export const expectedOver = (transport: TransportName, expected: Rows[number][2]): Expected =>
  "error" in expected ? expected : expected[transport]
