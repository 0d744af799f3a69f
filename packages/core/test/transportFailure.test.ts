import { TokenError } from "@credit-data/core"
import { HttpClientRequest } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as HttpError from "../src/internal/httpError.ts"
import { type Stage, transportFailure } from "../src/internal/transportFailure.ts"
import { raw } from "./support/fakeTransport.ts"
import { requestToken } from "./support/tokenEndpoint.ts"

const failing = (cause: unknown, url = "/") =>
  Effect.flip(requestToken(
    HttpError.requestError("Transport", { request: HttpClientRequest.get(url), cause })
  )).pipe(
    Effect.map((error) =>
      error._tag === "TransportError"
        ? error
        : new TokenError.TransportError({ environment: "test", tokenEndpoint: "t", reason: "Other" })
    )
  )

const failureOf = (cause: unknown, stage: Stage) =>
  transportFailure(
    HttpError.requestError("Transport", { request: HttpClientRequest.get("https://auth.example/"), cause }),
    stage
  )

/** A cause that refers to itself many times. */
const crowd: { readonly errors: Array<unknown>; readonly cause: unknown } = { errors: [], cause: { code: "EPIPE" } }
for (let count = 0; count < 8; count++) crowd.errors.push(crowd)

const circular: { cause?: unknown; code: string } = { code: "UNKNOWN" }
circular.cause = circular

