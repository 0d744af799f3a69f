import { within } from "@credit-data/core/Internal"
import * as Variables from "@credit-data/core/Variables"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { Cluster, Redis, type RedisOptions } from "ioredis"
import type { Options } from "../RedisTokenStore.ts"

/** After this time without a response, the connection counts as dead. The callers have requested their own tokens long before. */
const commandTimeout = 2_000
const connectTimeout = 2_000

/** A server that was stopped does not respond to `QUIT`, and closing a scope takes at most a second. */
const quitTimeout = "500 millis"

/** A connection is idle for hours, and a firewall on the way may drop it. */
const keepAlive = 30_000

const isLocal = (host: string) => /^(localhost|127(\.\d+){3}|\[?::1\]?)$/i.test(host)

/** An address as the error for a missing variable shows it. */
export const example = "rediss://user:password@redis.example:6379"

/** The address, or what was expected instead. */
const parse = (text: string, options: Omit<Options, "url">): URL | string => {
  const expected = `Expected a Redis address, for example ${example}`
  if (!URL.canParse(text)) return expected
  const url = new URL(text)
  if ((url.protocol !== "redis:" && url.protocol !== "rediss:") || url.hostname === "") return expected
  if (!/^\/?\d*$/.test(url.pathname)) return "Expected a database number as the path"
  if (options.cluster === true && options.sentinels !== undefined) return "Expected either a cluster or sentinels"
  if (options.cluster === true && url.pathname.length > 1) return "Expected no database, because a cluster has only one"
  if (url.protocol === "redis:" && options.tls !== undefined) return "Expected rediss:// for the settings of TLS"
  // the other servers are only known later
  const isKnown = options.cluster !== true && options.sentinels === undefined
  if (url.protocol === "redis:" && options.unencrypted !== true && !(isKnown && isLocal(url.hostname))) {
    return "Expected rediss:// for a host that is not this machine, for sentinels and for a cluster"
  }
  try {
    decodeURIComponent(`${url.username}${url.password}`)
  } catch {
    return "Expected each % in the user name or the password to be written as %25"
  }
  return url
}

const connect = (url: URL, options: Options): Redis | Cluster => {
  const tls = url.protocol === "rediss:" ? { tls: options.tls ?? {} } : {}
  const common: RedisOptions = {
    ...tls,
    ...(url.username === "" ? {} : { username: decodeURIComponent(url.username) }),
    ...(url.password === "" ? {} : { password: decodeURIComponent(url.password) }),
    // a connection with a name waits for a round trip before the first operation
    disableClientInfo: true,
    commandTimeout,
    connectTimeout,
    keepAlive,
    disconnectTimeout: 100,
    maxRetriesPerRequest: 1,
    enableOfflineQueue: false,
    // it costs the first operation a round trip, and only with sentinels it shows more than the result of that operation: the
    // role
    enableReadyCheck: options.sentinels !== undefined,
    autoResendUnfulfilledCommands: false,
    retryStrategy: (times) => Math.min(times * 200, 2_000),
    // after a failover, the server that was the master is a replica
    reconnectOnError: (error) => error.message.startsWith("READONLY")
  }
  const server = { host: url.hostname.replace(/^\[|\]$/g, ""), port: Number(url.port || 6379) }
  if (options.cluster === true) {
    return new Cluster([server], {
      enableOfflineQueue: false,
      clusterRetryStrategy: (times) => Math.min(times * 200, 2_000),
      redisOptions: common
    })
  }
  const database = { db: Number(url.pathname.slice(1) || 0) }
  return options.sentinels === undefined ? new Redis({ ...common, ...database, ...server }) : new Redis({
    ...common,
    ...database,
    name: url.hostname,
    sentinels: options.sentinels.map(({ host, port }) => ({ host, port })),
    ...(options.sentinelPassword === undefined ? {} : { sentinelPassword: Redacted.value(options.sentinelPassword) }),
    ...(url.protocol === "rediss:" ? { sentinelTLS: options.tls ?? {}, enableTLSForSentinelMode: true } : {})
  })
}

/** What was expected instead of a wrong address. */
export const problem = (text: string, options: Omit<Options, "url">): string | undefined => {
  const url = parse(text, options)
  return typeof url === "string" ? url : undefined
}

/** A connection that belongs to the scope. */
export const make = (
  options: Options
): Effect.Effect<Redis | Cluster, ConfigError.ConfigError, Scope.Scope> =>
  Effect.gen(function*() {
    const url = parse(Redacted.value(options.url), options)
    if (typeof url === "string") return yield* Effect.fail(Variables.invalid(["url"], url))
    return yield* Effect.acquireRelease(
      Effect.sync(() => {
        const client = connect(url, options)
        // each operation reports the failure itself, and an `error` event without a listener ends the process
        client.on("error", () => {})
        client.setMaxListeners(0)
        return client
      }),
      (client) =>
        Effect.promise(() => client.status === "ready" ? client.quit().catch(() => {}) : Promise.resolve()).pipe(
          within(quitTimeout, () => undefined),
          Effect.ignore,
          Effect.ensuring(Effect.sync(() => client.disconnect()))
        )
    )
  })
