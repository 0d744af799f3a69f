import type { StoreError, TokenStore } from "@credit-data/fleet"
import { Effect } from "effect"

type Look = <A>(effect: Effect.Effect<A, StoreError.StoreError>) => Effect.Effect<A, StoreError.StoreError>

/** The store with other operations that read the slots. */
export const onLook = (store: TokenStore.Service, look: Look): TokenStore.Service => ({
  ...store,
  read: (name) => look(store.read(name)),
  takeLease: (name, lease) => look(store.takeLease(name, lease))
})

/** The store with other values in its slots. */
export const withSlots = (
  store: TokenStore.Service,
  change: (slots: TokenStore.Slots) => TokenStore.Slots
): TokenStore.Service => ({
  ...store,
  read: (name) => Effect.map(store.read(name), change),
  takeLease: (name, lease) =>
    Effect.map(store.takeLease(name, lease), (taken) => ({ ...taken, slots: change(taken.slots) }))
})
