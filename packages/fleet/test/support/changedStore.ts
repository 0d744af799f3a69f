import type { StoreEngine, StoreError } from "@credit-data/fleet"
import { Effect } from "effect"

type Look = <A>(effect: Effect.Effect<A, StoreError.StoreError>) => Effect.Effect<A, StoreError.StoreError>

/** The store with other operations that read an entry. */
export const onLook = (store: StoreEngine.Service, look: Look): StoreEngine.Service => ({
  ...store,
  read: (name) => look(store.read(name)),
  takeLease: (name, lease) => look(store.takeLease(name, lease))
})

/** The store with another value. */
export const withValue = (
  store: StoreEngine.Service,
  change: (look: StoreEngine.Look) => StoreEngine.Look["value"]
): StoreEngine.Service => ({
  ...store,
  read: (name) => Effect.map(store.read(name), (look) => ({ ...look, value: change(look) })),
  takeLease: (name, lease) => Effect.map(store.takeLease(name, lease), (taken) => ({ ...taken, value: change(taken) }))
})
