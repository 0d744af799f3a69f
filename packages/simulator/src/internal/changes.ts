import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import * as Change from "../Change.ts"
import type { IssuedToken } from "../IssuedToken.ts"
import type { Received } from "../Received.ts"
import { limit } from "./body.ts"
import * as History from "./history.ts"

/** How many requests, and how many tokens, the simulator remembers. */
const capacity = 1000

/** What happened in the simulator. Each change gets the next revision. */
export interface Changes {
  readonly requests: History.History<Received>
  readonly tokens: History.History<IssuedToken>
  /** Makes a change with the next revision, and then informs the followers. */
  readonly record: <A>(change: (revision: number) => A) => Effect.Effect<A>
  /** As `record`, for a change of the settings. */
  readonly recordSettings: <A>(change: (revision: number) => A) => Effect.Effect<A>
  /** As `record`, and the history starts clean. */
  readonly recordReset: (change: () => void) => Effect.Effect<void>
  /** The latest revision, now and after each change. A slow listener misses revisions, but never the last one. */
  readonly revisions: Stream.Stream<number>
  /** What changed after this revision, and then every change, in order. */
  readonly since: (revision: number) => Stream.Stream<Change.Change>
}

export const make: Effect.Effect<Changes> = Effect.map(SubscriptionRef.make(0), (latest) => {
  const requests = History.make<Received>(capacity, limit)
  const tokens = History.make<IssuedToken>(capacity)
  let revision = 0
  let settingsAt = 0
  let resetAt = 0

  const record = <A>(change: (revision: number) => A) =>
    Effect.suspend(() => {
      revision += 1
      const result = change(revision)
      return Effect.as(SubscriptionRef.set(latest, revision), result)
    })

  const changedAfter = (seen: number): ReadonlyArray<Change.Change> =>
    [
      ...seen < resetAt ? [Change.Reset({ revision: resetAt })] : [],
      ...seen < settingsAt ? [Change.Settings({ revision: settingsAt })] : [],
      ...requests.since(seen).map(({ item, revision }) => Change.Request({ revision, request: item })),
      ...tokens.since(seen).map(({ item, revision }) => Change.Token({ revision, token: item }))
    ].toSorted((left, right) => left.revision - right.revision)

  const revisions = latest.changes.pipe(Stream.buffer({ capacity: 1, strategy: "sliding" }))

  return {
    requests,
    tokens,
    record,
    recordSettings: (change) =>
      record((revision) => {
        settingsAt = revision
        return change(revision)
      }),
    recordReset: (change) =>
      record((revision) => {
        requests.clear()
        tokens.clear()
        settingsAt = revision
        resetAt = revision
        change()
      }),
    revisions,
    since: (first) =>
      Stream.suspend(() => {
        let seen = first
        return Stream.flatMap(revisions, () => {
          const changes = changedAfter(seen)
          seen = revision
          return Stream.fromIterable(changes)
        })
      })
  }
})
