import type * as TokenEvent from "@credit-data/core/TokenEvent"
import * as TokenStatus from "@credit-data/core/TokenStatus"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Registry from "./registry.ts"
import { type Labels, secondsOfRequests } from "./sample.ts"

// The metrics of a supply, from its events and its status.

const requests = Registry.counter({
  name: "credit_data.token.requests",
  description: "Token requests that have ended",
  unit: "{request}"
})

const requestDuration = Registry.histogram(
  {
    name: "credit_data.token.request.duration",
    description: "Duration of token requests",
    unit: "s"
  },
  secondsOfRequests
)

const expiryTimestamp = Registry.gauge({
  name: "credit_data.token.expiry_timestamp",
  description: "When the token expires, in seconds since 1970",
  unit: "s"
})

const failing = Registry.gauge({
  name: "credit_data.token.failing",
  description: "1 if the last token request failed with this error, otherwise 0",
  unit: "{error}"
})

const usable = Registry.gauge({
  name: "credit_data.token.usable",
  description: "1 if callers can get a token, otherwise 0",
  unit: "{supply}"
})

const scopeMissing = Registry.gauge({
  name: "credit_data.token.scope_missing",
  description: "1 if this scope was requested and not granted, otherwise 0",
  unit: "{scope}"
})

const invalidations = Registry.counter({
  name: "credit_data.token.invalidations",
  description: "Tokens that the business API rejected",
  unit: "{token}"
})

const shared = Registry.counter({
  name: "credit_data.token.shared",
  description: "Responses taken from a shared store, so that no token request was sent",
  unit: "{response}"
})

const storeFaults = Registry.counter({
  name: "credit_data.token.store_faults",
  description: "How often a shared store could not be used",
  unit: "{fault}"
})

const callersWaiting = Registry.gauge({
  name: "credit_data.token.callers_waiting",
  description: "Callers that wait for a token",
  unit: "{caller}"
})

const served = Registry.counter({
  name: "credit_data.token.served",
  description: "How often a caller got a token",
  unit: "{token}"
})

type ErrorType = TokenEvent.Failure["error"]["_tag"]

const errorTypes: Readonly<Record<ErrorType, true>> = {
  InvalidClient: true,
  InvalidResponse: true,
  ServerError: true,
  TransportError: true
}

const reasons: Readonly<Record<TokenEvent.RequestReason["_tag"], true>> = {
  Nothing: true,
  Due: true,
  Rejected: true,
  Insufficient: true,
  Refresh: true
}

const storeFailures: Readonly<Record<TokenEvent.StoreFailure, true>> = {
  Unavailable: true,
  Timeout: true,
  Refused: true,
  Sealing: true
}

/** The series of one key each. They are made once, because making a series costs more than changing it. */
const seriesOf = (keys: object, series: (key: string) => Registry.Update): ReadonlyMap<string, Registry.Update> =>
  new Map(Object.keys(keys).map((key) => [key, series(key)]))

const change = (series: ReadonlyMap<string, Registry.Update>, key: string, value: number): Effect.Effect<void> =>
  series.get(key)?.(value) ?? Effect.void

/** The metrics of one supply, from its events and its status. */
export interface Metrics {
  /** Shows this supply from now on, and makes the counters of its events, because the first increase of an unborn series is not seen. */
  readonly start: Effect.Effect<void>
  /** Counts what happened. */
  readonly count: (event: TokenEvent.TokenEvent) => Effect.Effect<void>
  /** Shows the present state, unless a supply with the same labels was built later. */
  readonly show: (status: TokenStatus.TokenStatus) => Effect.Effect<void>
  /** Takes back what would remain wrong after the supply has gone. */
  readonly end: Effect.Effect<void>
}

/** The supply that the gauges with these labels show: the one that was built last. */
const shown = new Map<string, object>()

