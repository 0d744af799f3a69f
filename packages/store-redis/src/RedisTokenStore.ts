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
import * as FiberHandle from "effect/FiberHandle"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { Cluster, Redis } from "ioredis"
import * as connection from "./internal/connection.ts"
import * as engine from "./internal/engine.ts"

/**
 * How to reach Redis.
 *
 * @since 1.0.0
 * @category models
 */
export interface Options extends connection.Options {}

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
export const layer = (options: connection.Options): Layer.Layer<TokenStore, ConfigError.ConfigError> =>
  sharedLayer(() => Layer.scoped(TokenStore, own(options)), { services: [] })

/** The store over its own connection. */
const own = Effect.fnUntraced(function*({ prefix, ...options }: connection.Options) {
  const client = yield* connection.make(options)
  const run = yield* FiberHandle.makeRuntime<never>()
  const reread = Effect.sync(() => run(connection.reread(client, options), { onlyIfMissing: true }))
  return yield* store(client, prefix, Effect.asVoid(reread))
})

/** The engine under a checked prefix. */
const store = (
  client: Redis | Cluster,
  prefix = "credit-data:",
  onRejected?: Effect.Effect<void>
): Effect.Effect<Service, ConfigError.ConfigError, Scope.Scope> =>
  /[{}]/.test(prefix)
    ? Effect.fail(Variables.invalid(["prefix"], "Expected text without braces"))
    : Effect.map(connection.guard(client), (lastCode) => engine.make(client, { lastCode, onRejected, prefix }))

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
}): Layer.Layer<TokenStore, ConfigError.ConfigError> => Layer.scoped(TokenStore, store(options.client, options.prefix))

/**
 * `layer` with the address read from `CREDIT_DATA_REDIS_URL`, which is read again when Redis rejects the password.
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
  options: Omit<connection.Options, "url"> = {}
): Layer.Layer<TokenStore, ConfigError.ConfigError> =>
  layer({
    ...options,
    url: Effect.map(
      Variables.read({
        url: Variables.redacted("CREDIT_DATA_REDIS_URL", {
          description: "the Redis address",
          example: connection.example,
          problem: (text) => connection.problem(text, options)
        })
      }),
      ({ url }) => url
    )
  })
