import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"

/** No other site may read, embed or send anything, and no response is stored. */
const headers = {
  "cache-control": "no-store",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY"
}

const authority = /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/

/**
 * Whether a request comes from this machine and from no other site. A foreign `Host` is a name that resolves to this machine (DNS
 * rebinding); a foreign `Origin` is a page of another site.
 */
export const isOwn = ({ headers: { host, origin } }: HttpServerRequest.HttpServerRequest): boolean =>
  host !== undefined && authority.test(host) && (origin === undefined || origin === `http://${host}`)

export const forbidden = HttpServerResponse.text("The console responds only to pages and programs of this machine.\n", {
  status: 403
})

export const protect = HttpServerResponse.setHeaders(headers)