/** The metrics of a supply with these labels. */
export const make = (labels: Labels, requestedScopes: ReadonlyArray<string>): Metrics => {
  const requestsWith = (outcome: string, more: Labels = {}) =>
    seriesOf(reasons, (reason) => requests({ ...labels, outcome, ...more, reason }))
  const succeeded = { Obtained: requestsWith("obtained"), Renewed: requestsWith("renewed") }
  const failed = new Map(
    Object.keys(errorTypes).map((type) => [type, requestsWith("failed", { "error.type": type })])
  )
  const failingWith = seriesOf(errorTypes, (type) => failing({ ...labels, "error.type": type }))
  const durationOfSuccess = requestDuration(labels)
  const durationOfFailure = seriesOf(errorTypes, (type) => requestDuration({ ...labels, "error.type": type }))
  const setExpiry = expiryTimestamp(labels)
  const setUsable = usable(labels)
  const countInvalidation = invalidations(labels)
  const setWaiting = callersWaiting(labels)
  const setMissing = new Map(requestedScopes.map((scope) => [scope, scopeMissing({ ...labels, scope })]))
  const countServed = served(labels)
  const countShared = {
    token: shared({ ...labels, outcome: "token" }),
    failure: shared({ ...labels, outcome: "failed" })
  }
  const countStoreFault = seriesOf(storeFailures, (type) => storeFaults({ ...labels, "error.type": type }))
  let counted = 0

  const all = (updates: ReadonlyArray<Effect.Effect<void>>) => Effect.all(updates, { discard: true })

  const key = JSON.stringify(labels)
  const self = {}

  const setGauges = (
    { callersWaiting, expiresAt, failure, isUsable, missingScopes }: {
      readonly isUsable: boolean
      readonly failure: Option.Option<ErrorType>
      readonly missingScopes: ReadonlyArray<string>
      readonly callersWaiting: number
      readonly expiresAt: Option.Option<DateTime.Utc>
    }
  ) =>
    all([
      setUsable(isUsable ? 1 : 0),
      ...Array.from(failingWith, ([type, set]) => set(Option.contains(failure, type) ? 1 : 0)),
      ...Array.from(setMissing, ([scope, set]) => set(missingScopes.includes(scope) ? 1 : 0)),
      setWaiting(callersWaiting),
      ...Option.toArray(Option.map(expiresAt, (at) => setExpiry(DateTime.toEpochMillis(at) / 1000)))
    ])

  return {
    start: all([
      Effect.sync(() => void shown.set(key, self)),
      ...[...Object.values(succeeded), ...failed.values()].flatMap((series) =>
        Array.from(series.values(), (count) => count(0))
      ),
      countInvalidation(0),
      ...Object.values(countShared).map((count) => count(0)),
      ...Array.from(countStoreFault.values(), (count) => count(0))
    ]),
    count: (event) => {
      switch (event._tag) {
        case "Obtained":
        case "Renewed":
          return all([
            change(succeeded[event._tag], event.reason, 1),
            durationOfSuccess(Duration.toSeconds(event.duration))
          ])
        case "Shared":
          return countShared.token(1)
        case "StoreFailed":
          return change(countStoreFault, event.reason, 1)
        case "Failed":
          if ("sharedUntil" in event.error && event.error.sharedUntil !== undefined) return countShared.failure(1)
          return all([
            change(failed.get(event.error._tag) ?? new Map(), event.reason, 1),
            change(durationOfFailure, event.error._tag, Duration.toSeconds(event.duration))
          ])
        case "Invalidated":
          return countInvalidation(1)
        case "Requested":
          return Effect.void
      }
    },
    show: (status) =>
      Effect.suspend(() => {
        const served = status.tokensServed - counted
        counted = status.tokensServed
        // after the supply that was built last has ended, an earlier one is shown again
        if (!shown.has(key)) shown.set(key, self)
        return all([
          countServed(served),
          ...(shown.get(key) !== self ? [] : [setGauges({
            ...status,
            isUsable: TokenStatus.isUsable(status),
            failure: Option.map(status.lastFailure, ({ _tag }) => _tag)
          })])
        ])
      }),
    end: Effect.suspend(() => {
      // another supply may have requested fewer scopes
      if (shown.get(key) !== self) return all(Array.from(setMissing.values(), (set) => set(0)))
      shown.delete(key)
      return setGauges({
        isUsable: true,
        failure: Option.none(),
        missingScopes: [],
        callersWaiting: 0,
        expiresAt: Option.none()
      })
    })
  }
}
