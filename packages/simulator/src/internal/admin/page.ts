import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import { randomText } from "./key.ts"
import { html } from "./page.generated.ts"

/** Where the nonce belongs in the built page. */
const mark = /NONCE/g

const policy = (nonce: string) =>
  [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src 'nonce-${nonce}'`,
    "connect-src 'self'",
    // its empty icon, or the browser asks for one
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'"
  ].join("; ")

/** The console: one page, whose script and style run by a nonce that is new for each response. */
export const make = Effect.map(randomText, (nonce) =>
  HttpServerResponse.text(html.replace(mark, nonce), {
    contentType: "text/html; charset=utf-8",
    headers: { "content-security-policy": policy(nonce) }
  }))
