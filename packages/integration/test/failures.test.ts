import { AuthV1 } from "@credit-data/auth-v1"
import { AuthV2 } from "@credit-data/auth-v2"
import { TokenEndpoint, type TokenError } from "@credit-data/core"
import { Fault, Simulator } from "@credit-data/simulator"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Logger, TestClock } from "effect"
import { transports } from "../src/transports.ts"

const http = (head: string, body = "") => `HTTP/1.1 200 OK\r\n${head}\r\n\r\n${body}`

const rows: ReadonlyArray<readonly [name: string, fault: Fault.Fault, expected: Partial<TokenError.TokenError>]> = [
  ["a refused client", Fault.oauthError(401, "invalid_client"), { _tag: "InvalidClient", status: 401 }],
  ["an OAuth error", Fault.oauthError(400, "invalid_target"), {
    _tag: "ServerError",
    status: 400,
    error: "invalid_target"
  }],
  ["a failure of the server", Fault.Answer({ status: 500, body: "<html>" }), { _tag: "ServerError", status: 500 }],
  ["a 200 with an OAuth error", Fault.oauthError(200, "server_error"), { _tag: "ServerError", status: 200 }],
  ["a 200 that isn't JSON", Fault.Answer({ status: 200, body: "<html>" }), { _tag: "InvalidResponse", rule: "Json" }],
  ["a 204", Fault.Answer({ status: 204 }), { _tag: "InvalidResponse", rule: "Status" }],
  ["a body of more than 1 MiB", Fault.Answer({ status: 200, body: " ".repeat(3 * 1024 * 1024) }), {
    _tag: "InvalidResponse",
    rule: "Size"
  }],
  ["a reset before the answer", Fault.Reset(), { _tag: "TransportError", reason: "Reset" }],
  ["an end before the answer", Fault.Bytes({ bytes: "", ending: "End" }), { _tag: "TransportError", reason: "Reset" }],
  [
    "an end within the body",
    Fault.Bytes({ bytes: http("Content-Length: 1000", "{\"access_token\""), ending: "End" }),
    { _tag: "TransportError", reason: "Cut" }
  ],
  [
    "a reset within the body",
    Fault.Bytes({ bytes: http("Content-Length: 1000", "{\"access_token\""), ending: "Reset" }),
    { _tag: "TransportError", reason: "Cut" }
  ],
  [
    "a cut chunk",
    Fault.Bytes({ bytes: http("Transfer-Encoding: chunked", "ff\r\n{"), ending: "End" }),
    { _tag: "TransportError", reason: "Cut" }
  ],
  ["garbage", Fault.Bytes({ bytes: "garbage in place of HTTP\r\n\r\n", ending: "End" }), {
    _tag: "TransportError",
    reason: "Garbled"
  }],
  [
    "two Content-Lengths",
    Fault.Bytes({ bytes: http("Content-Length: 1\r\nContent-Length: 2", "{}"), ending: "End" }),
    { _tag: "TransportError", reason: "Garbled" }
  ]
]

/** Rows in which time has to pass. */
const silences: ReadonlyArray<readonly [name: string, fault: Fault.Fault]> = [
  ["no answer", Fault.Silence()],
  ["headers and then silence", Fault.Bytes({ bytes: http("Content-Length: 1000"), ending: "Hang" })],
  ["half a body and then silence", Fault.Bytes({ bytes: http("Content-Length: 1000", "{"), ending: "Hang" })]
]

/** An address of this machine where nobody listens any more. */
const closedAddress = Effect.map(Simulator.Simulator, ({ environment }) => environment.authV2Url).pipe(
  Effect.provide(Simulator.layer())
)

const requestToken = Effect.flatMap(TokenEndpoint.TokenEndpoint, (endpoint) => endpoint.requestToken)

const endpointV2 = Layer.unwrapEffect(
  Effect.map(
    Simulator.Simulator,
    ({ credentials, environment }) =>
      AuthV2.layerTokenEndpoint({ environment, credentials, scopes: ["data-access:all"] })
  )
)

