import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { type Look, maxValueSize, type Service } from "../StoreEngine.ts"
import { fenceIn } from "./fence.ts"

/** The engine in memory. */
export const make: Effect.Effect<Service> = Effect.map(Effect.clock, (clock) => {
  const values = new Map<string, Parameters<Service["publish"]>[1]>()
  const leases = new Map<string, { readonly owner: string; readonly expiresAt: number }>()
  const now = () => clock.unsafeCurrentTimeMillis()
  const current = <A extends { readonly expiresAt: number }>(parts: ReadonlyMap<string, A>, name: string) =>
    Option.filter(Option.fromNullable(parts.get(name)), ({ expiresAt }) => now() < expiresAt)
  const look = (name: string): Look => ({
    now: now(),
    value: Option.filter(current(values, name), ({ bytes }) => bytes.length <= maxValueSize)
  })
  const release = (name: string, owner: string) => {
    if (leases.get(name)?.owner === owner) leases.delete(name)
  }
  return {
    read: (name) => Effect.sync(() => look(name)),
    takeLease: (name, { duration, owner, seen }) =>
      Effect.sync(() => {
        const isLent = Option.exists(current(leases, name), (lease) => lease.owner !== owner)
        const isTaken = !isLent && fenceIn(look(name)) <= seen
        if (isTaken) leases.set(name, { owner, expiresAt: now() + Duration.toMillis(duration) })
        return { ...look(name), isTaken }
      }),
    releaseLease: (name, owner) => Effect.sync(() => release(name, owner)),
    publish: (name, value) =>
      Effect.sync(() => {
        const isWritten = fenceIn(look(name)) <= value.fence
        if (isWritten) values.set(name, value)
        release(name, value.owner)
        return isWritten
      })
  }
})