describe("why a transport failed", () => {
  const rows: ReadonlyArray<readonly [cause: unknown, reason: TokenError.TransportReason]> = [
    [{ code: "ENOTFOUND" }, "NameNotFound"],
    [{ code: "EAI_AGAIN" }, "NameServiceFailed"],
    [{ code: "EAI_FAIL" }, "NameServiceFailed"],
    [{ code: "ECONNREFUSED" }, "Refused"],
    [{ code: "ConnectionRefused" }, "Refused"],
    [{ code: "EHOSTUNREACH" }, "Unreachable"],
    [{ code: "ENETUNREACH" }, "Unreachable"],
    [{ code: "ETIMEDOUT" }, "Timeout"],
    [{ code: "UND_ERR_CONNECT_TIMEOUT" }, "Timeout"],
    [{ code: "UND_ERR_HEADERS_TIMEOUT" }, "Timeout"],
    [{ code: "HPE_INVALID_CONSTANT" }, "Garbled"],
    [{ code: "UND_ERR_RES_CONTENT_LENGTH_MISMATCH" }, "Garbled"],
    [{ code: "UND_ERR_HEADERS_OVERFLOW" }, "Garbled"],
    [{ name: "HTTPParserError", code: undefined }, "Garbled"],
    [{ code: "ERR_TLS_CERT_ALTNAME_INVALID" }, "Tls"],
    [{ code: "ERR_SSL_WRONG_VERSION_NUMBER" }, "Tls"],
    [{ code: "ERR_SSL_SSL/TLS_ALERT_BAD_RECORD_MAC" }, "Cut"],
    [{ code: "ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL" }, "Tls"],
    [{ code: "ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION" }, "Tls"],
    [{ code: "ERR_SSL_UNSUPPORTED_PROTOCOL" }, "Tls"],
    [{ code: "ERR_SSL_NO_PROTOCOLS_AVAILABLE" }, "Tls"],
    [{ code: "ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE" }, "Tls"],
    [{ code: "EPROTO" }, "Tls"],
    [{ code: "CERT_HAS_EXPIRED" }, "Tls"],
    [{ code: "DEPTH_ZERO_SELF_SIGNED_CERT" }, "Tls"],
    [{ code: "SELF_SIGNED_CERT_IN_CHAIN" }, "Tls"],
    [{ code: "UNABLE_TO_VERIFY_LEAF_SIGNATURE" }, "Tls"],
    [{ code: "ECONNRESET" }, "Reset"],
    [{ code: "EPIPE" }, "Reset"],
    [{ code: "UND_ERR_SOCKET" }, "Reset"],
    [{ code: "ERR_PROXY_TUNNEL", statusCode: 407 }, "Proxy"],
    [new Error("Bad response: 403"), "Proxy"],
    [{ code: "ERR_PROXY_TUNNEL" }, "Other"],
    [{ code: "ECONNREFUSED", statusCode: 407 }, "Refused"],
    [{ code: "SOMETHING_NEW" }, "Other"],
    [{ code: 42 }, "Other"],
    [{ name: "Error" }, "Other"],
    ["a string", "Other"],
    [undefined, "Other"],
    [new TypeError("fetch failed", { cause: { code: "ECONNREFUSED" } }), "Refused"],
    [{ code: "SOMETHING_NEW", cause: { cause: { code: "CERT_HAS_EXPIRED" } } }, "Tls"],
    [{ code: "ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED" }, "ClientCertificate"],
    [
      { code: "EPROTO", message: "write EPROTO 0:error:0A000418:SSL routines::tlsv1 alert unknown ca" },
      "ClientCertificate"
    ],
    [{ errors: [{ code: "SOMETHING_NEW" }, { code: "ENETUNREACH" }], cause: { code: "EPIPE" } }, "Unreachable"],
    [{ errors: "none", cause: { code: "EPIPE" } }, "Reset"],
    [circular, "Other"],
    [crowd, "Reset"],
    [{ code: "ERR_HTTP2_STREAM_ERROR", message: "Stream closed with error code NGHTTP2_REFUSED_STREAM" }, "Reset"],
    [{ code: "ERR_HTTP2_STREAM_ERROR", message: "Stream closed with error code NGHTTP2_INTERNAL_ERROR" }, "Other"],
    [{ code: "EOTHER", message: "Stream closed with error code NGHTTP2_REFUSED_STREAM" }, "Other"]
  ]
  for (const [cause, reason] of rows) {
    it.effect(`the reason is ${reason} for ${typeof cause === "object" && cause !== circular && cause !== crowd ? JSON.stringify(cause) : "a circular cause"}`, () =>
      Effect.gen(function*() {
        const error = yield* failing(cause)
        assert.deepInclude({ ...error }, { _tag: "TransportError", reason })
        assert.strictEqual(error.retryable, !["Tls", "ClientCertificate", "Proxy"].includes(reason))
      }))
  }

  it.effect("a timeout of the transport has no deadline, because ours did not pass", () =>
    Effect.gen(function*() {
      for (const cause of [{ code: "UND_ERR_CONNECT_TIMEOUT" }, new AggregateError([{ code: "ETIMEDOUT" }])]) {
        const error = yield* failing(cause)
        assert.strictEqual(error.reason, "Timeout")
        assert.isUndefined(error.deadline)
      }
    }))

  it.effect("the failure of a forward proxy carries its address, or the status of its refusal", () =>
    Effect.gen(function*() {
      const at = "https://auth.example/oauth2/token"
      const rows: ReadonlyArray<readonly [cause: unknown, failure: object, url?: string]> = [
        [{ message: "Proxy response (407) !== 200 when HTTP Tunneling" }, { reason: "Proxy", proxyStatus: 407 }],
        [
          new TypeError("fetch failed", { cause: { cause: { message: "Proxy response (503) !== 200" } } }),
          { reason: "Proxy", proxyStatus: 503 }
        ],
        [
          { code: "ECONNREFUSED", address: "10.0.0.1", port: 3128 },
          { reason: "Proxy", proxy: "10.0.0.1:3128" }
        ],
        [{ code: "ECONNREFUSED", address: "10.0.0.1", port: 443 }, { reason: "Refused" }],
        [{ code: "ECONNREFUSED", address: "10.0.0.1", port: "80" }, { reason: "Refused" }, "http://auth.example/x"],
        [{ code: "ECONNREFUSED", address: "::1", port: 8443 }, { reason: "Refused" }, "https://auth.example:8443/x"],
        [{ code: "ENOTFOUND", hostname: "proxy.example" }, { reason: "Proxy", proxy: "proxy.example" }],
        [{ code: "ENOTFOUND", hostname: "auth.example" }, { reason: "NameNotFound" }],
        [{ code: "ENOTFOUND", hostname: "::1" }, { reason: "NameNotFound" }, "https://[::1]/x"],
        [{ code: "EHOSTUNREACH", address: "10.0.0.1", port: 3128 }, { reason: "Proxy", proxy: "10.0.0.1:3128" }],
        [
          { code: "ECONNREFUSED", errors: [{ code: "ECONNREFUSED", address: "::1", port: 3128 }] },
          { reason: "Proxy", proxy: "::1:3128" }
        ],
        [{ code: "ECONNREFUSED", address: "10.0.0.1", port: 3128 }, { reason: "Refused" }, "not a URL"],
        [{ code: "ECONNRESET", address: "10.0.0.1", port: 3128 }, { reason: "Reset" }]
      ]
      for (const [cause, failure, url] of rows) {
        const { proxy, proxyStatus, reason } = yield* failing(cause, url ?? at)
        const known = Object.entries({ reason, proxy, proxyStatus }).filter(([, value]) => value !== undefined)
        assert.deepStrictEqual<object>(Object.fromEntries(known), failure)
      }
    }))

  it.effect("a 407 is the failure of a forward proxy", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(requestToken(raw("<html>", { status: 407 })))
      assert.deepInclude({ ...error }, { _tag: "TransportError", reason: "Proxy", proxyStatus: 407 })
      assert.isFalse(error.retryable)
    }))

  it.effect("a port that does not speak TLS is named as the cause", () =>
    Effect.gen(function*() {
      for (
        const message of [
          "write EPROTO 0:error:wrong version number:x",
          "error: http request",
          "packet length too long"
        ]
      ) {
        assert.isDefined((yield* failing({ code: "EPROTO", message })).hint)
      }
      assert.isUndefined((yield* failing({ code: "EPROTO", message: "alert protocol version" })).hint)
      assert.isUndefined((yield* failing({ code: "CERT_HAS_EXPIRED" })).hint)
    }))

  it.effect("a failure whose code is not one of TLS keeps its reason, whatever words its message has", () =>
    Effect.gen(function*() {
      for (const [code, reason] of [["ECONNRESET", "Reset"], ["ETIMEDOUT", "Timeout"]] as const) {
        for (const message of ["HTTP request failed: socket hang up", "unsupported protocol", "handshake failure"]) {
          const error = yield* failing({ code, message })
          assert.deepStrictEqual([error.reason, error.retryable], [reason, true], `${code} ${message}`)
        }
      }
    }))

  it.effect("several addresses of which none responded in time are a timeout", () =>
    Effect.gen(function*() {
      // as Node makes it, with the code of the first address
      const cause = Object.assign(new AggregateError([{ code: "ENETUNREACH" }, { code: "ETIMEDOUT" }]), {
        code: "ENETUNREACH"
      })
      const error = yield* failing(new TypeError("fetch failed", { cause }))
      assert.deepInclude({ ...error }, { reason: "Timeout" })
      assert.isTrue(error.retryable)
    }))

  it("an alert about the client's certificate keeps its reason after the handshake and in a body", () => {
    const code = "ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED"
    assert.strictEqual(failureOf({ code }, "Request").reason, "ClientCertificate")
    assert.strictEqual(failureOf({ code }, "Body").reason, "ClientCertificate")
  })

  it("a connection that ends in the middle of a body is cut, and any other failure keeps its reason", () => {
    for (const code of ["ECONNRESET", "SOMETHING_NEW", "ERR_SSL_SSL/TLS_ALERT_BAD_RECORD_MAC"]) {
      assert.deepStrictEqual(failureOf({ code }, "Body"), { reason: "Cut" }, code)
    }
    assert.deepStrictEqual(failureOf({ code: "UND_ERR_BODY_TIMEOUT" }, "Body"), { reason: "Timeout" })
    assert.deepStrictEqual(failureOf({ code: "HPE_INVALID_CHUNK_SIZE" }, "Body"), { reason: "Garbled" })
  })
})
