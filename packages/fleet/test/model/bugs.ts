import type { StoreEngine } from "@credit-data/fleet"
import { Duration, Effect, Option } from "effect"
import * as Envelope from "../../src/internal/envelope.ts"
import type { Bug } from "./world.ts"

const fenceOf = ({ value }: StoreEngine.Look) => Option.match(value, { onNone: () => 0, onSome: ({ fence }) => fence })

const contentOf = (entry: Envelope.Entry, value: StoreEngine.Value) =>
  Envelope.opened(entry, { value: Option.some(value) })

/** The value under another fence, which its envelope has too. */
const under = (entry: Envelope.Entry, value: StoreEngine.Value, fence: number) =>
  Option.match(contentOf(entry, value), {
    onNone: () => value,
    onSome: (content) => ({ bytes: Envelope.sealed(entry, fence, content), fence })
  })

const lifetime = 3_600_000

/** An engine that ignores fences: the last write wins. */
const withoutFence: Bug = (store, entry) => ({
  ...store,
  publish: (name, value) =>
    Effect.gen(function*() {
      const fence = Math.max(value.fence, fenceOf(yield* store.read(name)))
      return yield* store.publish(name, { ...value, ...under(entry, value, fence) })
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
          if (taken.isTaken) holder = lease.owner
        })),
    releaseLease: (name) => Effect.suspend(() => store.releaseLease(name, holder)),
    publish: (name, value) => Effect.suspend(() => store.publish(name, { ...value, owner: holder }))
  })
}

/** The engine pretends that it has prolonged a lease. */
const withoutProlonging: Bug = (store) => {
  const owners = new Set<string>()
  return {
    ...store,
    takeLease: (name, lease) =>
      owners.has(lease.owner)
        ? Effect.map(store.read(name), (look) => ({ ...look, isTaken: true }))
        : Effect.tap(store.takeLease(name, lease), ({ isTaken }) =>
          Effect.sync(() => {
            if (isTaken) owners.add(lease.owner)
          }))
  }
}

/** The clock of the store is set back by half the life of a token, after it was written. */
export const setBack = (store: StoreEngine.Service): StoreEngine.Service => {
  const back = <A extends StoreEngine.Look>(look: A): A => ({ ...look, now: look.now - 30 * 60_000 })
  return {
    ...store,
    read: (name) => Effect.map(store.read(name), back),
    takeLease: (name, lease) => Effect.map(store.takeLease(name, lease), (taken) => taken.isTaken ? taken : back(taken))
  }
}

/** What is published, with other ends. */
const resealed = (change: (content: Envelope.Content) => Envelope.Content): Bug => (store, entry) => ({
  ...store,
  publish: (name, value) =>
    store.publish(name, {
      ...value,
      bytes: Envelope.sealed(entry, value.fence, change(Option.getOrThrow(contentOf(entry, value))))
    })
})

/** Tokens are sealed without the end of their life by the clock of the process that publishes. */
const withoutEnd: Bug = (store, entry) => ({
  ...resealed(({ failure, token }) => ({
    failure,
    token: token === undefined ? undefined : { ...token, expiresAt: Number.MAX_SAFE_INTEGER }
  }))(setBack(store), entry)
})

/** Failures remain in the store for an hour, as if an attacker wrote them again and again. */
export const keptFailure: Bug = (store, entry) => ({
  ...store,
  publish: (name, value) =>
    store.publish(name, {
      ...value,
      expiresAt: value.expiresAt +
        (Option.getOrUndefined(contentOf(entry, value))?.failure === undefined ? 0 : lifetime)
    })
})

/** Failures are sealed without their end. */
const endlessFailure: Bug = (store, entry) =>
  resealed(({ failure, token }) => ({
    token,
    failure: failure === undefined ? undefined : {
      ...failure,
      lifetimeMillis: lifetime,
      endsAt: failure.endsAt + lifetime
    }
  }))(keptFailure(store, entry), entry)

/** The bugs that the model must find, one at a time. A new one is made for each run. */
export const bugs: Readonly<Record<string, () => Bug>> = {
  "a lease is longer than the patience of waiting processes": () => (store) => ({
    ...store,
    takeLease: (name, lease) => store.takeLease(name, { ...lease, duration: Duration.times(lease.duration, 30) })
  }),
  "a lease is not prolonged": () => withoutProlonging,
  "a value is published without its fence": () => withoutFence,
  "a lease is deleted without a comparison": withoutCompare,
  "a failure is not shared": () => (store, entry) => ({
    ...store,
    publish: (name, value) =>
      Option.getOrUndefined(contentOf(entry, value))?.failure === undefined
        ? store.publish(name, value)
        : Effect.as(store.releaseLease(name, value.owner), true)
  }),
  "a process counts its token as published although it was overtaken": () => (store) => ({
    ...store,
    publish: (name, value) => Effect.as(store.publish(name, value), true)
  }),
  "the end of a token's life is not sealed": () => withoutEnd,
  "a failure has no sealed end": () => endlessFailure
}
