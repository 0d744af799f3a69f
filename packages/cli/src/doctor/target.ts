import { Transport, Validation } from "@credit-data/core/Internal"
import * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Redacted from "effect/Redacted"

/** A forward proxy. */
interface Proxy {
  /** The variable that names it. */
  readonly variable: string
  readonly secure: boolean
  readonly host: string
  readonly port: number
  /** The address without user information. */
  readonly address: string
  /** The value of `Proxy-Authorization`. */
  readonly authorization: Redacted.Redacted | undefined
}

/** A server that is examined. */
export interface Target {
  /** What messages call it. */
  readonly role: "the authorization server" | "the API"
  /** The variable that contains its address. */
  readonly variable: string
  readonly url: URL
  /** The host as sockets and DNS expect it: an IPv6 address without its brackets. */
  readonly host: string
  readonly port: number
  /** Host and port, as a person writes them. */
  readonly authority: string
  readonly secure: boolean
  readonly proxy: Proxy | undefined
}

/** What is wrong with a variable. Never contains its value. */
export interface Problem {
  readonly variable: string
  readonly isMissing: boolean
  /** What the variable is, or what was expected. */
  readonly expected: string
}

const locationOf = ({ hostname, port, protocol }: URL) => {
  const secure = protocol === "https:"
  const number = port === "" ? (secure ? 443 : 80) : Number(port)
  return { secure, host: hostname.replace(/^\[|\]$/g, ""), port: number, authority: `${hostname}:${number}` }
}

/** The proxy of the first of these variables that is set. An empty variable hides the next, and names no proxy. */
const proxyIn = (variables: ReadonlyArray<string>): Proxy | undefined | Problem => {
  const variable = variables.find((name) => process.env[name] !== undefined) ?? ""
  const text = process.env[variable] ?? ""
  if (text === "") return undefined
  try {
    const url = new URL(text)
    const user = [url.username, url.password].map(decodeURIComponent).join(":")
    // an unencoded # or / in a password moves the rest of the address into a path, and the user name into the host
    if (/^https?:\/\/[^/]+\/$/.test(url.href)) {
      const { authority, ...location } = locationOf(url)
      const authorization = user === ":" ? undefined : Redacted.make(`Basic ${Buffer.from(user).toString("base64")}`)
      return { ...location, variable, address: `${url.protocol}//${authority}`, authorization }
    }
  } catch {
    // no address at all
  }
  const expected = "Expected http://HOST:PORT or http://USER:PASSWORD@HOST:PORT, special characters percent-encoded"
  return { variable, isMissing: false, expected }
}

const isProblem = (proxy: Proxy | undefined | Problem): proxy is Problem => proxy !== undefined && "isMissing" in proxy

const isExcluded = (noProxy: string, url: URL): boolean => {
  const host = url.hostname.toLowerCase()
  return noProxy === "*" || noProxy.split(/[,\s]+/).filter((entry) => entry !== "").some((entry) => {
    const [, name = entry, port] = /^(.+):(\d+)$/.exec(entry) ?? []
    const excluded = name.replace(/^\*?\./, "").toLowerCase()
    return (port === undefined || Number(port) === locationOf(url).port) &&
      (host === excluded || host.endsWith(`.${excluded}`))
  })
}

/**
 * Reads the variables of forward proxies. Decides as this program's transport does: undici's EnvHttpProxyAgent, whose NO_PROXY supports no
 * address ranges, and no proxy for loopback addresses, which would get what is sent to this machine in plain text.
 */
export const readProxies = (): {
  readonly problems: ReadonlyArray<Problem>
  readonly targetOf: (server: Pick<Target, "role" | "variable"> & { readonly address: string }) => Target
} => {
  const [http, https] = [proxyIn(["http_proxy", "HTTP_PROXY"]), proxyIn(["https_proxy", "HTTPS_PROXY"])]
  const noProxy = process.env["no_proxy"] ?? process.env["NO_PROXY"] ?? ""
  const proxyOf = (url: URL): Proxy | undefined => {
    if (Validation.isLoopback(url.hostname) || isExcluded(noProxy, url)) return undefined
    const proxy = url.protocol === "https:" ? https ?? http : http
    return isProblem(proxy) ? undefined : proxy
  }
  return {
    problems: [http, https].filter(isProblem),
    targetOf: ({ address, role, variable }) => {
      const url = new URL(address)
      return { role, variable, url, ...locationOf(url), proxy: proxyOf(url) }
    }
  }
}

/** Why a socket failed, and what to do. Core classifies and describes platform errors, so the error becomes one. */
export const explained = ({ role, url, variable }: Target, cause: unknown, address = url.href) => {
  const request = HttpClientRequest.get(address)
  const error = new HttpClientError.RequestError({ request, reason: "Transport", cause })
  const { hint, reason } = Transport.transportFailure(error, "Request")
  return { reason, hint, advice: Transport.describe(error, { name: role, address: variable }) }
}
