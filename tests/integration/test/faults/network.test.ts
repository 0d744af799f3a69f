import { AuthV2 } from "@credit-data/auth-v2"
import { Replaces, TokenEndpoint } from "@credit-data/core"
import { Fault, Simulator } from "@credit-data/simulator"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Redacted, TestClock } from "effect"
import { gzipSync } from "node:zlib"
import { canary } from "../../src/canaries.ts"
import {
  type Expected,
  holds,
  invalidResponse,
  nothingLeft,
  passingServerError,
  serverError,
  transportError
} from "../../src/faultRow.ts"
import { type TransportName, transports } from "../../src/transports.ts"

const bytes = Fault.answerBytes
const part = `{"access_token":"${canary}`

/** The expected failure of a row: one for all transports, or one for each. */
type Rows = ReadonlyArray<
  readonly [name: string, fault: Fault.Fault, expected: Expected | Readonly<Record<TransportName, Expected>>]
>

const cutOrGarbled: Rows = [
  ["a reset before the answer", Fault.Reset(), transportError("Reset")],
  ["an end before the answer", Fault.Bytes({ bytes: "", ending: "End" }), transportError("Reset")],
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
  ["garbage in place of HTTP", Fault.Bytes({ bytes: "garbage\r\n\r\n", ending: "End" }), transportError("Garbled")],
  [
    "TLS in place of HTTP",
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
    // once an answer has begun, node:http reports only that the connection ended
    { fetch: transportError("Garbled"), "node:http": transportError("Cut"), undici: transportError("Garbled") }
  ],
  [
    "headers of more than 1 MiB",
    Fault.Bytes({ bytes: bytes({ headers: [`X-Long: ${canary.repeat(40_000)}`], body: "{}" }), ending: "End" }),
    transportError("Garbled")
  ]
]

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

const untilTheDeadline: Rows = [
  ["no answer", Fault.Silence(), transportError("Timeout")],
  ["an answer after an hour", Fault.Delay({ duration: "1 hour" }), transportError("Timeout")],
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
  ["3 MiB", Fault.Answer({ status: 200, body: " ".repeat(3 * 1024 * 1024) }), invalidResponse("Size")],
  [
    "16 MiB in 16 KiB of gzip",
    Fault.Answer({
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

const isExpected = (expected: Rows[number][2]): expected is Expected => "error" in expected

/** The connections that stay open after a good request. `fetch` has one pool per process, which cannot be closed. */
const idleConnections = { fetch: 1, "node:http": 0, undici: 0 } as const

describe.concurrent.each(transports)("a token request over %s", (name, transport) => {
  describe.each([
    ["truncated or malformed answers", cutOrGarbled],
    ["a switch to another protocol", switching],
    ["faults that last until the deadline", untilTheDeadline],
    ["answers that are too large", tooMuch]
  ])("%s", (_, rows) => {
    for (const [row, fault, expected] of rows) {
      it.effect(row, () =>
        Effect.gen(function*() {
          const simulator = yield* Simulator.Simulator
          const ofTransport = isExpected(expected) ? expected : expected[name]
          yield* holds({ name: row, fault, ...ofTransport }, simulator, transport)
          yield* nothingLeft(idleConnections[name])
        }).pipe(Effect.provide(
          Simulator.layer({ credentials: { clientId: "id", clientSecret: Redacted.make(canary) } })
        )))
    }
  })

  const withLimits = (options: Pick<TokenEndpoint.Options, "deadline" | "maxBodySize">) =>
    Effect.gen(function*() {
      const { credentials, environment } = yield* Simulator.Simulator
      const layer = AuthV2.layerTokenEndpoint({ environment, credentials, scopes: ["data-access:all"], ...options })
      const context = yield* Layer.build(Layer.provide(layer, transport))
      return yield* Effect.provide(TokenEndpoint.TokenEndpoint, context)
    })

  it.scoped("the option deadline limits the time of a token request", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      const { requestToken } = yield* withLimits({ deadline: "2 seconds" })
      for (const [count, [, fault]] of untilTheDeadline.filter(([row]) => !row.startsWith("100 ")).entries()) {
        yield* simulator.failTokenRequests(fault)
        const request = yield* Effect.fork(Effect.flip(requestToken(Replaces.Nothing())))
        yield* simulator.awaitReceived("AuthV2", count + 1)
        yield* TestClock.adjust("2 seconds")
        assert.deepInclude<object>(yield* Fiber.join(request), transportError("Timeout").error)
      }
    }).pipe(Effect.provide(Simulator.layer())))

  it.scoped("the option maxBodySize limits the size of a body", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      const { requestToken } = yield* withLimits({ maxBodySize: 100 })
      for (
        const fault of [
          Fault.Answer({ status: 200, body: " ".repeat(101) }),
          Fault.Endless({ bytes: bytes({ headers: ["Connection: close"] }) })
        ]
      ) {
        yield* simulator.failTokenRequests(fault)
        assert.deepInclude<object>(yield* Effect.flip(requestToken(Replaces.Nothing())), invalidResponse("Size").error)
      }
      yield* simulator.failTokenRequests(Fault.Answer({ status: 200, body: " ".repeat(100) }))
      assert.deepInclude<object>(yield* Effect.flip(requestToken(Replaces.Nothing())), invalidResponse("Json").error)
    }).pipe(Effect.provide(Simulator.layer())))
})
