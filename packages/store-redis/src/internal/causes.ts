import { Transport } from "@credit-data/core/Internal"
import { StoreError } from "@credit-data/fleet/StoreError"

// What the driver reports, as the code in the log and as advice. The text of an error can contain anything, so it is not passed
// on.

/** What to do about a code, for the engineer on call. */
const advice: ReadonlyArray<readonly [codes: RegExp, hint: string]> = [
  [/^ECONNREFUSED$/, "Nothing listens at the Redis address: check that it runs, and the host and the port."],
  [/^(ENOTFOUND|EAI_AGAIN)$/, "The host name of Redis does not resolve: check its address and the DNS."],
  [/^(WRONGPASS|NOAUTH)$/, "Redis rejects the user name or the password: check them in its address."],
  [
    /^ERR_SSL_.*(CERTIFICATE_REQUIRED|HANDSHAKE_FAILURE)/,
    "Redis requires a certificate of its clients: set the option tls to one and its key."
  ],
  [/CERT|^UNABLE_TO_|^ERR_TLS_/, "The Redis certificate is not trusted: set the option tls to its authority."],
  [/^(ERR_SSL_|EPROTO)/, "Redis does not respond with TLS: check whether its address needs redis:// or another port."],
  [/^MAXCLIENTS$/, "Redis has too many connections: raise maxclients, or look for clients that keep theirs."],
  [
    /^(EPIPE|ECONNRESET|CLOSED)$/,
    "Redis closes the connection: check whether its port expects TLS (rediss://), and maxclients."
  ],
  [/^ETIMEDOUT$/, "Redis does not accept a connection: check for a firewall, and whether its address needs redis://."],
  [/^NOPERM$/, "The Redis user lacks a permission: compare it with acl.conf of this package."],
  [/^UNKNOWN$/, "Redis lacks a command: the server must be version 6.2 or later."],
  [/^OOM$/, "Redis is out of memory: raise maxmemory, or choose another policy."],
  [/^(READONLY|MASTERDOWN)$/, "This server is a replica: check the Redis address, or wait for the failover to end."],
  [/^NOREPLICAS$/, "Redis refuses writes while it has too few replicas: check them, and min-replicas-to-write."],
  [/^(MOVED|ASK)$/, "This server belongs to a Redis cluster: pass a Cluster of ioredis to layerClient."],
  [/^(CLUSTERDOWN|TRYAGAIN)$/, "The Redis cluster is not complete: check its nodes and its slots."],
  [/^BUSY$/, "A script of another program keeps Redis busy: end it with SCRIPT KILL, or wait for its end."],
  [/^LOADING$/, "Redis is still loading its data: wait until it has started."],
  [/^ERR$/, "Redis refuses a command: check that it is version 6.2 or later, and whether a proxy is in between."]
]

/** Errors that a command in a script returns. Each version of Redis puts other words before them. */
const inScript = /\b(NOPERM|OOM|READONLY|MISCONF|NOREPLICAS|CLUSTERDOWN|MASTERDOWN|TRYAGAIN|LOADING)\b/

/** An error that the server has returned. */
export const isReplyError = (error: unknown): boolean => Transport.textIn(error, "name") === "ReplyError"

/** The code of a driver error: the system's code, or the first word of the Redis error. */
export const codeOf = (error: unknown): string | undefined => {
  const message = Transport.textIn(error, "message")
  if (/max number of clients/.test(message)) return "MAXCLIENTS"
  if (isReplyError(error)) {
    if (message.startsWith("ERR unknown command")) return "UNKNOWN"
    return (inScript.exec(message) ?? /^[A-Z]+/.exec(message))?.[0] ?? "ERR"
  }
  return /^(Command timed out|Socket timeout)/.test(message) ? "Timeout" : Transport.textIn(error, "code") || undefined
}

/** The failure with this code, and what to do about it. */
export const storeError = (reason: StoreError["reason"], code: string): StoreError => {
  const [, hint] = advice.find(([codes]) => codes.test(code)) ?? []
  return new StoreError({ reason, code, ...(hint !== undefined && { hint }) })
}

/** The failure of a reply. It names the command that the user may not run. */
export const replyError = (error: unknown): StoreError => {
  const [, command] = /NOPERM .*run the '([a-z|]+)' command/.exec(Transport.textIn(error, "message")) ?? []
  return command === undefined ? storeError("Refused", codeOf(error) ?? "ERR") : new StoreError({
    reason: "Refused",
    code: "NOPERM",
    hint: `The Redis user may not run ${command}: compare its permissions with acl.conf of this package.`
  })
}