describe.each(transports)("over %s", (_, transport) => {
  const simulated = endpointV2.pipe(Layer.provide(transport), Layer.provideMerge(Simulator.layer()))

  for (const [name, fault, expected] of rows) {
    it.effect(`${name} is a typed failure, and the next request succeeds`, () =>
      Effect.gen(function*() {
        const simulator = yield* Simulator.Simulator
        yield* simulator.failTokenRequests(fault)
        const error = yield* Effect.flip(requestToken)
        assert.deepInclude<object>({ ...error }, expected)
        yield* requestToken
        assert.strictEqual(yield* simulator.tokenRequests, 2)
      }).pipe(Effect.provide(simulated)))
  }

  for (const [name, fault] of silences) {
    it.effect(`${name} ends at the deadline`, () =>
      Effect.gen(function*() {
        const simulator = yield* Simulator.Simulator
        yield* simulator.failTokenRequests(fault)
        const request = yield* Effect.fork(Effect.flip(requestToken))
        yield* simulator.awaitReceived("AuthV2", 1)
        yield* TestClock.adjust("10 seconds")
        assert.deepInclude({ ...(yield* Fiber.join(request)) }, { _tag: "TransportError", reason: "Timeout" })
        yield* requestToken
      }).pipe(Effect.provide(simulated)))
  }

  it.effect("a redirect isn't followed, and the secret reaches no other server", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      for (const status of [301, 302, 303, 307, 308]) {
        yield* simulator.failTokenRequests(
          Fault.Answer({ status, headers: { location: `${simulator.environment.baseUrl}/elsewhere` } })
        )
        assert.deepInclude({ ...(yield* Effect.flip(requestToken)) }, {
          _tag: "InvalidResponse",
          status,
          rule: "Redirect"
        })
      }
      const received = yield* simulator.received
      assert.deepStrictEqual([...new Set(received.map(({ server }) => server))], ["AuthV2"])
    }).pipe(Effect.provide(simulated)))

  const at = (authV2Url: string) =>
    Effect.flip(requestToken).pipe(Effect.provide(
      AuthV2.layerTokenEndpoint({
        environment: { name: "elsewhere", audience: "a", baseUrl: authV2Url, authV2Url },
        credentials: Simulator.Simulator.pipe(Effect.flatMap(({ credentials }) => credentials)),
        scopes: ["data-access:all"]
      }).pipe(Layer.provide(transport))
    ))

  it.effect("nobody who listens, no such name, and no TLS are told apart", () =>
    Effect.gen(function*() {
      const { environment } = yield* Simulator.Simulator
      const tls = yield* at(environment.authV2Url.replace("http:", "https:"))
      assert.deepInclude({ ...tls }, { _tag: "TransportError", reason: "Tls" })
      assert.deepInclude({ ...(yield* at(yield* closedAddress)) }, { _tag: "TransportError", reason: "Refused" })
      assert.deepInclude({ ...(yield* at("https://no-such-name.invalid")) }, {
        _tag: "TransportError",
        reason: "NameNotFound"
      })
      assert.strictEqual(yield* Effect.flatMap(Simulator.Simulator, (simulator) => simulator.tokenRequests), 0)
    }).pipe(Effect.provide(Simulator.layer())))

  it.effect("V1 says in its failure that it has been retired", () =>
    Effect.gen(function*() {
      const { environment } = yield* Simulator.Simulator
      const failure = (authV1Url: string) =>
        Effect.flip(requestToken).pipe(Effect.provide(
          AuthV1.layerTokenEndpoint({
            environment: { ...environment, authV1Url },
            credentials: Simulator.Simulator.pipe(Effect.flatMap(({ credentials }) => credentials))
          }).pipe(Layer.provide(transport))
        ))
      for (const url of ["https://no-such-name.invalid", environment.authV2Url]) {
        assert.include((yield* failure(url)).message, "Auth V1 reached its sunset at the end of 2024")
      }
    }).pipe(Effect.provide(Layer.merge(Simulator.layer(), Logger.remove(Logger.defaultLogger)))))
})
