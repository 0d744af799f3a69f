import * as Predicate from "effect/Predicate"
import type { TransportReason } from "../TokenError.ts"

/** Where in the exchange the connection failed. */
export type Stage = "Request" | "Body"

// Codes of Node's system errors, of OpenSSL by way of Node, of undici and of Node's HTTP parser.
const byCode: ReadonlyArray<readonly [pattern: RegExp, reason: TransportReason]> = [
  [/^(ENOTFOUND|EAI_[A-Z]+)$/, "NameNotFound"],
  [/^(ECONNREFUSED|ConnectionRefused)$/, "Refused"],
  [/^(EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN|EADDRNOTAVAIL)$/, "Unreachable"],
  [/^(ETIMEDOUT|UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT)$/, "Timeout"],
  [/^(HPE_|UND_ERR_(RES_CONTENT_LENGTH_MISMATCH|HEADERS_OVERFLOW))/, "Garbled"],
  [
    /^(ERR_TLS_|ERR_SSL_|EPROTO$|CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|INVALID_CA|INVALID_PURPOSE|HOSTNAME_MISMATCH)/,
    "Tls"
  ],
  [/^(ECONNRESET|ECONNABORTED|EPIPE|UND_ERR_SOCKET|ERR_STREAM_PREMATURE_CLOSE|ConnectionClosed)$/, "Reset"]
]

/** An error and everything that it says it was caused by, each once, for causes can be circular. */
const chain = (error: unknown, found = new Set<unknown>()): ReadonlySet<unknown> => {
  if (!Predicate.isObject(error) || found.has(error) || found.size === 64) return found
  found.add(error)
  if (Predicate.hasProperty(error, "errors") && Array.isArray(error.errors)) {
    for (const each of error.errors) chain(each, found)
  }
  return Predicate.hasProperty(error, "cause") ? chain(error.cause, found) : found
}

const ofError = (error: unknown): TransportReason | undefined => {
  if (Predicate.hasProperty(error, "code") && Predicate.isString(error.code)) {
    const { code } = error
    return byCode.find(([pattern]) => pattern.test(code))?.[1]
  }
  // undici's parser doesn't always have a code
  return Predicate.hasProperty(error, "name") && error.name === "HTTPParserError" ? "Garbled" : undefined
}

/** Names why a transport failed. Whatever ends the connection in the middle of a body cut the answer. */
export const transportReason = (error: unknown, stage: Stage): TransportReason => {
  const found = Array.from(chain(error), ofError).find(Predicate.isNotUndefined) ?? "Other"
  return stage === "Body" && (found === "Reset" || found === "Other") ? "Cut" : found
}
