import * as HttpClientError from "@effect/platform/HttpClientError"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import type * as Duration from "effect/Duration"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Struct from "effect/Struct"
import type { TransportReason } from "../TokenError.ts"
import * as advice from "./advice.ts"
import { happened } from "./failureText.ts"
import { requestReason, responseReason } from "./httpError.ts"
import { printable, withoutSecrets } from "./printable.ts"
import { transportReasons } from "./transportReason.ts"

// Why a transport failed, and what of its error is safe to pass on.

/** Where in the exchange the connection failed. */
export type Stage = "Request" | "Body"

/** What is known of a failure of the transport. No part of it comes from a text that could quote a request. */
export interface TransportFailure {
  readonly reason: TransportReason
  /** The forward proxy that failed, with its port if the transport reports it. */
  readonly proxy?: string | undefined
  /** The status with which a forward proxy refused the connection. */
  readonly proxyStatus?: number | undefined
  /** The time limit that passed, if it was ours and not the transport's. */
  readonly deadline?: Duration.Duration | undefined
  /** What to do, if more than the reason is known. */
  readonly hint?: string | undefined
}

const names = Struct.keys(transportReasons)

/** The errors that an `AggregateError` has joined. */
const joined = (error: unknown): ReadonlyArray<unknown> =>
  Predicate.hasProperty(error, "errors") && Array.isArray(error.errors) ? error.errors : []

/** An error and all its causes. Each is listed once, because causes can be circular. */
const chain = (error: unknown, found = new Set<unknown>()): ReadonlySet<unknown> => {
  if (!Predicate.isObject(error) || found.has(error) || found.size === 64) return found
  found.add(error)
  for (const each of joined(error)) chain(each, found)
  return Predicate.hasProperty(error, "cause") ? chain(error.cause, found) : found
}

/** A text of an error, which can be any value, also of another realm. */
export const textIn = (
  error: unknown,
  name: "code" | "name" | "message" | "hostname" | "address"
): string => {
  const value: unknown = Predicate.hasProperty(error, name) ? error[name] : undefined
  return Predicate.isString(value) ? value : ""
}

const port = (error: unknown): string => {
  const value: unknown = Predicate.hasProperty(error, "port") ? error.port : undefined
  return Predicate.isNumber(value) || Predicate.isString(value) ? String(value) : ""
}

/** Node reports in the text why an HTTP/2 server ended a stream. This one was not processed, so it can be sent again (RFC 9113, 8.7). */
const isRefusedStream = (error: unknown): boolean =>
  textIn(error, "code") === "ERR_HTTP2_STREAM_ERROR" && textIn(error, "message").endsWith("NGHTTP2_REFUSED_STREAM")

const reasonOf = (error: unknown): TransportReason | undefined => {
  if (isRefusedStream(error)) return "Reset"
  const code = textIn(error, "code")
  return names.find((name) => transportReasons[name].codes?.test(code)) ??
    // errors of undici's parser do not always have a code
    (textIn(error, "name") === "HTTPParserError" ? "Garbled" : undefined)
}

