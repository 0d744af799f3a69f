import type { TokenError } from "@credit-data/core"
import { HttpClientError, HttpClientRequest } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { requestToken } from "./support/tokenEndpoint.ts"

const failing = (cause: unknown) =>
  Effect.flip(requestToken(
    new HttpClientError.RequestError({ request: HttpClientRequest.get("/"), reason: "Transport", cause })
  ))

/** A cause that leads back to itself in many ways. */
const crowd: { readonly errors: Array<unknown>; readonly cause: unknown } = { errors: [], cause: { code: "EPIPE" } }
for (let count = 0; count < 8; count++) crowd.errors.push(crowd)

const circular: { cause?: unknown; code: string } = { code: "UNKNOWN" }
circular.cause = circular

describe("why a transport failed", () => {
  const rows: ReadonlyArray<readonly [cause: unknown, reason: TokenError.TransportReason]> = [
    [{ code: "ENOTFOUND" }, "NameNotFound"],
    [{ code: "EAI_AGAIN" }, "NameNotFound"],
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
    [{ code: "EPROTO" }, "Tls"],
    [{ code: "CERT_HAS_EXPIRED" }, "Tls"],
    [{ code: "DEPTH_ZERO_SELF_SIGNED_CERT" }, "Tls"],
    [{ code: "SELF_SIGNED_CERT_IN_CHAIN" }, "Tls"],
    [{ code: "UNABLE_TO_VERIFY_LEAF_SIGNATURE" }, "Tls"],
    [{ code: "ECONNRESET" }, "Reset"],
    [{ code: "EPIPE" }, "Reset"],
    [{ code: "UND_ERR_SOCKET" }, "Reset"],
    [{ code: "SOMETHING_NEW" }, "Other"],
    [{ code: 42 }, "Other"],
    [{ name: "Error" }, "Other"],
    ["a string", "Other"],
    [undefined, "Other"],
    [new TypeError("fetch failed", { cause: { code: "ECONNREFUSED" } }), "Refused"],
    [{ code: "SOMETHING_NEW", cause: { cause: { code: "CERT_HAS_EXPIRED" } } }, "Tls"],
    [{ errors: [{ code: "SOMETHING_NEW" }, { code: "ENETUNREACH" }], cause: { code: "EPIPE" } }, "Unreachable"],
    [{ errors: "none", cause: { code: "EPIPE" } }, "Reset"],
    [circular, "Other"],
    [crowd, "Reset"]
  ]
  for (const [cause, reason] of rows) {
    it.effect(`${reason}, for ${typeof cause === "object" && cause !== circular && cause !== crowd ? JSON.stringify(cause) : "another"}`, () =>
      Effect.gen(function*() {
        const error = yield* failing(cause)
        assert.deepInclude({ ...error }, { _tag: "TransportError", reason })
        assert.strictEqual(error.retryable, reason !== "Tls")
      }))
  }
})
