import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import type * as Fault from "../Fault.ts"
import { hasPath } from "./fixtures/respond.ts"

/** What a fault selects a request by. */
interface Request {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
}

/** The faults that wait for their requests, in order. */
export interface FaultQueue {
  readonly add: (target: Fault.Target, fault: Fault.Fault, times: number, selection: Fault.Selection) => void
  /** The ids of the faults that apply to this request. */
  readonly select: (target: Fault.Target, request: Request) => Effect.Effect<ReadonlyArray<number>>
  /** The first fault with one of these ids, unless other requests took it meanwhile. */
  readonly take: (ids: ReadonlyArray<number>) => Option.Option<Fault.Fault>
  readonly pending: () => ReadonlyArray<Fault.Pending>
  /** Whether a fault has this id. */
  readonly remove: (id: number) => boolean
  readonly clear: () => void
}

const matches = (selection: Fault.Selection, { headers, method, path }: Request) =>
  (selection.method === undefined || selection.method === method) &&
  (selection.path === undefined || hasPath(selection.path, path)) &&
  Object.entries(selection.headers ?? {}).every(([name, value]) => headers[name.toLowerCase()] === value)

export const make = (): FaultQueue => {
  let queue: ReadonlyArray<Fault.Pending> = []
  let newest = 0
  return {
    add: (target, fault, times, selection) => {
      newest += 1
      if (times >= 1) queue = [...queue, { ...selection, id: newest, target, fault, remaining: times }]
    },
    select: (target, request) =>
      Effect.filter(
        queue.filter((pending) => pending.target === target && matches(pending, request)),
        ({ percent = 100 }) => Effect.map(Random.next, (share) => share * 100 < percent)
      ).pipe(Effect.map((selected) => selected.map(({ id }) => id))),
    take: (ids) => {
      const next = queue.find(({ id }) => ids.includes(id))
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
