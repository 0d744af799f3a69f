import { within } from "@credit-data/core/Internal"
import * as Variables from "@credit-data/core/Variables"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { Cluster, Redis, type RedisOptions } from "ioredis"
import { codeOf } from "./causes.ts"

/**
 * How to reach Redis.
 *
 * @since 1.0.0
 * @category models
 */
export interface Options {
  /**
   * `rediss://user:password@host:port/database`. Without TLS (`redis://`) only for one server on this machine. With `sentinels`, the
   * host is the name of the master. With `cluster`, it is one node of the cluster.
   *
   * An effect is run again when Redis rejects the password. The next attempt to connect uses the new password.
   */
  readonly url: Redacted.Redacted | Effect.Effect<Redacted.Redacted, ConfigError.ConfigError>
  /** The beginning of all keys, without braces. Default: `credit-data:`. */
  readonly prefix?: string | undefined
  /** The sentinels that monitor the master. Default: none. */
  readonly sentinels?: ReadonlyArray<{ readonly host: string; readonly port: number }> | undefined
  /** The password of the sentinels. Default: none. */
  readonly sentinelPassword?: Redacted.Redacted | undefined
  /** The servers are a cluster. Default: false. */
  readonly cluster?: boolean | undefined
  /** Accepts `redis://` for any server. For tests, and for networks that encrypt by themselves. Default: false. */
  readonly unencrypted?: boolean | undefined
  /** Settings of TLS, such as `ca`. Default: Node's settings. */
  readonly tls?: RedisOptions["tls"] | undefined
}

/** After this time without a response, the connection counts as dead. The callers have requested their own tokens long before. */
const commandTimeout = 2_000
const connectTimeout = 2_000

/** A server that was stopped does not respond to `QUIT`, and closing a scope takes at most a second. */
const quitTimeout = "500 millis"

/** A connection is idle for hours, and a firewall on the way may drop it. */
const keepAlive = 30_000

const nodesOf = (client: Redis | Cluster): ReadonlyArray<Redis> => client instanceof Redis ? [client] : client.nodes()

const guarded = new WeakSet<Redis>()

/**
 * The parser of ioredis 5 throws at a reply that is nested thousands of times (redis/ioredis#2108). The connection ends then, and not the
 * process.
 */
const guardNode = (node: Redis): void => {
  if (guarded.has(node)) return
  guarded.add(node)
  const guardStream = () => {
    const { stream } = node
    const emit: (event: string | symbol, ...args: ReadonlyArray<unknown>) => boolean = stream.emit.bind(stream)
    stream.emit = (event: string | symbol, ...args: ReadonlyArray<unknown>) => {
      try {
        return emit(event, ...args)
      } catch (error) {
        if (event !== "data" || !(error instanceof RangeError)) throw error
        stream.destroy()
        return true
      }
    }
  }
  node.on("connect", guardStream)
  if (node.status === "connect" || node.status === "ready") guardStream()
}

// The driver has connections that it hands out to no one: to sentinels, and for the slots and messages of a cluster. They can begin before
// a store uses the client.
const driver: Pick<Redis, "asking" | "connect"> = Redis.prototype
const connectNode: (this: Redis, ...args: Parameters<Redis["connect"]>) => Promise<void> = driver.connect
driver.connect = function(this: Redis, ...args) {
  guardNode(this)
  return connectNode.apply(this, args)
}
// a cluster drops the promise of this command, and its rejection would end the process
const asking: (this: Redis, ...args: Parameters<Redis["asking"]>) => Promise<"OK"> = driver.asking
driver.asking = function(this: Redis, ...args) {
  const sent = asking.apply(this, args)
  sent.catch(() => {})
  return sent
}

/**
 * Makes sure that a fault of the server cannot end the process, and remembers why a connection failed: the driver reports that as an event,
 * and a closed connection to the operation.
 */
export const guard = (client: Redis | Cluster): Effect.Effect<() => string | undefined, never, Scope.Scope> => {
  let last: string | undefined
  const onError = (error: unknown) => {
    last = codeOf(error) ?? last
  }
  const onReady = () => {
    last = undefined
  }
  return Effect.acquireRelease(
    Effect.sync(() => {
      for (const node of nodesOf(client)) guardNode(node)
      client.on("error", onError).on("node error", onError).on("ready", onReady)
      return () => last
    }),
    () => Effect.sync(() => client.off("error", onError).off("node error", onError).off("ready", onReady))
  )
}

const isLocal = (host: string) => /^(localhost|127(\.\d+){3}|\[?::1\]?)$/i.test(host)

