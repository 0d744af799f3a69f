import { Validation } from "@credit-data/core/Internal"
import type { RedisOptions } from "ioredis"
import { codeOf } from "./causes.ts"

/**
 * After this time without a response, the connection counts as dead, and the driver connects again. A dead connection would not end by
 * itself. The callers have requested their own tokens long before.
 */
const socketTimeout = 2_000
const connectTimeout = 2_000

/** A connection is idle for hours, and a firewall on the way may drop it. */
const keepAlive = 30_000

/** An address as the error for a missing variable shows it. */
export const example = "rediss://user:password@redis.example:6379"

/** What was expected instead of a wrong address. */
export const problem = (
  text: string,
  { tls, unencrypted }: { readonly tls?: unknown; readonly unencrypted?: boolean | undefined }
): string | undefined => {
  // they end the host, so a password with one of them would leave the user as the host
  if (/[#?]/.test(text)) return "Expected each # and ? in the user name or the password to be written as %23 and %3F"
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^rediss?:$/.test(url.protocol) || url.hostname === "") {
    return `Expected a Redis address, for example ${example}`
  }
  const isPlain = url.protocol === "redis:"
  const rules: ReadonlyArray<readonly [isBroken: boolean, expected: string]> = [
    [!/^\/?\d*$/.test(url.pathname), "Expected a database number as the path, and each / in the password as %2F"],
    [isPlain && tls !== undefined, "Expected rediss:// for the settings of TLS"],
    [
      isPlain && unencrypted !== true && !Validation.isLoopback(url.hostname),
      "Expected rediss:// for a host that is not this machine"
    ],
    [
      /%(?![0-9a-f]{2})/i.test(url.username + url.password),
      "Expected each % in the user name or the password to be written as %25"
    ]
  ]
  return rules.find(([isBroken]) => isBroken)?.[1]
}

/** The user and the password of an address. */
export const userOf = ({ password, username }: URL): Pick<RedisOptions, "password" | "username"> => ({
  ...(username !== "" && { username: decodeURIComponent(username) }),
  ...(password !== "" && { password: decodeURIComponent(password) })
})

/**
 * After a failover, the server that was the master is a replica, and a new connection leads to the new master. A server that has begun to
 * require a password keeps a connection open on which it accepts no command, and a new connection sends the password.
 */
const reconnecting: ReadonlySet<string> = new Set(["READONLY", "NOAUTH"])

/** The settings of a connection to the server at an address. */
export const settingsOf = (url: URL, tls: RedisOptions["tls"] = {}): RedisOptions => ({
  ...userOf(url),
  host: url.hostname.replace(/^\[|\]$/g, ""),
  port: Number(url.port || 6379),
  db: Number(url.pathname.slice(1)),
  ...(url.protocol === "rediss:" && { tls }),
  // a connection with a name waits for a round trip before the first operation
  disableClientInfo: true,
  socketTimeout,
  connectTimeout,
  keepAlive,
  disconnectTimeout: 100,
  // an operation whose connection is cut fails at once
  maxRetriesPerRequest: 0,
  enableOfflineQueue: false,
  // it costs the first operation a round trip, and shows no more than the result of that operation
  enableReadyCheck: false,
  retryStrategy: (times) => Math.min(times * 200, 2_000),
  reconnectOnError: (error) => reconnecting.has(codeOf(error) ?? "")
})
