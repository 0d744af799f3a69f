/**
 * The store that a fleet shares, on Redis.
 *
 * @since 1.0.0
 */
import { sharedLayer, Source, within } from "@credit-data/core/Internal"
import * as Variables from "@credit-data/core/Variables"
import type { Service } from "@credit-data/fleet/StoreEngine"
import { TokenStore } from "@credit-data/fleet/TokenStore"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as FiberHandle from "effect/FiberHandle"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { Redis, type RedisOptions } from "ioredis"
import * as redisAddress from "./internal/redisAddress.ts"
import * as engine from "./internal/engine.ts"
import { guard } from "./internal/guard.ts"
import type { RedisClient } from "./RedisClient.ts"

/**
 * How to reach Redis.
 *
 * @since 1.0.0
 * @category models
 */
export interface Options {
  /**
   * `rediss://user:password@host:port/database`. Without TLS (`redis://`) only for a server on this machine, or with `unencrypted`.
   * For sentinels, a cluster, or other settings of `ioredis`, pass a client to `layerClient`.
   *
   * If `url` is an effect, it is run again when Redis rejects the password, and the next connection attempt uses the new password.
   */
  readonly url: Redacted.Redacted | Effect.Effect<Redacted.Redacted, ConfigError.ConfigError>
  /** The beginning of all keys, without braces. Default: `credit-data:`. */
  readonly prefix?: string | undefined
  /** Accepts `redis://` for any server. For tests, and for networks that encrypt by themselves. Default: false. */
  readonly unencrypted?: boolean | undefined
  /** Settings of TLS, such as `ca`. Default: Node's settings. */
  readonly tls?: RedisOptions["tls"] | undefined
}

/** A server that was stopped does not respond to `QUIT`, and closing a scope takes at most a second. */
const quitTimeout = "500 millis"

/** The checked address. */
const address = ({ url, ...rules }: Options): Effect.Effect<URL, ConfigError.ConfigError> =>
  Effect.flatMap(Effect.flatten(Source.readerOf(Effect.isEffect(url) ? url : Effect.succeed(url))), (url) => {
    const expected = redisAddress.problem(Redacted.value(url), rules)
    return expected === undefined
      ? Effect.succeed(new URL(Redacted.value(url)))
      : Effect.fail(Variables.invalid(["url"], expected))
  })

/**
 * The store on Redis (6.2 or later), over its own connection to one server. The connection is closed with the scope of the layer.
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
  sharedLayer(() => Layer.scoped(TokenStore, own(options)), { services: [] })

/** The store over its own connection. */
const own = Effect.fnUntraced(function*(options: Options) {
  const url = yield* address(options)
  const client = yield* Effect.acquireRelease(
    // each operation reports the failure itself, and an `error` event without a listener is printed
    Effect.sync(() => new Redis(redisAddress.settingsOf(url, options.tls)).on("error", () => {})),
    (client) =>
      Effect.tryPromise(() => client.quit()).pipe(
        within(quitTimeout, () => undefined),
        Effect.ignore,
        Effect.ensuring(Effect.sync(() => client.disconnect()))
      )
  )
  const run = yield* FiberHandle.makeRuntime<never>()
  const reread = Effect.map(address(options), (url) => Object.assign(client.options, redisAddress.userOf(url)))
  const onRejected = Effect.sync(() => run(Effect.ignore(reread), { onlyIfMissing: true }))
  return yield* store(client, options.prefix, Effect.asVoid(onRejected))
})

/** The engine under a checked prefix. */
const store = (
  client: RedisClient,
  prefix = "credit-data:",
  onRejected?: Effect.Effect<void>
): Effect.Effect<Service, ConfigError.ConfigError, Scope.Scope> =>
  /[{}]/.test(prefix)
    ? Effect.fail(Variables.invalid(["prefix"], "Expected text without braces"))
    : Effect.map(guard(client), (lastCode) => engine.make(client, { lastCode, onRejected, prefix }))

/**
 * The store over your own `ioredis` client, for Sentinel, a cluster or cloud IAM tokens. Your program closes it.
 *
 * The store does not close a dead connection of your client: set `socketTimeout`, `maxRetriesPerRequest: 0` and
 * `enableOfflineQueue: false`, as in the recipes of `RedisClient`.
 *
 * Building the layer fails only with a `ConfigError` for a `prefix` with braces.
 *
 * @since 1.0.0
 * @category layers
 * @example
 * ```ts
 * import { RedisTokenStore } from "@credit-data/store-redis"
 * import { Effect, Layer } from "effect"
 * import { Redis } from "ioredis"
 *
 * const makeClient = () =>
 *   new Redis("rediss://redis.example:6379", {
 *     socketTimeout: 2_000,
 *     maxRetriesPerRequest: 0,
 *     enableOfflineQueue: false
 *   })
 *
 * export const Store = Layer.unwrapScoped(
 *   Effect.acquireRelease(Effect.sync(makeClient), (client) => Effect.sync(() => client.disconnect())).pipe(
 *     Effect.map((client) => RedisTokenStore.layerClient({ client }))
 *   )
 * )
 * ```
 */
export const layerClient = (options: {
  /** A `Redis` or a `Cluster` of `ioredis`. */
  readonly client: RedisClient
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
  options: Omit<Options, "url"> = {}
): Layer.Layer<TokenStore, ConfigError.ConfigError> =>
  layer({
    ...options,
    url: Effect.map(
      Variables.read({
        url: Variables.redacted("CREDIT_DATA_REDIS_URL", {
          description: "the Redis address",
          example: redisAddress.example,
          problem: (text) => redisAddress.problem(text, options)
        })
      }),
      ({ url }) => url
    )
  })
