import type * as HttpClientError from "@effect/platform/HttpClientError"
import * as Predicate from "effect/Predicate"
import type { TransportReason } from "../TokenError.ts"

/** Where in the exchange the connection failed. */
export type Stage = "Request" | "Body"

/** What is known of a failure of the transport. No part of it comes from a text that could quote a request. */
export interface TransportFailure {
  readonly reason: TransportReason
  /** Host and port of the forward proxy that failed, if the transport reports them. */
  readonly proxy?: string | undefined
  /** The status with which a forward proxy refused the connection. */
  readonly proxyStatus?: number | undefined
  /** The server speaks another protocol: probably plain HTTP instead of TLS, or HTTP/2 only. */
  readonly protocol?: "NotTls" | "Http2Only" | undefined
}

// Codes of Node's system errors, of OpenSSL through Node, of undici and of Node's HTTP parser.
const byCode: ReadonlyArray<readonly [pattern: RegExp, reason: TransportReason]> = [
  [/^ENOTFOUND$/, "NameNotFound"],
  [/^EAI_[A-Z]+$/, "NameServiceFailed"],
  [/^(ECONNREFUSED|ConnectionRefused)$/, "Refused"],
  [/^(EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN|EADDRNOTAVAIL)$/, "Unreachable"],
  [/^(ETIMEDOUT|UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT)$/, "Timeout"],
  [/^(HPE_|UND_ERR_(RES_CONTENT_LENGTH_MISMATCH|HEADERS_OVERFLOW))/, "Garbled"],
  // the handshake failed while a write was waiting for it
  [/^EPROTO$/, "Tls"],
  [
    /^(ERR_TLS_|ERR_SSL_|CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|INVALID_CA|INVALID_PURPOSE|HOSTNAME_MISMATCH)/,
    "Tls"
  ],
  [/^(ECONNRESET|ECONNABORTED|EPIPE|UND_ERR_SOCKET|ERR_STREAM_PREMATURE_CLOSE|ConnectionClosed)$/, "Reset"]
]

/** An error and all its causes. Each is listed once, because causes can be circular. */
const chain = (error: unknown, found = new Set<unknown>()): ReadonlySet<unknown> => {
  if (!Predicate.isObject(error) || found.has(error) || found.size === 64) return found
  found.add(error)
  if (Predicate.hasProperty(error, "errors") && Array.isArray(error.errors)) {
    for (const each of error.errors) chain(each, found)
  }
  return Predicate.hasProperty(error, "cause") ? chain(error.cause, found) : found
}

const text = (error: unknown, name: "code" | "name" | "message" | "stack" | "hostname" | "address"): string => {
  const value: unknown = Predicate.hasProperty(error, name) ? error[name] : undefined
  return Predicate.isString(value) ? value : ""
}

const port = (error: unknown): string => {
  const value: unknown = Predicate.hasProperty(error, "port") ? error.port : undefined
  return Predicate.isNumber(value) || Predicate.isString(value) ? String(value) : ""
}

const reasonOf = (error: unknown): TransportReason | undefined => {
  const code = text(error, "code")
  return byCode.find(([pattern]) => pattern.test(code))?.[1] ??
    // errors of undici's parser do not always have a code
    (text(error, "name") === "HTTPParserError" ? "Garbled" : undefined)
}

/** The texts of undici and of hpagent, whose errors have no code. */
const proxyResponse = /^(?:Proxy response \(|Bad response: )(\d{3})\b/

/** The status with which a forward proxy refused a tunnel. Node's own agent reports it beside a code. */
const proxyStatusOf = (error: unknown): number | undefined => {
  const status = text(error, "code") === "ERR_PROXY_TUNNEL" && Predicate.hasProperty(error, "statusCode")
    ? error.statusCode
    : proxyResponse.exec(text(error, "message"))?.[1]
  return status === undefined ? undefined : Number(status)
}

const portOf = (url: URL): string => url.port === "" ? (url.protocol === "https:" ? "443" : "80") : url.port

/** The forward proxy, if the host or port of the failed connection differs from the URL's. */
const proxyOf = (error: unknown, url: URL): string | undefined => {
  const hostname = text(error, "hostname")
  if (hostname !== "") return hostname === url.hostname.replace(/^\[|\]$/g, "") ? undefined : hostname
  const at = port(error)
  return at === "" || at === portOf(url) ? undefined : `${text(error, "address")}:${at}`
}

/** OpenSSL reports a first record that is not TLS only in its text. A server without HTTP/1.1 ends the handshake with an alert. */
const protocolOf = (error: unknown): TransportFailure["protocol"] =>
  /wrong version number|packet length too long|http request/i.test(text(error, "message"))
    ? "NotTls"
    : text(error, "code").endsWith("NO_APPLICATION_PROTOCOL")
    ? "Http2Only"
    : undefined

/**
 * Node reports a failed handshake as EPROTO, and a later TLS failure with a code of OpenSSL. undici, and so `fetch`, uses the
 * codes of OpenSSL for the handshake and reports no TLS failure after it. The errors are the same, so the stack decides: it shows
 * where the platform received the error.
 */
const isAfterHandshake = (code: string, error: HttpClientError.HttpClientError): boolean =>
  code.startsWith("ERR_SSL_") && text(error, "stack").includes("node:_http_client")

/** Returns why a transport failed. A connection that ends in the middle of a body is `Cut`. */
export const transportFailure = (error: HttpClientError.HttpClientError, stage: Stage): TransportFailure => {
  const errors = Array.from(chain(error.cause))
  const proxyStatus = errors.map(proxyStatusOf).find(Predicate.isNotUndefined)
  if (proxyStatus !== undefined) return { reason: "Proxy", proxyStatus }
  const failed = errors.find((each) => reasonOf(each) !== undefined)
  const reason = reasonOf(failed) ?? "Other"
  if (stage === "Body") return { reason: reason === "Reset" || reason === "Other" || reason === "Tls" ? "Cut" : reason }
  switch (reason) {
    case "NameNotFound":
    case "Refused":
    case "Unreachable": {
      const { url } = error.request
      const proxy = URL.canParse(url)
        ? errors.map((each) => proxyOf(each, new URL(url))).find(Predicate.isNotUndefined)
        : undefined
      return proxy === undefined ? { reason } : { reason: "Proxy", proxy }
    }
    case "Tls":
      return protocolOf(failed) !== "Http2Only" && isAfterHandshake(text(failed, "code"), error)
        ? { reason: "Cut" }
        : { reason, protocol: protocolOf(failed) }
    default:
      return { reason }
  }
}
