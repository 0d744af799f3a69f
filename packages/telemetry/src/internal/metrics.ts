import type * as TokenEvent from "@credit-data/core/TokenEvent"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as TokenStatus from "@credit-data/core/TokenStatus"
import * as Registry from "./registry.ts"

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
  // the buckets of http.client.request.duration in OpenTelemetry's conventions
  [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
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

const invalidations = Registry.counter({
  name: "credit_data.token.invalidations",
  description: "Tokens that the business API rejected",
  unit: "{token}"
})

const callersWaiting = Registry.gauge({
  name: "credit_data.token.callers_waiting",
  description: "Callers that wait for a token",
  unit: "{caller}"
})

const served = Registry.counter({
  name: "credit_data.token.served",
  description: "Tokens that callers got",
  unit: "{token}"
})

type ErrorType = TokenEvent.Failure["error"]["_tag"]

const errorTypes: Readonly<Record<ErrorType, true>> = {
  InvalidClient: true,
  InvalidResponse: true,
  ServerError: true,
  TransportError: true
}

const reasons: Readonly<Record<TokenEvent.RequestReason, true>> = {
  Nothing: true,
  Due: true,
  Rejected: true,
  Insufficient: true,
  Refresh: true,
  Retry: true
}

const seconds = (at: DateTime.Utc): number => DateTime.toEpochMillis(at) / 1000

/** The series of one key each. They are made once, because making a series costs more than changing it. */
const seriesOf = (keys: object, series: (key: string) => Registry.Update): ReadonlyMap<string, Registry.Update> =>
  new Map(Object.keys(keys).map((key) => [key, series(key)]))

const change = (series: ReadonlyMap<string, Registry.Update>, key: string, value: number): Effect.Effect<void> =>
  series.get(key)?.(value) ?? Effect.void

/** The metrics of one supply. */
export interface Metrics {
  /** Brings all metrics up to date. Counters exist from the start, because the first increase of an unborn series is not seen. */
  readonly start: (status: TokenStatus.TokenStatus) => Effect.Effect<void>
  /** What changes with an event. */
  readonly onEvent: (event: TokenEvent.TokenEvent) => Effect.Effect<void>
  /** What no event reports, because it changes with every call. */
  readonly sample: (status: TokenStatus.TokenStatus) => Effect.Effect<void>
}

/** The metrics of the supply with these labels. */
export const make = (labels: Registry.Labels): Metrics => {
  const requestsWith = (outcome: string, more: Registry.Labels = {}) =>
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
  const countInvalidation = invalidations(labels)
  const setWaiting = callersWaiting(labels)
  const countServed = served(labels)
  let counted = 0

  const setFailing = (failure: string | undefined) =>
    Effect.forEach(failingWith, ([type, set]) => set(type === failure ? 1 : 0), { discard: true })

  const setAt = (set: Registry.Update, at: Option.Option<DateTime.Utc>) =>
    Option.match(at, { onNone: () => Effect.void, onSome: (at) => set(seconds(at)) })

  const onSuccess = (event: TokenEvent.Success & { readonly _tag: keyof typeof succeeded }) =>
    Effect.all([
      change(succeeded[event._tag], event.reason, 1),
      durationOfSuccess(Duration.toSeconds(event.duration)),
      setExpiry(seconds(event.expiresAt)),
      setNextRequest(seconds(event.dueAt)),
      setFailing(undefined)
    ], { discard: true })

  const onFailure = ({ duration, error, reason }: TokenEvent.Failure) =>
    Effect.all([
      change(failed.get(error._tag) ?? new Map(), reason, 1),
      change(durationOfFailure, error._tag, Duration.toSeconds(duration)),
      setAt(setNextRequest, Option.fromNullable(error.nextTryAt)),
      setFailing(error._tag)
    ], { discard: true })

  const sample = (status: TokenStatus.TokenStatus) =>
    Effect.suspend(() => {
      const added = status.tokensServed - counted
      counted = status.tokensServed
      return Effect.zipRight(setWaiting(status.callersWaiting), countServed(added))
    })

  return {
    sample,
    start: (status) =>
      Effect.all([
        Effect.forEach([...Object.values(succeeded), ...failed.values()], (series) =>
          Effect.forEach(series.values(), (count) => count(0), { discard: true }), { discard: true }),
        countInvalidation(0),
        setAt(setExpiry, status.expiresAt),
        setAt(setNextRequest, status.nextRequestAt),
        setFailing(Option.getOrUndefined(Option.map(status.lastFailure, ({ _tag }) =>
          _tag))),
        sample(status)
      ], { discard: true }),
    onEvent: (event) => {
      switch (event._tag) {
        case "Obtained":
        case "Renewed":
          return onSuccess(event)
        case "Failed":
          return onFailure(event)
        case "Invalidated":
          return countInvalidation(1)
        case "Requested":
          return Effect.void
      }
    }
  }
}