/** The texts of undici and of hpagent, whose errors have no code. */
const proxyResponse = /^(?:Proxy response \(|Bad response: )(\d{3})\b/

/** The status with which a forward proxy refused a tunnel. Node's own agent reports it beside a code. */
const proxyStatusOf = (error: unknown): number | undefined => {
  const status = textIn(error, "code") === "ERR_PROXY_TUNNEL" && Predicate.hasProperty(error, "statusCode")
    ? error.statusCode
    : proxyResponse.exec(textIn(error, "message"))?.[1]
  return status === undefined ? undefined : Number(status)
}

const portOf = (url: URL): string => url.port === "" ? (url.protocol === "https:" ? "443" : "80") : url.port

/**
 * The forward proxy, if the host or port of the failed connection differs from the URL's. `HTTPS_PROXY` is not read, because it may belong
 * to another transport.
 */
const proxyOf = (error: unknown, url: URL): string | undefined => {
  const hostname = textIn(error, "hostname")
  if (hostname !== "") return hostname === url.hostname.replace(/^\[|\]$/g, "") ? undefined : hostname
  const at = port(error)
  return at === "" || at === portOf(url) ? undefined : `${textIn(error, "address")}:${at}`
}

/** A server reports in an alert of TLS why it ended a handshake. Only OpenSSL's text or code contains the alert. */
const alerts: ReadonlyArray<readonly [pattern: RegExp, failure: TransportFailure]> = [
  [/wrong[ _]version[ _]number|packet[ _]length[ _]too[ _]long|http[ _]request/i, {
    reason: "Tls",
    hint: advice.notTls
  }],
  [
    /alert[ _](?:certificate|(?:bad|unsupported)[ _]certificate|unknown[ _]ca|access[ _]denied)/i,
    { reason: "ClientCertificate" }
  ],
  [
    /no[ _]application[ _]protocol|protocol[ _]version|(?:unsupported|no)[ _]protocol|handshake[ _]failure|insufficient[ _]security/i,
    { reason: "Tls" }
  ]
]

const alertOf = (error: unknown) => {
  const texts = `${textIn(error, "message")} ${textIn(error, "code")}`
  return alerts.find(([pattern]) => pattern.test(texts))?.[1]
}

/** Node tries each address of a name for a moment only, and then reports the failures together. */
const isAddressTimeout = (error: unknown): boolean => joined(error).some((each) => textIn(each, "code") === "ETIMEDOUT")

/** Did a transport fail to decompress a body? (A body that is cut fails with another code.) */
export const isEncodingFault = (error: HttpClientError.HttpClientError): boolean =>
  Array.from(chain(error.cause)).some((each) =>
    /^(Z_(DATA|STREAM)_ERROR|ERR__ERROR_|ZSTD_error_)/.test(textIn(each, "code"))
  )

/** Returns why a transport failed. A connection that ends in the middle of a body is `Cut`. */
export const transportFailure = (error: HttpClientError.HttpClientError, stage: Stage): TransportFailure => {
  if (requestReason(error) === "InvalidUrl" || requestReason(error) === "Encode") return { reason: "NotAllowed" }
  const errors = Array.from(chain(error.cause))
  const proxyStatus = errors.map(proxyStatusOf).find(Predicate.isNotUndefined)
  if (proxyStatus !== undefined) return { reason: "Proxy", proxyStatus }
  const reason = errors.map(reasonOf).find(Predicate.isNotUndefined) ?? "Other"
  // the code of another reason outweighs the words of a message
  const alert = reason === "Tls" || reason === "Cut" || reason === "Other"
    ? errors.map(alertOf).find(Predicate.isNotUndefined)
    : undefined
  // with TLS 1.3, a server requires a certificate after the client's handshake has ended
  if (alert !== undefined && (alert.reason === "ClientCertificate" || stage === "Request")) return alert
  if (stage === "Body") return { reason: reason === "Reset" || reason === "Other" || reason === "Tls" ? "Cut" : reason }
  if (errors.some(isAddressTimeout)) return { reason: "Timeout" }
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
    default:
      return { reason }
  }
}

/** The response of an error, if it has one. */
export const responseOf = (error: HttpClientError.HttpClientError): HttpClientResponse.HttpClientResponse | undefined =>
  "response" in error ? error.response : undefined

/** Whether a client refused a response status, as `HttpClient.filterStatusOk` does. Such an error carries the response. */
export const isStatusError = (
  error: unknown
): error is HttpClientError.HttpClientError & { readonly response: HttpClientResponse.HttpClientResponse } =>
  HttpClientError.isHttpClientError(error) && responseReason(error) === "StatusCode"

/** Why a request got no complete response, as a reason of `TransportError`. */
export const reason = (error: HttpClientError.HttpClientError): TransportReason =>
  transportFailure(error, "Request").reason

/** Whether a later attempt can succeed after this failure. */
export const isRetryable = (reason: TransportReason): boolean => transportReasons[reason].lasts !== true

/** Describes what happened to a request that got no complete response, and what to do. For the engineer on call. */
export const describe = (error: HttpClientError.HttpClientError, server: {
  /** The server that did not respond, such as `the API`. */
  readonly name: string
  /** Where the address of the server is set, such as the name of a variable. */
  readonly address: string
}, stage: Stage = "Request"): string => {
  const failure = transportFailure(error, stage)
  const todo = failure.hint ?? advice.transport(failure.reason, server.name, server.address)
  const what = stage === "Request" ? `No response from ${server.name}` : `No complete response from ${server.name}`
  return `${what}: ${happened(failure)}. ${todo}`
}

/** The maximum number of nested causes that are copied. */
const maxDepth = 8

/**
 * A copy of a foreign error that is safe to pass on: name, message and code, and the same parts of its causes. Each text is printable, and
 * the secrets in it are replaced. Nothing else is kept, because errors can contain bytes of the connection, or the whole request.
 */
export const foreignError = (error: unknown, secrets: ReadonlyArray<Redacted.Redacted>, depth = 0): unknown => {
  const shown = (value: string) => printable(withoutSecrets(value, secrets.map((secret) => Redacted.value(secret))))
  if (Predicate.isString(error)) return shown(error)
  if (!Predicate.isObject(error)) return undefined
  const next = Predicate.hasProperty(error, "cause") && error.cause !== undefined ? error.cause : joined(error)[0]
  const cause = depth < maxDepth ? foreignError(next, secrets, depth + 1) : undefined
  const copy = new Error(shown(textIn(error, "message")), cause === undefined ? {} : { cause })
  const code = textIn(error, "code")
  copy.name = shown(textIn(error, "name")) || "Error"
  // the stack would only show where the error was copied
  copy.stack = `${copy.name}: ${copy.message}`
  return Object.assign(copy, { code: code === "" ? undefined : shown(code) })
}
