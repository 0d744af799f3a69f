/**
 * The store that a fleet shares, on Redis or Valkey.
 *
 * @since 1.0.0
 */
import { sharedLayer } from "@credit-data/core/Internal"
import * as Variables from "@credit-data/core/Variables"
import { type Service, TokenStore } from "@credit-data/fleet/TokenStore"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import type { Cluster, Redis, RedisOptions } from "ioredis"
import * as causes from "./internal/causes.ts"
import * as connection from "./internal/connection.ts"
import * as engine from "./internal/engine.ts"

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
   */
  readonly url: Redacted.Redacted
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

/**
 * The store on Redis (6.2 or later) or Valkey, over its own connection. The connection is closed with the scope of the layer.
 *
 * Building the layer does not wait for Redis. It fails only with a `ConfigError`, which names the invalid option and never its value.
 *
 * @since 1.0.0
 * @category layers
 * @example
 * ```ts
 * import { RedisTokenStore } from "@credit-data/store-redis"
 * import { Redacted } from "effect"
 *
 * export const Store = RedisTokenStore.layer({
 *   url: Redacted.make("redis://localhost:6379")
 * })
 * ```
 */
export const layer = (options: Options): Layer.Layer<TokenStore, ConfigError.ConfigError> =>
  Layer.scoped(
    TokenStore,
    Effect.flatMap(connection.make(options), (client) => store(client, { isOwn: true, prefix: options.prefix }))
  )

/** The engine under a checked prefix. */
const store = (
  client: Redis | Cluster,
  { isOwn, prefix = "credit-data:" }: { readonly isOwn: boolean; readonly prefix: string | undefined }
): Effect.Effect<Service, ConfigError.ConfigError, Scope.Scope> =>
  /[{}]/.test(prefix)
    ? Effect.fail(Variables.invalid(["prefix"], "Expected text without braces"))
    : Effect.map(causes.lastCodeOf(client), (lastCode) => engine.make(client, { isOwn, lastCode, prefix }))

/**
 * The store over a connection that the program has already, with all settings of `ioredis`: TLS, Sentinel, Cluster, tokens of a cloud. The
 * program closes it. An operation that takes longer than 0.6 seconds counts as a fault, whatever the connection's own time-outs are.
 *
 * Building the layer fails only with a `ConfigError` for a `prefix` with braces.
 *
 * @since 1.0.0
 * @category layers
 * @example
 * ```ts
 * import { RedisTokenStore } from "@credit-data/store-redis"
 * import { Redis } from "ioredis"
 *
 * const client = new Redis("rediss://redis.example:6379", { lazyConnect: true })
 *
 * export const Store = RedisTokenStore.layerClient({ client })
 * ```
 */
export const layerClient = (options: {
  readonly client: Redis | Cluster
  /** The beginning of all keys, without braces. Default: `credit-data:`. */
  readonly prefix?: string | undefined
}): Layer.Layer<TokenStore, ConfigError.ConfigError> =>
  Layer.scoped(TokenStore, store(options.client, { isOwn: false, prefix: options.prefix }))

/**
 * `layer` with the address read from `CREDIT_DATA_REDIS_URL`.
 *
 * @since 1.0.0
 * @category layers
 * @example
 * ```ts
 * import { AuthV2 } from "@credit-data/auth-v2"
 * import { SharedTokens } from "@credit-data/fleet"
 * import { RedisTokenStore } from "@credit-data/store-redis"
 * import { Layer } from "effect"
 *
 * export const Auth = SharedTokens.layer().pipe( // was: AuthV2.layerConfig()
 *   Layer.provide(AuthV2.layerTokenEndpointConfig()),
 *   Layer.provide(RedisTokenStore.layerConfig())
 * )
 * ```
 */
export const layerConfig = (
  options: Omit<Options, "url"> = {}
): Layer.Layer<TokenStore, ConfigError.ConfigError> =>
  sharedLayer(() =>
    Layer.scoped(
      TokenStore,
      Effect.gen(function*() {
        const { url } = yield* Variables.read({
          url: Variables.redacted("CREDIT_DATA_REDIS_URL", {
            description: "the Redis address",
            example: connection.example,
            problem: (text) => connection.problem(text, options)
          })
        })
        const client = yield* connection.make({ ...options, url })
        return yield* store(client, { isOwn: true, prefix: options.prefix })
      })
    ), { services: [] })
