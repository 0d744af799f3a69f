import { Validation } from "@credit-data/core/Internal"
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Redacted from "effect/Redacted"
import { invalidKey } from "./invalidKey.ts"

/** No other site may read, embed or send anything, and no response is stored. */
const headers = {
  "cache-control": "no-store",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY"
}

/**
 * Whether a request comes from no other site, and from this machine unless others may use the server. A foreign `Host` is a name
 * that resolves to this machine (DNS rebinding); a foreign `Origin` is a page of another site.
 */
export const isOwn = (
  { headers: { host, origin } }: HttpServerRequest.HttpServerRequest,
  isPublic: boolean
): boolean =>
  host !== undefined && (isPublic || Validation.isLoopback(host.replace(/:\d+$/, ""))) &&
  (origin === undefined || origin === `http://${host}`)

/** The key of a request. */
export const keyOf = ({ headers }: HttpServerRequest.HttpServerRequest): Redacted.Redacted =>
  Redacted.make(headers["x-api-key"] ?? "")

export const unauthorized = HttpServerResponse.unsafeJson(
  { _tag: invalidKey._tag, message: invalidKey.message },
  { status: 401 }
)

export const forbidden = HttpServerResponse.text("The console responds only to pages and programs of this machine.\n", {
  status: 403
})

export const protect = HttpServerResponse.setHeaders(headers)
