/**
 * What a store has to do, as effects that the author of a store runs against it in tests.
 *
 * @since 1.0.0
 */
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type { StoreError } from "./StoreError.ts"
import { type Look, maxValueSize, type Service } from "./StoreEngine.ts"

/**
 * The store under test. Every rule uses entries with new names, so one store is enough for all rules.
 *
 * @since 1.0.0
 * @category models
 */
export interface Subject {
  readonly store: Service
  /** Lets time pass for the store: `TestClock.adjust` for a store that uses Effect's clock, and `Effect.sleep` for a real server. */
  readonly pass: (duration: Duration.Duration) => Effect.Effect<void>
}

/**
 * The store breaks a rule.
 *
 * @since 1.0.0
 * @category errors
 */
export class ContractBroken extends Data.TaggedError("ContractBroken")<{
  /** The name of the rule. */
  readonly rule: string
  /** What the store was expected to do, step by step. */
  readonly expected: string
  /** What it did. */
  readonly observed: string
}> {
  /**
   * What happened. An own property, so that `structuredClone` and `postMessage` copy it.
   *
   * @since 1.0.0
   */
  override readonly message: string =
    `The store breaks the rule "${this.rule}". Expected: ${this.expected}. Observed: ${this.observed}.`
}

/**
 * A rule of the contract.
 *
 * @since 1.0.0
 * @category models
 */
export interface Rule {
  readonly name: string
  /** Fails if the store breaks the rule. Leaves entries behind that end within a minute. */
  readonly check: (subject: Subject) => Effect.Effect<void, ContractBroken | StoreError>
}

/** Long enough that nothing ends, even on a slow machine. */
const long = Duration.minutes(1)
/** For what is to end: its life, and the time after which it has ended. */
const [short, ended] = [Duration.millis(400), Duration.millis(500)]

/** Different bytes, which are no text. */
const bytesOf = (size: number) => Uint8Array.from({ length: size }, (_, index) => index)

/** The fence and the size of a value. */
const shown = ({ value }: Look): string =>
  Option.match(value, {
    onNone: () => "nothing",
    onSome: ({ bytes, fence }) =>
      `${fence}:${bytes.every((byte, index) => byte === index % 256) ? bytes.length : "other bytes"}`
  })

/** The steps that a rule takes with an entry. What the store reports becomes a word. */
const entryOf = ({ pass, store }: Subject, name: string) => {
  const read = Effect.suspend(() => store.read(name))
  const takeLease = (owner: string, seen = 0, duration = long) =>
    Effect.suspend(() => store.takeLease(name, { owner, seen, duration }))
  return {
    pass,
    read: Effect.map(read, shown),
    /** The time, from both operations that read. */
    times: Effect.map(Effect.all([read, takeLease("a")]), (looks) => looks.map(({ now }) => now)),
    /** Writes a value of this size that lives for this long from now on. */
    write: (size: number, fence: number, owner = "nobody", life = Duration.toMillis(long)) =>
      Effect.flatMap(
        read,
        ({ now }) => store.publish(name, { bytes: bytesOf(size), fence, expiresAt: now + life, owner })
      ).pipe(
        Effect.map((isWritten) => isWritten ? "written" : "refused")
      ),
    take: (...args: Parameters<typeof takeLease>) =>
      Effect.map(takeLease(...args), ({ isTaken }) => isTaken ? "taken" : "lent"),
    /** Tries to take the lease. The value is read, whether it is taken or not. */
    find: (...args: Parameters<typeof takeLease>) => Effect.map(takeLease(...args), shown),
    /** Twenty owners try to take the lease at the same time. */
    takeAll: Effect.map(
      Effect.all(Array.from({ length: 20 }, (_, index) => takeLease(`${index}`)), { concurrency: "unbounded" }),
      (results) => `${results.filter(({ isTaken }) => isTaken).length} taken`
    ),
    giveBack: (owner: string) => Effect.suspend(() => store.releaseLease(name, owner))
  }
}

type Entry = ReturnType<typeof entryOf>

/** A rule: the steps with an entry and another one, and the words that they return. */
const rule = (
  name: string,
  steps: (entry: Entry, other: Entry) => ReadonlyArray<Effect.Effect<string | void, StoreError>>,
  expected: string
): Rule => ({
  name,
  check: (subject) => {
    const id = crypto.randomUUID().replaceAll("-", "")
    return Effect.flatMap(
      Effect.all(steps(entryOf(subject, `${id}${id}`), entryOf(subject, `${id}${"0".repeat(32)}`))),
      (words) => {
        const observed = words.filter(Predicate.isString).join(", ")
        return observed === expected ? Effect.void : Effect.fail(new ContractBroken({ rule: name, expected, observed }))
      }
    )
  }
})

