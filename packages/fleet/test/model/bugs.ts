import type { TokenStore } from "@credit-data/fleet"
import { Clock, Duration, Effect, Option } from "effect"
import type { Bug } from "./world.ts"

/** An engine that ignores fences: the last write wins. */
const withoutFence: Bug = (store) => ({
  ...store,
  publish: (name, slot, value) =>
    Effect.flatMap(store.read(name), (slots) => {
      const before = Option.match(slots[slot], { onNone: () => 0, onSome: ({ fence }) => fence })
      return store.publish(name, slot, { ...value, fence: Math.max(value.fence, before) })
    })
})

/** An engine that deletes the lease of any owner. */
const withoutCompare = (): Bug => {
  let holder = ""
  return (store) => ({
    ...store,
    takeLease: (name, lease) =>
      Effect.tap(store.takeLease(name, lease), (fence) =>
        Effect.sync(() => {
          if (Option.isSome(fence)) holder = lease.owner
        })),
    releaseLease: (name) => Effect.suspend(() => store.releaseLease(name, holder))
  })
}

/** The remaining life by the wall clocks of the process that publishes and of the one that reads. */
const byWallClock = (): Bug => {
  const ends = new Map<string, number>()
  const remaining = (
    slot: TokenStore.Slot,
    value: Option.Option<TokenStore.StoredValue>
  ): Effect.Effect<Option.Option<TokenStore.StoredValue>> =>
    Effect.map(Clock.currentTimeMillis, (now) =>
      Option.map(value, (stored) => ({
        ...stored,
        remaining: Duration.millis((ends.get(`${slot} ${stored.fence}`) ?? now) - now)
      })))
  return (store) => {
    let ahead = 0
    return {
      ...store,
      read: (name) =>
        Effect.flatMap(
          store.read(name),
          ({ Failure, Token }) =>
            Effect.all({ Token: remaining("Token", Token), Failure: remaining("Failure", Failure) })
        ),
      takeLease: (name, lease) =>
        Effect.flatMap(
          Clock.currentTimeMillis,
          (now) =>
            Effect.tap(store.takeLease(name, lease), (taken) =>
              Effect.sync(() => {
                if (Option.isSome(taken)) ahead = now - taken.value.takenAt
              }))
        ),
      publish: (name, slot, value) =>
        Effect.suspend(() => {
          ends.set(`${slot} ${value.fence}`, value.expiresAt + ahead)
          return store.publish(name, slot, value)
        })
    }
  }
}

/** The bugs that the model must find, one at a time. A new one is made for each run. */
export const bugs: Readonly<Record<string, () => Bug>> = {
  "a lease is longer than the patience of those who wait": () => (store) => ({
    ...store,
    takeLease: (name, lease) => store.takeLease(name, { ...lease, duration: Duration.times(lease.duration, 30) }),
    renewLease: (name, lease) => store.renewLease(name, { ...lease, duration: Duration.times(lease.duration, 30) })
  }),
  "a lease is not renewed": () => (store) => ({ ...store, renewLease: () => Effect.succeed(true) }),
  "a value is published without its fence": () => withoutFence,
  "a lease is deleted without a comparison": withoutCompare,
  "a failure is not shared": () => (store) => ({
    ...store,
    publish: (name, slot, value) => slot === "Failure" ? Effect.succeed(true) : store.publish(name, slot, value)
  }),
  "the remaining life comes from the wall clock": byWallClock,
  "a token lives as long as a new one when it is taken": () => (store) => ({
    ...store,
    read: (name) =>
      Effect.map(store.read(name), ({ Failure, Token }) => ({
        Failure,
        Token: Option.map(Token, (token) => ({ ...token, remaining: Duration.days(1) }))
      }))
  })
}
