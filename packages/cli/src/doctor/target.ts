import * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Option from "effect/Option"
import { portOf, type Proxy } from "./proxy.ts"

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
  readonly secure: boolean
  readonly proxy: Option.Option<Proxy>
}

export const make = (
  server: Pick<Target, "role" | "variable"> & { readonly address: string },
  proxyOf: (url: URL) => Option.Option<Proxy>
): Target => {
  const { address, role, variable } = server
  const url = new URL(address)
  return {
    role,
    variable,
    url,
    host: bare(url.hostname),
    port: portOf(url),
    secure: url.protocol === "https:",
    proxy: proxyOf(url)
  }
}

/** A host without the brackets of an IPv6 address. */
export const bare = (hostname: string): string => hostname.replace(/^\[|\]$/g, "")

/** Host and port, as a person writes them. */
export const authority = ({ port, url }: Target): string => `${url.hostname}:${port}`

/** A socket error as a platform error, because core classifies and describes platform errors. */
export const requestError = (url: string, cause: unknown): HttpClientError.RequestError =>
  new HttpClientError.RequestError({ request: HttpClientRequest.get(url), reason: "Transport", cause })
