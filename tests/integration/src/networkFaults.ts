import { Fault } from "@credit-data/simulator"
import { gzipSync } from "node:zlib"
import { canary } from "./canaries.ts"
import { type Expected, invalidResponse, passingServerError, serverError, transportError } from "./faultRow.ts"
import type { TransportName } from "./transports.ts"

const bytes = Fault.responseBytes
const part = `{"access_token":"${canary}`

/** The expected failure of a row: one for all transports, or one for each. */
export type Rows = ReadonlyArray<
  readonly [name: string, fault: Fault.Fault, expected: Expected | Readonly<Record<TransportName, Expected>>]
>

/** Responses that are cut or are not HTTP. */
const cutOrGarbled: Rows = [
  ["a reset before the response", Fault.Reset(), transportError("Reset")],
  ["an end before the response", Fault.Bytes({ bytes: "", ending: "End" }), transportError("Reset")],
  [
    "an end within the headers",
    Fault.Bytes({ bytes: "HTTP/1.1 200 OK\r\nContent-", ending: "End" }),
    transportError("Reset")
  ],
  [
    "a reset within the headers",
    Fault.Bytes({ bytes: "HTTP/1.1 200 OK\r\nContent-", ending: "Reset" }),
    transportError("Reset")
  ],
  [
    "an end within the body, before its Content-Length",
    Fault.Bytes({ bytes: bytes({ headers: ["Content-Length: 1000"], body: part }), ending: "End" }),
    transportError("Cut")
  ],
  [
    "a reset within the body",
    Fault.Bytes({ bytes: bytes({ headers: ["Content-Length: 1000"], body: part }), ending: "Reset" }),
    transportError("Cut")
  ],
  [
    "a cut chunk",
    Fault.Bytes({ bytes: bytes({ headers: ["Transfer-Encoding: chunked"], body: `ff\r\n${part}` }), ending: "End" }),
    transportError("Cut")
  ],
  [
    "chunks without the last one",
    Fault.Bytes({ bytes: bytes({ headers: ["Transfer-Encoding: chunked"], body: "2\r\n{}\r\n" }), ending: "End" }),
    transportError("Cut")
  ],
  ["garbage instead of HTTP", Fault.Bytes({ bytes: "garbage\r\n\r\n", ending: "End" }), transportError("Garbled")],
  [
    "TLS instead of HTTP",
    Fault.Bytes({ bytes: Uint8Array.of(21, 3, 1, 0, 2, 2, 70), ending: "End" }),
    transportError("Garbled")
  ],
  [
    "two Content-Lengths",
    Fault.Bytes({ bytes: bytes({ headers: ["Content-Length: 1", "Content-Length: 2"], body: "{}" }), ending: "End" }),
    transportError("Garbled")
  ],
  [
    "a Content-Length that is not a number",
    Fault.Bytes({ bytes: bytes({ headers: ["Content-Length: many"], body: "{}" }), ending: "End" }),
    transportError("Garbled")
  ],
  [
    "a chunk whose size is not a number",
    Fault.Bytes({ bytes: bytes({ headers: ["Transfer-Encoding: chunked"], body: "many\r\n{}" }), ending: "End" }),
    // once a response has begun, node:http reports only that the connection ended
    { fetch: transportError("Garbled"), "node:http": transportError("Cut"), undici: transportError("Garbled") }
  ],
  [
    "headers of more than 1 MiB",
    Fault.Bytes({ bytes: bytes({ headers: [`X-Long: ${canary.repeat(40_000)}`], body: "{}" }), ending: "End" }),
    transportError("Garbled")
  ]
]

/** An unrequested change of the protocol. */
const switching: Rows = [
  [
    "101 with an upgrade",
    Fault.Bytes({ bytes: bytes({ status: 101, headers: ["Upgrade: x", "Connection: upgrade"] }), ending: "Hang" }),
    { fetch: transportError("Reset"), "node:http": invalidResponse("Status", 101), undici: transportError("Reset") }
  ],
  [
    "101 without an upgrade",
    Fault.Bytes({ bytes: bytes({ status: 101, headers: ["Connection: close"] }), ending: "Hang" }),
    { fetch: transportError("Other"), "node:http": invalidResponse("Status", 101), undici: transportError("Other") }
  ]
]

/** Faults that end only with the deadline. */
export const untilTheDeadline: Rows = [
  ["no response", Fault.Silence(), transportError("Timeout")],
  ["a response after an hour", Fault.Delay({ duration: "1 hour" }), transportError("Timeout")],
  [
    "half the headers and then silence",
    Fault.Bytes({ bytes: "HTTP/1.1 200 OK\r\nContent-", ending: "Hang" }),
    transportError("Timeout")
  ],
  [
    "headers and then silence",
    Fault.Bytes({ bytes: bytes({ headers: ["Content-Length: 1000"] }), ending: "Hang" }),
    transportError("Timeout")
  ],
  [
    "half a body and then silence",
    Fault.Bytes({ bytes: bytes({ headers: ["Content-Length: 1000"], body: part }), ending: "Hang" }),
    transportError("Timeout")
  ],
  [
    "100 Continue and then silence",
    Fault.Bytes({ bytes: "HTTP/1.1 100 Continue\r\n\r\n", ending: "Hang" }),
    // undici, which fetch uses too, closes a connection on an unrequested 100
    { fetch: transportError("Reset"), "node:http": transportError("Timeout"), undici: transportError("Reset") }
  ],
  [
    "headers, one byte every 100 ms",
    Fault.Drip({ bytes: bytes({ headers: [`X-Long: ${"x".repeat(200)}`] }), every: "100 millis" }),
    transportError("Timeout")
  ],
  [
    "a body, one byte every 100 ms",
    Fault.Drip({ bytes: bytes({ headers: ["Content-Length: 1000"], body: part.padEnd(1000) }), every: "100 millis" }),
    transportError("Timeout")
  ]
]

/** Responses above the size limit. */
const tooMuch: Rows = [
  ["an endless body", Fault.Endless({ bytes: bytes({ headers: ["Connection: close"] }) }), invalidResponse("Size")],
  [
    "an endless body of a 503",
    Fault.Endless({ bytes: bytes({ status: 503, headers: ["Connection: close"] }) }),
    passingServerError(503)
  ],
  [
    "an endless body of a 404",
    Fault.Endless({ bytes: bytes({ status: 404, headers: ["Connection: close"] }) }),
    serverError(404)
  ],
  ["3 MiB", Fault.Response({ status: 200, body: " ".repeat(3 * 1024 * 1024) }), invalidResponse("Size")],
  [
    "16 MiB in 16 KiB of gzip",
    Fault.Response({
      status: 200,
      headers: { "content-encoding": "gzip" },
      body: gzipSync(" ".repeat(16 * 1024 * 1024))
    }),
    {
      fetch: invalidResponse("Size"),
      // they do not decompress the body, so its bytes are not valid UTF-8
      "node:http": invalidResponse("Utf8"),
      undici: invalidResponse("Utf8")
    }
  ]
]

/** The tables of faults on the wire, by what they have in common. */
export const tables = [
  ["truncated or malformed responses", cutOrGarbled],
  ["a switch to another protocol", switching],
  ["faults that last until the deadline", untilTheDeadline],
  ["responses that are too large", tooMuch]
] as const

/** The expected failure of a row over a transport. */
export const expectedOver = (transport: TransportName, expected: Rows[number][2]): Expected =>
  "error" in expected ? expected : expected[transport]
