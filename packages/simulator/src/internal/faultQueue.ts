import * as Option from "effect/Option"
import type * as Fault from "../Fault.ts"

/** The faults that wait for their requests, in order. */
export interface FaultQueue {
  readonly add: (target: Fault.Target, fault: Fault.Fault, times: number) => void
  /** Whether there is a fault for the next request. */
  readonly has: (target: Fault.Target) => boolean
  /** The fault for the next request. */
  readonly take: (target: Fault.Target) => Option.Option<Fault.Fault>
  readonly pending: () => ReadonlyArray<Fault.Pending>
  /** Whether a fault has this id. */
  readonly remove: (id: number) => boolean
  readonly clear: () => void
}

export const make = (): FaultQueue => {
  let queue: ReadonlyArray<Fault.Pending> = []
  let newest = 0
  return {
    add: (target, fault, times) => {
      newest += 1
      if (times >= 1) queue = [...queue, { id: newest, target, fault, remaining: times }]
    },
    has: (target) => queue.some((pending) => pending.target === target),
    take: (target) => {
      const next = queue.find((pending) => pending.target === target)
      if (next === undefined) return Option.none()
      queue = queue
        .map((pending) => pending === next ? { ...pending, remaining: pending.remaining - 1 } : pending)
        .filter(({ remaining }) => remaining >= 1)
      return Option.some(next.fault)
    },
    pending: () => queue,
    remove: (id) => {
      const before = queue.length
      queue = queue.filter((pending) => pending.id !== id)
      return queue.length < before
    },
    clear: () => {
      queue = []
    }
  }
}
