import type { TokenStore } from "@credit-data/fleet"
import { Duration, Effect, Option } from "effect"
import * as Envelope from "../../src/internal/envelope.ts"
import { withSlots } from "../support/changedStore.ts"
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
      Effect.tap(store.takeLease(name, lease), (taken) =>
        Effect.sync(() => {
          if (Option.isSome(taken.lease)) holder = lease.owner
        })),
    releaseLease: (name) => Effect.suspend(() => store.releaseLease(name, holder))
  })
}

/** The clock of the store is set back by half the life of a token. */
export const setBack = (store: TokenStore.Service): TokenStore.Service =>
  withSlots(store, ({ Failure, Token }) => ({
    Failure,
    Token: Option.map(Token, (token) => ({
      ...token,
      remaining: Duration.min(Duration.sum(token.remaining, Duration.minutes(30)), Duration.hours(1))
    }))
  }))

/** Tokens are sealed without the end of their life by the clock of the process that publishes. */
const withoutEnd: Bug = (store, entry) => ({
  ...setBack(store),
  publish: (name, slot, value) =>
    slot === "Failure" ? store.publish(name, slot, value) : Effect.gen(function*() {
      const place = { slot, fence: value.fence }
      const text = Option.getOrThrow(yield* Envelope.open(entry, place, value.bytes))
      const endless = text.replace(/"expiresAt":\d+/, `"expiresAt":${Number.MAX_SAFE_INTEGER}`)
      return yield* store.publish(name, slot, { ...value, bytes: yield* Envelope.seal(entry, place, endless) })
    })
})

/** An attacker writes the first failure of the fleet again and again, under this fence and with this text in its envelope. */
const replaying = (change: (failure: { readonly fence: number; readonly text: string }) => typeof failure): Bug => {
  let failure: { readonly fence: number; readonly text: string } | undefined
  return (store, entry) => {
    const replayed = Effect.fnUntraced(function*(slots: TokenStore.Slots) {
      if (failure === undefined && Option.isSome(slots.Failure)) {
        const { bytes, fence } = slots.Failure.value
        failure = { fence, text: Option.getOrThrow(yield* Envelope.open(entry, { slot: "Failure", fence }, bytes)) }
      }
      if (failure === undefined) return slots
      failure = change(failure)
      const bytes = yield* Envelope.seal(entry, { slot: "Failure", fence: failure.fence }, failure.text)
      return { ...slots, Failure: Option.some({ bytes, fence: failure.fence, remaining: Duration.seconds(1) }) }
    })
    return {
      ...store,
      read: (name) => Effect.flatMap(store.read(name), replayed),
      takeLease: (name, lease) =>
        Effect.flatMap(
          store.takeLease(name, lease),
          (taken) => Effect.map(replayed(taken.slots), (slots) => ({ ...taken, slots }))
        )
    }
  }
}

/** A sealed failure is written again and again. */
export const replayedFailure = (): Bug => replaying((failure) => failure)

/** Processes that take a failure again whenever it is written again behave as if they saw another failure each time. */
const countedAgain = (): Bug =>
  replaying(({ fence, text }) => ({
    fence: fence + 1_000_000,
    text: text.replace(/"expiresAt":\d+/, `"expiresAt":${Number.MAX_SAFE_INTEGER}`)
  }))

/** The bugs that the model must find, one at a time. A new one is made for each run. */
export const bugs: Readonly<Record<string, () => Bug>> = {
  "a lease is longer than the patience of waiting processes": () => (store) => ({
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
  "the end of a token's life is not sealed": () => withoutEnd,
  "a process does not look at the store while it remembers a failure": () => (store) => ({
    ...store,
    read: () => Effect.succeed({ Token: Option.none(), Failure: Option.none() })
  }),
  "a failure is taken again whenever it is written again": countedAgain
}
