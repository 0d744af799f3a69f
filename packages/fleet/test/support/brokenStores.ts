import type { StoreEngine } from "@credit-data/fleet"
import { Duration, Effect, Option } from "effect"

type Break = (store: StoreEngine.Service) => StoreEngine.Service

const staleReads: Break = (store) => {
  const last = new Map<string, StoreEngine.Look["value"]>()
  let before = new Map<string, StoreEngine.Look["value"]>()
  return {
    ...store,
    read: (name) => Effect.map(store.read(name), (look) => ({ ...look, value: before.get(name) ?? look.value })),
    takeLease: (name, lease) =>
      Effect.map(store.takeLease(name, lease), (taken) => ({ ...taken, value: before.get(name) ?? taken.value })),
    publish: (name, value) =>
      Effect.tap(store.publish(name, value), () =>
        Effect.map(store.read(name), ({ value }) => {
          before = new Map(last)
          last.set(name, value)
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
          if (taken.isTaken) owners.set(name, lease.owner)
        })),
    releaseLease: (name, owner) => Effect.suspend(() => store.releaseLease(name, owners.get(name) ?? owner))
  }
}

/** Stores that break one rule of the contract, each in its own way, and the broken rule. */
export const brokenStores: Readonly<Record<string, { readonly broken: Break; readonly rule: string }>> = {
  "a lease is given twice": {
    broken: (store) => ({
      ...store,
      takeLease: (name, lease) => Effect.map(store.takeLease(name, lease), (taken) => ({ ...taken, isTaken: true }))
    }),
    rule: "a lease has one owner until it is given back"
  },
  "entries are mixed up": {
    broken: (store) => {
      const one = "0".repeat(64)
      return { ...store, read: () => store.read(one), publish: (_, value) => store.publish(one, value) }
    },
    rule: "entries are empty at first, and independent"
  },
  "values live forever": {
    broken: (store) => ({
      ...store,
      publish: (name, value) => store.publish(name, { ...value, expiresAt: value.expiresAt + 1e9 })
    }),
    rule: "a value is gone when its time is over"
  },
  "reads are stale": {
    broken: staleReads,
    rule: "a value is read as soon as it is written, with its bytes and its fence"
  },
  "a value is written under any fence": {
    broken: (store) => ({
      ...store,
      publish: (name, value) =>
        Effect.flatMap(store.read(name), ({ value: there }) => {
          const before = Option.match(there, { onNone: () => 0, onSome: ({ fence }) => fence })
          return store.publish(name, { ...value, fence: Math.max(value.fence, before) })
        })
    }),
    rule: "a value is replaced under the same fence and a higher one, and not under a lower one"
  },
  "anyone gives a lease back": {
    broken: anyoneReleases,
    rule: "a lease has one owner until it is given back"
  },
  "leases are not prolonged": {
    broken: (store) => {
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
    },
    rule: "a lease that its owner prolongs remains in force"
  },
  "publishing keeps the lease": {
    broken: (store) => ({ ...store, publish: (name, value) => store.publish(name, { ...value, owner: "nobody" }) }),
    rule: "publishing gives back the lease of the owner, whether the value was written or not"
  },
  "leases never end": {
    broken: (store) => ({
      ...store,
      takeLease: (name, lease) => store.takeLease(name, { ...lease, duration: Duration.hours(1) })
    }),
    rule: "a lease ends when its time is over, and its successor is untouched"
  },
  "taking a lease reads nothing": {
    broken: (store) => ({
      ...store,
      takeLease: (name, lease) =>
        Effect.map(store.takeLease(name, lease), (taken) => ({ ...taken, value: Option.none() }))
    }),
    rule: "taking a lease reads the value, whether it was taken or not"
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
      publish: (name, value) =>
        store.publish(name, { ...value, bytes: new TextEncoder().encode(new TextDecoder().decode(value.bytes)) })
    }),
    rule: "a value is read as soon as it is written, with its bytes and its fence"
  },
  "the time stands still": {
    broken: (store) => ({ ...store, read: (name) => Effect.map(store.read(name), (look) => ({ ...look, now: 0 })) }),
    rule: "each read has the time of the store's clock"
  }
}