/** An address as the error for a missing variable shows it. */
export const example = "rediss://user:password@redis.example:6379"

/** What was expected instead of a wrong address. */
export const problem = (
  text: string,
  { cluster, sentinels, tls, unencrypted }: Omit<Options, "url">
): string | undefined => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^rediss?:$/.test(url.protocol) || url.hostname === "") {
    return `Expected a Redis address, for example ${example}`
  }
  const isPlain = url.protocol === "redis:"
  // the other servers are only known later
  const isHere = cluster !== true && sentinels === undefined && isLocal(url.hostname)
  const rules: ReadonlyArray<readonly [isBroken: boolean, expected: string]> = [
    [!/^\/?\d*$/.test(url.pathname), "Expected a database number as the path"],
    [cluster === true && sentinels !== undefined, "Expected either a cluster or sentinels"],
    [cluster === true && url.pathname.length > 1, "Expected no database, because a cluster has only one"],
    [isPlain && tls !== undefined, "Expected rediss:// for the settings of TLS"],
    [
      isPlain && unencrypted !== true && !isHere,
      "Expected rediss:// for a host that is not this machine, for sentinels and for a cluster"
    ],
    [
      /%(?![0-9a-f]{2})/i.test(url.username + url.password),
      "Expected each % in the user name or the password to be written as %25"
    ]
  ]
  return rules.find(([isBroken]) => isBroken)?.[1]
}

const connect = (url: URL, { cluster, sentinelPassword, sentinels, tls = {} }: Options): Redis | Cluster => {
  const isEncrypted = url.protocol === "rediss:"
  const retryAfter = (times: number) => Math.min(times * 200, 2_000)
  const common: RedisOptions = {
    ...userOf(url),
    ...(isEncrypted && { tls }),
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
    enableReadyCheck: sentinels !== undefined,
    autoResendUnfulfilledCommands: false,
    retryStrategy: retryAfter,
    // after a failover, the server that was the master is a replica
    reconnectOnError: (error) => error.message.startsWith("READONLY")
  }
  const server = { host: url.hostname.replace(/^\[|\]$/g, ""), port: Number(url.port || 6379) }
  if (cluster === true) {
    return new Cluster([server], {
      enableOfflineQueue: false,
      clusterRetryStrategy: retryAfter,
      redisOptions: common
    })
  }
  const single = { ...common, db: Number(url.pathname.slice(1)) }
  return sentinels === undefined ? new Redis({ ...single, ...server }) : new Redis({
    ...single,
    name: url.hostname,
    sentinels: [...sentinels],
    ...(sentinelPassword !== undefined && { sentinelPassword: Redacted.value(sentinelPassword) }),
    ...(isEncrypted && { sentinelTLS: tls, enableTLSForSentinelMode: true })
  })
}

/** The user and the password of an address. */
const userOf = ({ password, username }: URL): Pick<RedisOptions, "password" | "username"> => ({
  ...(username !== "" && { username: decodeURIComponent(username) }),
  ...(password !== "" && { password: decodeURIComponent(password) })
})

/** The checked address. */
const read = (options: Options): Effect.Effect<URL, ConfigError.ConfigError> =>
  Effect.flatMap(Effect.isEffect(options.url) ? options.url : Effect.succeed(options.url), (url) => {
    const expected = problem(Redacted.value(url), options)
    return expected === undefined
      ? Effect.succeed(new URL(Redacted.value(url)))
      : Effect.fail(Variables.invalid(["url"], expected))
  })

/** Reads the address again. The next attempt to connect uses its user and its password. */
export const reread = (client: Redis | Cluster, options: Options): Effect.Effect<void> =>
  Effect.ignore(Effect.map(read(options), (url) => {
    for (const { options } of nodesOf(client)) Object.assign(options, userOf(url))
    if (client instanceof Cluster) Object.assign(client.options.redisOptions ?? {}, userOf(url))
  }))

/** A connection that belongs to the scope. */
export const make = (options: Options): Effect.Effect<Redis | Cluster, ConfigError.ConfigError, Scope.Scope> =>
  Effect.flatMap(read(options), (url) =>
    Effect.acquireRelease(
      Effect.sync(() => {
        const client = connect(url, options)
        // each operation reports the failure itself, and an `error` event without a listener ends the process
        return client.on("error", () => {})
      }),
      (client) =>
        Effect.tryPromise(() => client.quit()).pipe(
          within(quitTimeout, () => undefined),
          Effect.ignore,
          Effect.ensuring(Effect.sync(() => client.disconnect()))
        )
    ))
