import type * as TokenEvent from "@credit-data/core/TokenEvent"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as TokenStatus from "@credit-data/core/TokenStatus"
import * as Gauges from "./gauges.ts"
import * as Registry from "./registry.ts"
import { type Labels, secondsOfRequests } from "./sample.ts"

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

const nextRequestTimestamp = Registry.gauge({
  name: "credit_data.token.next_request_timestamp",
  description: "When the next token request is due, in seconds since 1970",
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

const storeAvailable = Registry.gauge({
  name: "credit_data.token.store_available",
  description: "1 if the last use of a shared store succeeded, otherwise 0",
  unit: "{store}"
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

const eventsLost = Registry.counter({
  name: "credit_data.token.events_lost",
  description: "Events that were lost, so that other counters are too low",
  unit: "{event}"
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

/** The metrics of one supply. Counters follow its events, and all other metrics follow its status. */
export interface Metrics {
  /** Makes all counters, because the first increase of an unborn series is not seen. */
  readonly start: Effect.Effect<void>
  /** Counts what happened. */
  readonly count: (event: TokenEvent.TokenEvent) => Effect.Effect<void>
  /** Shows the present state. */
  readonly show: (status: TokenStatus.TokenStatus) => Effect.Effect<void>
  /** Takes back what would remain wrong after the supply has gone. Other supplies with the same labels remain visible. */
  readonly end: Effect.Effect<void>
}

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
  const setNextRequest = nextRequestTimestamp(labels)
  const setUsable = usable(labels)
  const countInvalidation = invalidations(labels)
  const setWaiting = callersWaiting(labels)
  const setMissing = new Map(requestedScopes.map((scope) => [scope, scopeMissing({ ...labels, scope })]))
  const setStoreAvailable = storeAvailable(labels)
  const countServed = served(labels)
  const countLost = eventsLost(labels)
  const countShared = {
    token: shared({ ...labels, outcome: "token" }),
    failure: shared({ ...labels, outcome: "failed" })
  }
  const countStoreFault = seriesOf(storeFailures, (type) => storeFaults({ ...labels, "error.type": type }))
  let counted = { tokensServed: 0, eventsLost: 0 }

  const all = (updates: ReadonlyArray<Effect.Effect<void>>) => Effect.all(updates, { discard: true })

  const place = Gauges.of(labels)

  /** Sets the gauges to the worst of the supplies with these labels. */
  const setGauges = Effect.suspend(() => {
    const shown = place.worst()
    return all([
      ...Array.from(failingWith, ([type, set]) => set(type === shown.failure ? 1 : 0)),
      ...Array.from(setMissing, ([scope, set]) => set(shown.missingScopes.includes(scope) ? 1 : 0)),
      setUsable(shown.usable),
      setWaiting(shown.callersWaiting),
      setStoreAvailable(shown.storeAvailable),
      ...(shown.expiresAt === undefined ? [] : [setExpiry(shown.expiresAt)]),
      ...(shown.nextRequestAt === undefined ? [] : [setNextRequest(shown.nextRequestAt)])
    ])
  })

  return {
    start: all([
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
        case "Published":
          return Effect.void
      }
    },
    show: (status) =>
      Effect.suspend(() => {
        const before = counted
        counted = status
        place.show(status)
        return all([
          setGauges,
          countServed(status.tokensServed - before.tokensServed),
          countLost(status.eventsLost - before.eventsLost)
        ])
      }),
    end: Effect.suspend(() => {
      place.leave()
      return setGauges
    })
  }
}
