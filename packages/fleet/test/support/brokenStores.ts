import type { TokenStore } from "@credit-data/fleet"
import { Duration, Effect, Option } from "effect"

type Break = (store: TokenStore.Service) => TokenStore.Service

const none = { Token: Option.none(), Failure: Option.none() }

const staleReads: Break = (store) => {
  const last = new Map<string, TokenStore.Slots>()
  let before = new Map<string, TokenStore.Slots>()
  return {
    ...store,
    read: (name) => Effect.map(store.read(name), (slots) => before.get(name) ?? slots),
    takeLease: (name, lease) =>
      Effect.map(store.takeLease(name, lease), (taken) => ({ ...taken, slots: before.get(name) ?? taken.slots })),
    publish: (name, slot, value) =>
      Effect.tap(store.publish(name, slot, value), () =>
        Effect.map(store.read(name), (slots) => {
          before = new Map(last)
          last.set(name, slots)
        }))
  }
}

const anyoneReleases: Break = (store) => {
  const owners = new Map<string, string>()
  return {
    ...store,
    takeLease: (name, lease) =>
      Effect.tap(store.takeLease(name, lease), (taken) =>
        Effect.sync(() => {
          if (Option.isSome(taken.lease)) owners.set(name, lease.owner)
        })),
    releaseLease: (name, owner) => Effect.suspend(() => store.releaseLease(name, owners.get(name) ?? owner))
  }
}

/** Stores that break one rule of the contract, each in its own way, and the broken rule. */
export const brokenStores: Readonly<Record<string, { readonly broken: Break; readonly rule: string }>> = {
  "fences fall": {
    broken: (store) => ({
      ...store,
      takeLease: (name, lease) =>
        Effect.map(store.takeLease(name, lease), (taken) => ({
          ...taken,
          lease: Option.map(taken.lease, (lease) => ({ ...lease, fence: Math.max(1, 100 - lease.fence) }))
        }))
    }),
    rule: "each fence is higher than all before it"
  },
  "a lease is given twice": {
    broken: (store) => ({
      ...store,
      takeLease: (name, lease) =>
        Effect.map(store.takeLease(name, lease), ({ slots }) => ({
          slots,
          lease: Option.some({ fence: lease.above + 1, takenAt: 0 })
        }))
    }),
    rule: "a lease has one owner until it is given back"
  },
  "entries are mixed up": {
    broken: (store) => {
      const one = "0".repeat(64)
      return { ...store, read: () => store.read(one), publish: (_, slot, value) => store.publish(one, slot, value) }
    },
    rule: "both slots and all entries are independent"
  },
  "values live forever": {
    broken: (store) => ({
      ...store,
      publish: (name, slot, value) => store.publish(name, slot, { ...value, expiresAt: value.expiresAt + 1e9 })
    }),
    rule: "a value is gone when its time is over"
  },
  "reads are stale": { broken: staleReads, rule: "a value is read as soon as it is written" },
  "a value is written under any fence": {
    broken: (store) => ({
      ...store,
      publish: (name, slot, value) =>
        Effect.flatMap(store.read(name), (slots) => {
          const before = Option.match(slots[slot], { onNone: () => 0, onSome: ({ fence }) => fence })
          return store.publish(name, slot, { ...value, fence: Math.max(value.fence, before) })
        })
    }),
    rule: "a value is replaced under the same fence and a higher one, and not under a lower one"
  },
  "anyone gives a lease back": {
    broken: anyoneReleases,
    rule: "a lease that has ended cannot be renewed or given back, and its successor is untouched"
  },
  "leases are not renewed": {
    broken: (store) => ({ ...store, renewLease: () => Effect.succeed(true) }),
    rule: "a lease that is renewed remains in force"
  },
  "leases never end": {
    broken: (store) => ({
      ...store,
      takeLease: (name, lease) => store.takeLease(name, { ...lease, duration: Duration.hours(1) })
    }),
    rule: "a lease ends when its time is over"
  },
  "taking a lease reads nothing": {
    broken: (store) => ({
      ...store,
      takeLease: (name, lease) => Effect.map(store.takeLease(name, lease), ({ lease }) => ({ lease, slots: none }))
    }),
    rule: "taking a lease reads both slots, whether it was taken or not"
  },
  "a lease is taken beside a value that no process has read": {
    broken: (store) => ({
      ...store,
      takeLease: (name, lease) => store.takeLease(name, { ...lease, seen: Number.MAX_SAFE_INTEGER })
    }),
    rule: "a lease is not taken while there is a value that its owner has not read"
  },
  "bytes are taken for text": {
    broken: (store) => ({
      ...store,
      publish: (name, slot, value) =>
        store.publish(name, slot, { ...value, bytes: new TextEncoder().encode(new TextDecoder().decode(value.bytes)) })
    }),
    rule: "a value is read with its bytes, its fence and its remaining life"
  }
}