/**
 * The contract. A store that keeps these rules can replace the stores of this package.
 *
 * @since 1.0.0
 * @category constants
 * @example
 * ```ts
 * import { TokenStore } from "@credit-data/fleet"
 * import * as StoreContract from "@credit-data/fleet/StoreContract"
 * import { Effect, TestClock } from "effect"
 *
 * // in a test, for each rule
 * export const tests = StoreContract.rules.map(({ check, name }) => ({
 *   name,
 *   test: Effect.flatMap(TokenStore.TokenStore, (store) => check({ store, pass: TestClock.adjust })).pipe(
 *     Effect.provide(TokenStore.layerMemory)
 *   )
 * }))
 * ```
 */
export const rules: ReadonlyArray<Rule> = [
  rule(
    "a value is read as soon as it is written, with its bytes and its fence",
    ({ find, read, write }) => [7, 8, 8].flatMap((fence, index) => [write(256 * index, fence), read, find("a")]),
    "written, 7:0, 7:0, written, 8:256, 8:256, written, 8:512, 8:512"
  ),
  rule(
    "a value has up to `maxValueSize` bytes",
    ({ read, write }) => [write(maxValueSize, 1), read, Effect.asVoid(write(maxValueSize + 1, 2)), read],
    `written, 1:${maxValueSize}, nothing`
  ),
  rule(
    "a value is gone when its time is over",
    ({ pass, read, write }) => [write(1, 1), read, write(1, 1, "nobody", 400), pass(ended), read],
    "written, 1:1, written, nothing"
  ),
  rule(
    "a value that has ended before it is written does not appear",
    ({ read, write }) => [Effect.asVoid(write(1, 1, "nobody", -400)), read],
    "nothing"
  ),
  rule(
    "a value is replaced under the same fence and a higher one, and not under a lower one",
    ({ read, write }) => [write(1, 5), write(2, 5), write(3, 4), read, write(4, 6), read],
    "written, written, refused, 5:2, written, 6:4"
  ),
  rule(
    "entries are empty at first, and independent",
    ({ read, take, write }, other) => [read, write(1, 1), take("a", 1), other.read, other.take("b"), read],
    "nothing, written, taken, nothing, taken, 1:1"
  ),
  rule(
    "each read has the time of the store's clock",
    ({ pass, times }) => [
      Effect.gen(function*() {
        const [before = Number.NaN] = yield* times
        yield* pass(short)
        const passed = (yield* times).map((after) => after - before)
        return passed.every((millis) => millis >= 300 && millis < 60_000) ? "milliseconds" : passed.join(" and ")
      })
    ],
    "milliseconds"
  ),
  rule(
    "a lease has one owner until it is given back",
    ({ giveBack, take }) => [giveBack("a"), take("a"), take("b"), giveBack("b"), take("b"), giveBack("a"), take("b")],
    "taken, lent, lent, taken"
  ),
  rule("one of many owners gets the lease", ({ takeAll }) => [takeAll], "1 taken"),
  rule(
    "one of many owners gets a lease that has ended",
    ({ pass, take, takeAll }) => [take("a", 0, short), pass(ended), takeAll],
    "taken, 1 taken"
  ),
  rule(
    "a lease is not taken while there is a value that its owner has not read",
    ({ take, write }) => [write(1, 9), take("a", 8), take("a", 9), write(2, 10), take("a", 9)],
    "written, lent, taken, written, lent"
  ),
  rule(
    "taking a lease reads the value, whether it was taken or not",
    ({ find, write }) => [write(1, 2), find("a", 1), find("a", 2), find("b", 2)],
    "written, 2:1, 2:1, 2:1"
  ),
  rule(
    "a lease ends when its time is over, and its successor is untouched",
    ({ giveBack, pass, take }) => [take("a", 0, short), pass(ended), take("b"), take("a"), giveBack("a"), take("c")],
    "taken, taken, lent, lent"
  ),
  rule(
    "a lease that its owner prolongs remains in force",
    ({ pass, take }) => [take("a", 0, short), take("a"), pass(ended), take("b")],
    "taken, taken, lent"
  ),
  rule(
    "publishing gives back the lease of the owner, whether the value was written or not",
    ({ take, write }) => [take("a"), write(1, 5, "a"), take("b", 5), write(1, 4, "b"), take("c", 5)],
    "taken, written, taken, refused, taken"
  ),
  rule(
    "publishing leaves the lease of another owner",
    ({ take, write }) => [take("a"), write(1, 5, "b"), take("c", 5)],
    "taken, written, lent"
  )
]
