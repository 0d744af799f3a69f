import { AuthV2 } from "@credit-data/auth-v2"
import { AccessTokens, TokenEndpoint } from "@credit-data/core"
import { DataAccess } from "@credit-data/http-client"
import { makeAuthority, makeCertificate } from "@credit-data/test-support/certificates"
import { kindOf } from "@credit-data/test-support/httpErrors"
import { HttpClient, HttpClientRequest } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { createServer } from "node:http"
import { createServer as createTlsServer, type TlsOptions } from "node:tls"
import { canary } from "../../src/canaries.ts"
import { granted } from "../../src/serverInMemory.ts"
import { listen, trusting } from "../../src/tls.ts"
import { transports } from "../../src/transports.ts"

const requestToken = (url: string, transport: Layer.Layer<HttpClient.HttpClient>) =>
  Effect.flatMap(TokenEndpoint.TokenEndpoint, (endpoint) => endpoint.requestToken({ _tag: "Nothing" })).pipe(
    Effect.provide(
      AuthV2.layerTokenEndpoint({
        environment: { name: "causes", audience: "a", baseUrl: url, authV2Url: url },
        credentials: { clientId: "id", clientSecret: Redacted.make(canary) },
        scopes: ["data-access:all"]
      }).pipe(Layer.provide(transport))
    )
  )

const call = (url: string, transport: Layer.Layer<HttpClient.HttpClient>, headers: Record<string, string> = {}) =>
  Effect.flatMap(DataAccess.DataAccess, (client) => client.get("/a", { headers })).pipe(
    Effect.provide(
      DataAccess.layer().pipe(Layer.provide([AccessTokens.layerTest({ environment: { baseUrl: url } }), transport]))
    )
  )

/** A client that the program has changed. */
const changed = (
  transport: Layer.Layer<HttpClient.HttpClient>,
  change: (request: HttpClientRequest.HttpClientRequest) => HttpClientRequest.HttpClientRequest
) =>
  Layer.provide(
    Layer.effect(HttpClient.HttpClient, Effect.map(HttpClient.HttpClient, HttpClient.mapRequest(change))),
    transport
  )

describe.each(trusting)("TLS over %s", (name, transport) => {
  const rows: ReadonlyArray<
    readonly [server: string, options: TlsOptions, shown: string, reasons: ReadonlyArray<string>]
  > = [
    [
      "that speaks only TLS 1.1",
      { minVersion: "TLSv1.1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" },
      "the server probably speaks only TLS 1.1 or older",
      ["Tls"]
    ],
    [
      "without a common cipher",
      { maxVersion: "TLSv1.2", ciphers: "ECDHE-RSA-AES128-GCM-SHA256" },
      "has no cipher in common with this program",
      ["Tls"]
    ],
    [
      "that requires a client certificate, with TLS 1.2",
      { requestCert: true, rejectUnauthorized: true, maxVersion: "TLSv1.2" },
      "requires a client certificate",
      ["Tls"]
    ],
    [
      "that requires a client certificate, with TLS 1.3",
      { requestCert: true, rejectUnauthorized: true, minVersion: "TLSv1.3" },
      "requires a client certificate",
      // undici, which fetch uses too, reports the alert as a reset
      [name === "node:http" ? "ClientCertificate" : "Reset"]
    ]
  ]
  for (const [server, options, shown, reasons] of rows) {
    it.scopedLive(`a server ${server} is named as the cause, for token requests and calls`, () =>
      Effect.gen(function*() {
        const authority = yield* makeAuthority
        const certificate = yield* makeCertificate({ host: "localhost", days: 1, authority })
        const port = yield* listen(
          createTlsServer({ ...certificate, ...options }, (socket) => {
            socket.on("error", () => socket.destroy())
          }).on("tlsClientError", () => {})
        )
        const url = `https://localhost:${port}`
        const error = yield* Effect.flip(requestToken(url, transport(authority.cert)))
        assert(error._tag === "TransportError")
        assert.include(reasons, error.reason)
        assert.strictEqual(error.retryable, error.reason === "Reset")
        assert.include(error.message, shown)
        assert.notInclude(error.message, "Check the certificate of")
        const failure = yield* Effect.flip(call(url, transport(authority.cert)))
        assert.include(failure.message, shown)
      }))
  }
})

describe.each(transports)("a request that cannot be sent, over %s", (name, transport) => {
  /** A server that counts what it receives. */
  const serve = Effect.gen(function*() {
    let requests = 0
    const port = yield* listen(createServer((request, response) => {
      requests++
      request.resume()
      response.end(JSON.stringify(granted(1)))
    }))
    return { url: `http://127.0.0.1:${port}`, requests: () => requests }
  })

  for (const value of ["😀", "a\r\nb: c", "a\u0000", "\u{202e}"]) {
    it.scopedLive(`because of the header value ${JSON.stringify(value)}, names the header`, () =>
      Effect.gen(function*() {
        const { requests, url } = yield* serve
        const error = yield* Effect.flip(call(url, transport, { "x-mine": value }))
        assert.strictEqual(kindOf(error), "RequestError Encode")
        assert.include(error.message, "The header x-mine has a character that cannot be sent")
        const failure = yield* Effect.flip(
          requestToken(url, changed(transport, HttpClientRequest.setHeader("x-mine", value)))
        )
        assert.deepInclude<object>(failure, { _tag: "TransportError", reason: "NotAllowed", retryable: false })
        assert.include(failure.message, "A header that the client added has a character that cannot be sent")
        assert.strictEqual(requests(), 0)
      }))
  }

  it.scopedLive("because of the name of a header, shows the printable part of the name", () =>
    Effect.gen(function*() {
      const { requests, url } = yield* serve
      const error = yield* Effect.flip(call(url, transport, { "x mine\u001b[31m": "a" }))
      assert.strictEqual(kindOf(error), "RequestError Encode")
      assert.include(error.message, "The header x?mine??31m has")
      assert.strictEqual(requests(), 0)
    }))

  it.scopedLive("because a client rewrote its address, is a failure without a retry, and nothing was sent", () =>
    Effect.gen(function*() {
      const { requests, url } = yield* serve
      const failure = yield* Effect.flip(
        requestToken(url, changed(transport, HttpClientRequest.setUrl(`${url}/elsewhere`)))
      )
      assert.deepInclude<object>(failure, { _tag: "TransportError", reason: "NotAllowed", retryable: false })
      assert.include(failure.message, "the client rewrote the address of the request")
      assert.strictEqual(requests(), 0)
    }))

  if (name === "fetch") {
    it.scopedLive("has a response whose Content-Encoding does not fit, is a failure without a retry", () =>
      Effect.gen(function*() {
        for (const encoding of ["gzip", "deflate", "br"]) {
          const port = yield* listen(createServer((request, response) => {
            request.resume()
            response.setHeader("content-encoding", encoding).end(JSON.stringify(granted(1)))
          }))
          const error = yield* Effect.flip(requestToken(`http://127.0.0.1:${port}`, transport))
          assert.deepInclude<object>(error, { _tag: "InvalidResponse", rule: "Encoding", retryable: false }, encoding)
          assert.include(error.message, "a body that does not fit its Content-Encoding")
        }
      }))
  }
})
