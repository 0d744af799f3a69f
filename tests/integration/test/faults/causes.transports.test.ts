import { Transport as Failures } from "@credit-data/core/Internal"
import { makeAuthority, makeCertificate } from "@credit-data/test-support/certificates"
import { kindOf } from "@credit-data/test-support/httpErrors"
import { listen } from "@credit-data/test-support/listen"
import { HttpClientError, HttpClientRequest } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createServer as createTlsServer, type TlsOptions } from "node:tls"
import { changed, requestToken, withDataAccess } from "../../src/clients.ts"
import { granted, serveHttp } from "../../src/servers.ts"
import { type Transport, transports, trusting } from "../../src/transports.ts"

const call = (url: string, transport: Transport, headers: Record<string, string> = {}) =>
  withDataAccess(url, transport, (client) => client.get("/a", { headers }))

describe.each(trusting)("TLS over %s", (name, transport) => {
  // undici, which fetch uses too, reports the alert of TLS 1.3 as a reset
  const alert = name === "node:http" ? "ClientCertificate" : "Reset"
  const certificateRequired = { requestCert: true, rejectUnauthorized: true }
  const rows: ReadonlyArray<readonly [server: string, options: TlsOptions, reason: string]> = [
    [
      "that speaks only TLS 1.1",
      { minVersion: "TLSv1.1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" },
      "Tls"
    ],
    [
      "without a common cipher",
      { maxVersion: "TLSv1.2", ciphers: "ECDHE-RSA-AES128-GCM-SHA256" },
      "Tls"
    ],
    [
      "that requires a client certificate, with TLS 1.2",
      { ...certificateRequired, maxVersion: "TLSv1.2" },
      "Tls"
    ],
    [
      "that requires a client certificate, with TLS 1.3",
      { ...certificateRequired, minVersion: "TLSv1.3" },
      alert
    ]
  ]
  for (const [server, options, reason] of rows) {
    it.scopedLive(`a server ${server} is named as the cause, for token requests and calls`, () =>
      Effect.gen(function*() {
        const authority = yield* makeAuthority
        const certificate = yield* makeCertificate({ host: "localhost", days: 1, authority })
        const port = yield* listen(createTlsServer({ ...certificate, ...options }).on("tlsClientError", () => {}))
        const url = `https://localhost:${port}`
        const error = yield* Effect.flip(requestToken(url, transport(authority.cert)))
        assert.deepInclude<object>(error, { _tag: "TransportError", reason, retryable: reason === "Reset" })
        const callError = yield* Effect.flip(call(url, transport(authority.cert)))
        assert(HttpClientError.isHttpClientError(callError))
        assert.strictEqual(Failures.reason(callError), reason)
      }))
  }
})

describe.each(transports)("a request that cannot be sent, over %s", (name, transport) => {
  /** A server that counts what it receives. */
  const serve = Effect.gen(function*() {
    let requests = 0
    const url = yield* serveHttp((request, response) => {
      requests++
      request.resume()
      response.end(JSON.stringify(granted(1)))
    })
    return { url, requests: () => requests }
  })
  const notAllowed = { _tag: "TransportError", reason: "NotAllowed", retryable: false }

  for (const value of ["😀", "a\r\nb: c", "a\u0000", "\u{202e}"]) {
    it.scopedLive(`because of the header value ${JSON.stringify(value)}, names the header`, () =>
      Effect.gen(function*() {
        const { requests, url } = yield* serve
        const error = yield* Effect.flip(call(url, transport, { "x-mine": value }))
        assert.strictEqual(kindOf(error), "RequestError Encode")
        assert.include(error.message, "x-mine")
        const adding = changed(transport, HttpClientRequest.setHeader("x-mine", value))
        const failure = yield* Effect.flip(requestToken(url, adding))
        assert.deepInclude<object>(failure, notAllowed)
        assert.strictEqual(requests(), 0)
      }))
  }

  it.scopedLive("because of the name of a header, shows the printable part of the name", () =>
    Effect.gen(function*() {
      const { requests, url } = yield* serve
      const error = yield* Effect.flip(call(url, transport, { "x mine\u001b[31m": "a" }))
      assert.strictEqual(kindOf(error), "RequestError Encode")
      assert.include(error.message, "x?mine??31m")
      assert.strictEqual(requests(), 0)
    }))

  it.scopedLive("because a client rewrote its address, is a failure without a retry, and nothing was sent", () =>
    Effect.gen(function*() {
      const { requests, url } = yield* serve
      const rewriting = changed(transport, HttpClientRequest.setUrl(`${url}/elsewhere`))
      const failure = yield* Effect.flip(requestToken(url, rewriting))
      assert.deepInclude<object>(failure, notAllowed)
      assert.strictEqual(requests(), 0)
    }))

  if (name === "fetch") {
    it.scopedLive("has a response whose Content-Encoding does not fit, is a failure without a retry", () =>
      Effect.gen(function*() {
        for (const encoding of ["gzip", "deflate", "br"]) {
          const url = yield* serveHttp((request, response) => {
            request.resume()
            response.setHeader("content-encoding", encoding).end(JSON.stringify(granted(1)))
          })
          const error = yield* Effect.flip(requestToken(url, transport))
          assert.deepInclude<object>(error, { _tag: "InvalidResponse", rule: "Encoding", retryable: false }, encoding)
          assert.include(error.message, "a body that does not fit its Content-Encoding")
        }
      }))
  }
})
