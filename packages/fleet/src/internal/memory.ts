import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Service, Slot, Slots, StoredValue, Value } from "../TokenStore.ts"
import { highestOf } from "./fences.ts"

/** A token has at most 64 KiB. */
export const maxValueSize = 256 * 1024

interface Entry {
  fence: number
  lease: { readonly owner: string; readonly expiresAt: number } | undefined
  readonly slots: Record<Slot, (Value & { readonly expiresAt: number }) | undefined>
}

export const make: Effect.Effect<Service> = Effect.map(Effect.clock, (clock) => {
  const entries = new Map<string, Entry>()
  const now = () => clock.unsafeCurrentTimeMillis()

  const entryOf = (name: string): Entry => {
    const entry = entries.get(name) ?? { fence: 0, lease: undefined, slots: { Token: undefined, Failure: undefined } }
    entries.set(name, entry)
    return entry
  }

  const stored = (value: Entry["slots"][Slot]): Option.Option<StoredValue> =>
    value === undefined || now() >= value.expiresAt || value.bytes.length > maxValueSize
      ? Option.none()
      : Option.some({
        bytes: value.bytes,
        fence: value.fence,
        remaining: Duration.millis(value.expiresAt - now())
      })

  const owns = (entry: Entry, owner: string) => entry.lease?.owner === owner && now() < entry.lease.expiresAt

  const lend = (entry: Entry, owner: string, duration: Duration.Duration) => {
    entry.lease = { owner, expiresAt: now() + Duration.toMillis(duration) }
  }

  const slotsOf = ({ slots }: Entry): Slots => ({ Token: stored(slots.Token), Failure: stored(slots.Failure) })

  return {
    read: (name) => Effect.sync(() => slotsOf(entryOf(name))),
    takeLease: (name, { above, duration, owner, seen }) =>
      Effect.sync(() => {
        const entry = entryOf(name)
        const slots = slotsOf(entry)
        const isTaken = entry.lease !== undefined && now() < entry.lease.expiresAt
        if (isTaken || highestOf(slots) > seen) return { slots, lease: Option.none() }
        entry.fence = Math.max(entry.fence, above) + 1
        lend(entry, owner, duration)
        return { slots, lease: Option.some({ fence: entry.fence, takenAt: now() }) }
      }),
    renewLease: (name, { duration, owner }) =>
      Effect.sync(() => {
        const entry = entryOf(name)
        if (!owns(entry, owner)) return false
        lend(entry, owner, duration)
        return true
      }),
    releaseLease: (name, owner) =>
      Effect.sync(() => {
        const entry = entryOf(name)
        if (owns(entry, owner)) entry.lease = undefined
      }),
    publish: (name, slot, { bytes, expiresAt, fence }) =>
      Effect.sync(() => {
        const entry = entryOf(name)
        const before = stored(entry.slots[slot])
        if (Option.isSome(before) && before.value.fence > fence) return false
        entry.fence = Math.max(entry.fence, fence)
        entry.slots[slot] = { bytes, fence, expiresAt }
        return true
      })
  }
})
