import * as TokenStatus from "@credit-data/core/TokenStatus"
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import type { Labels } from "./sample.ts"

// What the gauges show where several supplies have the same labels.

const seconds = (at: DateTime.Utc): number => DateTime.toEpochMillis(at) / 1000

/** What the gauges show of one supply. */
interface Shown {
  readonly usable: number
  readonly failure: string | undefined
  readonly callersWaiting: number
  readonly missingScopes: ReadonlyArray<string>
  readonly storeAvailable: number
  readonly expiresAt: number | undefined
  readonly nextRequestAt: number | undefined
}

/** The supplies of each set of labels. They share their series, which show the worst of them. */
const supplies = new Map<string, Map<object, Shown>>()

/** What the gauges show of no supply. */
const nothing: Shown = {
  usable: 1,
  failure: undefined,
  callersWaiting: 0,
  missingScopes: [],
  storeAvailable: 1,
  expiresAt: undefined,
  nextRequestAt: undefined
}

const earlier = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? a ?? b : Math.min(a, b)

const worst = (a: Shown, b: Shown): Shown => ({
  usable: Math.min(a.usable, b.usable),
  failure: a.failure ?? b.failure,
  callersWaiting: a.callersWaiting + b.callersWaiting,
  missingScopes: [...a.missingScopes, ...b.missingScopes],
  storeAvailable: Math.min(a.storeAvailable, b.storeAvailable),
  expiresAt: earlier(a.expiresAt, b.expiresAt),
  nextRequestAt: earlier(a.nextRequestAt, b.nextRequestAt)
})

const shownOf = (status: TokenStatus.TokenStatus): Shown => ({
  usable: TokenStatus.isUsable(status) ? 1 : 0,
  failure: Option.getOrUndefined(Option.map(status.lastFailure, ({ _tag }) => _tag)),
  callersWaiting: status.callersWaiting,
  missingScopes: status.missingScopes,
  storeAvailable: Option.exists(status.store, ({ available }) => !available) ? 0 : 1,
  expiresAt: Option.getOrUndefined(Option.map(status.expiresAt, seconds)),
  nextRequestAt: Option.getOrUndefined(Option.map(status.nextRequestAt, seconds))
})

/** The place of one supply among those with the same labels. */
export interface Place {
  /** Shows the present state of this supply. */
  readonly show: (status: TokenStatus.TokenStatus) => void
  /** This supply has gone. */
  readonly leave: () => void
  /** The worst of all supplies with these labels. */
  readonly worst: () => Shown
}

/** A place for a supply with these labels. */
export const of = (labels: Labels): Place => {
  const key = JSON.stringify(Object.keys(labels).toSorted().map((name) => [name, labels[name]]))
  const own = {}
  return {
    show: (status) => {
      supplies.set(key, (supplies.get(key) ?? new Map()).set(own, shownOf(status)))
    },
    leave: () => {
      const others = supplies.get(key)
      others?.delete(own)
      if (others?.size === 0) supplies.delete(key)
    },
    worst: () => Array.from(supplies.get(key)?.values() ?? []).reduce(worst, nothing)
  }
}
