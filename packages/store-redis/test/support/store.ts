import { type StoreEngine, TokenStore } from "@credit-data/fleet"
import { RedisTokenStore } from "@credit-data/store-redis"
import type { RedisClient } from "@credit-data/store-redis/RedisClient"
import { assert } from "@effect/vitest"
import { Context, Duration, Effect, Layer, Option, Redacted, Schedule } from "effect"

export const name = "0123456789abcdef".repeat(4)
export const duration = Duration.seconds(2)

/** A store over its own connection. */
export const storeOf = ({ url, ...options }: Omit<RedisTokenStore.Options, "url"> & {
  readonly url: string | Effect.Effect<string>
}) =>
  Layer.build(RedisTokenStore.layer({
    ...options,
    url: Effect.isEffect(url) ? Effect.map(url, Redacted.make) : Redacted.make(url)
  })).pipe(Effect.map(Context.get(TokenStore.TokenStore)))

/** A store over this client, which is closed with the scope. */
export const storeOver = (make: () => RedisClient & { readonly disconnect: () => void }, prefix?: string) =>
  Effect.acquireRelease(Effect.sync(make), (client) => Effect.sync(() => client.disconnect())).pipe(
    Effect.flatMap((client) => Layer.build(RedisTokenStore.layerClient({ client, prefix }))),
    Effect.map(Context.get(TokenStore.TokenStore))
  )

/** Takes the lease whatever the value is. Returns the next fence, and the time. */
export const take = (store: StoreEngine.Service, owner: string, entry = name) =>
  Effect.map(store.takeLease(entry, { owner, seen: 1e15, duration }), ({ isTaken, now, value }) => {
    const there = Option.match(value, { onNone: () => 0, onSome: ({ fence }) => fence })
    return isTaken ? Option.some({ fence: Math.max(now, there + 1), now }) : Option.none()
  })

export const publish = (store: StoreEngine.Service, fence: number, entry = name) =>
  store.publish(entry, { bytes: new Uint8Array([fence % 256]), fence, expiresAt: Date.now() + 3_600_000, owner: "a" })

export const token = (store: StoreEngine.Service, entry = name) =>
  Effect.map(store.read(entry), ({ value }) => Option.getOrUndefined(Option.map(value, ({ fence }) => fence)))

/** Both directions once: whether a store works. Returns the fence of its value. */
export const works = Effect.fnUntraced(function*(store: StoreEngine.Service, entry = name) {
  const { fence } = Option.getOrThrow(yield* take(store, "a", entry))
  assert.isTrue(Option.isSome(yield* take(store, "a", entry)))
  assert.isTrue(yield* publish(store, fence, entry))
  assert.strictEqual(yield* token(store, entry), fence)
  yield* store.releaseLease(entry, "a")
  return fence
})

/** Retries while the connection is being established again, or another owner has the lease. */
export const eventually = <A, E>(effect: Effect.Effect<A, E>) =>
  effect.pipe(
    Effect.sandbox,
    Effect.retry(Schedule.spaced("50 millis")),
    Effect.timeout("25 seconds"),
    Effect.orDie
  )
