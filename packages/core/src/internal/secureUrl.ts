import * as Either from "effect/Either"
import type { Parsed } from "./configuration.ts"
import * as field from "./field.ts"

const isLoopback = (host: string) => host === "localhost" || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host)

/**
 * Checks the address of a server to which a secret or a token may be sent: over TLS, or in clear text to this machine only
 * (contract, section 2). User information, a query and a fragment are refused, because they would be sent or logged. The address
 * is returned without a slash at its end.
 */
export const secureUrl = (text: string): Parsed<string> => {
  // an invisible character would be the reason
  if (!URL.canParse(text)) return Either.flatMap(field.text(text), () => Either.left("Expected an absolute URL"))
  const url = new URL(text)
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLoopback(url.hostname))) {
    return Either.left("Expected https (http only for localhost, 127.0.0.0/8 and [::1])")
  }
  if (url.username !== "" || url.password !== "") return Either.left("Expected a URL without user information")
  if (/[?#]/.test(text)) return Either.left("Expected a URL without a query or a fragment")
  return Either.right(url.href.replace(/\/+$/, ""))
}

/** Checks an address to which the program adds a path. Users sometimes set the whole address by mistake. */
export const withoutPath = (path: `/${string}`) => (text: string): Parsed<string> =>
  Either.filterOrLeft(secureUrl(text), (url) => !url.endsWith(path), () => `Expected the address without ${path}`)
