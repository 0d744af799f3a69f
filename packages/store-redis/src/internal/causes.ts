import { StoreError } from "@credit-data/fleet/StoreError"
import * as Predicate from "effect/Predicate"

// What the driver reports, as the code in the log and as advice. The text of an error can contain anything, so it is not passed
// on.

/** What to do about a code, for the engineer on call. */
const advice: ReadonlyArray<readonly [codes: RegExp, hint: string]> = [
  [/^ECONNREFUSED$/, "Nothing listens at the Redis address: check that it runs, and the host and the port."],
  [/^(ENOTFOUND|EAI_AGAIN)$/, "The host name of Redis does not resolve: check its address and the DNS."],
  [/^(WRONGPASS|NOAUTH)$/, "Redis rejects the user name or the password: check them in its address."],
  [/CERT|^UNABLE_TO_|^ERR_TLS_/, "The Redis certificate is not trusted: set the option tls to its authority."],
  [/^(ERR_SSL_|EPROTO)/, "Redis does not respond with TLS: check whether its address needs redis:// or another port."],
  [
    /^(MAXCLIENTS|EPIPE|ECONNRESET|CLOSED)$/,
    "Redis closes the connection: check maxclients, and whether its port expects TLS."
  ],
  [/^ETIMEDOUT$/, "Redis does not accept a connection: check for a firewall, and whether its address needs redis://."],
  [/^NOPERM$/, "The Redis user lacks a permission: compare it with acl.conf of this package."],
  [/^UNKNOWN$/, "Redis lacks a command: the server must be version 6.2 or later."],
  [/^OOM$/, "Redis is out of memory: raise maxmemory, or choose another policy."],
  [/^READONLY$/, "This server is a read-only replica: check the Redis address, or wait for the failover to end."],
  [/^(CLUSTERDOWN|MASTERDOWN|TRYAGAIN)$/, "The Redis cluster is not complete: check its nodes and its slots."],
  [/^LOADING$/, "Redis is still loading its data: wait until it has started."]
]

/** Errors that a command in a script returns. Each version of Redis puts other words before them. */
const inScript = /\b(NOPERM|OOM|READONLY|MISCONF|NOREPLICAS|CLUSTERDOWN|MASTERDOWN|TRYAGAIN|LOADING)\b/

/** The code of a driver error: the system's code, or the first word of the Redis error. */
export const codeOf = (error: unknown): string | undefined => {
  if (!Predicate.isError(error)) return undefined
  if (/max number of clients/.test(error.message)) return "MAXCLIENTS"
  if (error.name === "ReplyError") {
    if (error.message.startsWith("ERR unknown command")) return "UNKNOWN"
    return (inScript.exec(error.message) ?? /^[A-Z]+/.exec(error.message))?.[0] ?? "ERR"
  }
  return Predicate.hasProperty(error, "code") && Predicate.isString(error.code) ? error.code : undefined
}

/** The failure with this code, and what to do about it. */
export const storeError = (reason: StoreError["reason"], code: string): StoreError => {
  const [, hint] = advice.find(([codes]) => codes.test(code)) ?? []
  return new StoreError({ reason, code, ...(hint !== undefined && { hint }) })
}

/** The failure of a reply. It names the command that the user may not run. */
export const replyError = (error: Error): StoreError => {
  const [, command] = /NOPERM .*run the '([a-z|]+)' command/.exec(error.message) ?? []
  return command === undefined ? storeError("Refused", codeOf(error) ?? "ERR") : new StoreError({
    reason: "Refused",
    code: "NOPERM",
    hint: `The Redis user may not run ${command}: compare its permissions with acl.conf of this package.`
  })
}
