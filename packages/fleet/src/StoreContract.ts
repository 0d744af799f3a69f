/**
 * What a store has to do, as effects that the author of a store runs against it in tests.
 *
 * @since 1.0.0
 */
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { StoreError } from "./StoreError.ts"
import { maxValueSize, type Service } from "./TokenStore.ts"

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
  /** What the rule expected. */
  readonly expected: string
}> {
  /**
   * What happened. An own property, so that `structuredClone` and `postMessage` copy it.
   *
   * @since 1.0.0
   */
  override readonly message: string = `The store breaks the rule "${this.rule}". Expected ${this.expected}.`
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
/** For what is to end: the life of a value or a lease, and the time after which it has ended. */
const short = { life: Duration.millis(400), ended: Duration.millis(500) }
/** As above, with time for something else before the end. */
const medium = { life: Duration.seconds(3), ended: Duration.millis(3_100) }

/** Names that no other test uses. */
const newName = Effect.sync(() => crypto.randomUUID().replaceAll("-", "").repeat(2))

interface Wishes {
  readonly life?: Duration.Duration
  readonly seen?: number
}

/** The operations on one entry. */
const entryOf = (store: Service, name: string) => ({
  read: Effect.map(store.read(name), ({ value }) => Option.getOrUndefined(value)),
  take: (owner: string, { life = long, seen = 0 }: Wishes = {}) =>
    store.takeLease(name, { owner, seen, duration: life }),
  isTaken: (owner: string, { life = long, seen = 0 }: Wishes = {}) =>
    Effect.map(store.takeLease(name, { owner, seen, duration: life }), ({ isTaken }) => isTaken),
  release: (owner: string) => store.releaseLease(name, owner),
  /** Writes a value that lives for this long from now on. */
  publish: (bytes: Uint8Array, fence: number, life = Duration.toMillis(long), owner = "nobody") =>
    Effect.flatMap(store.read(name), ({ now }) => store.publish(name, { bytes, fence, expiresAt: now + life, owner }))
})

type Entry = ReturnType<typeof entryOf>

const expect = (isMet: boolean, expected: string): Effect.Effect<void, string> =>
  isMet ? Effect.void : Effect.fail(expected)

const rule = (
  name: string,
  body: (entry: Entry, subject: Subject) => Effect.Effect<void, string | StoreError>
): Rule => ({
  name,
  check: (subject) =>
    Effect.flatMap(newName, (entry) => body(entryOf(subject.store, entry), subject)).pipe(
      Effect.mapError((error) =>
        typeof error === "string" ? new ContractBroken({ rule: name, expected: error }) : error
      )
    )
})

/** Different bytes, which are no text. */
const bytesOf = (size: number) => Uint8Array.from({ length: size }, (_, index) => index)
const [one, two] = [Uint8Array.of(1), Uint8Array.of(2)]
const isSame = (read: { readonly bytes: Uint8Array } | undefined, bytes: Uint8Array): boolean =>
  read?.bytes.length === bytes.length && bytes.every((byte, index) => read.bytes[index] === byte)

/**
 * The contract. A store that keeps these rules can replace the stores of this package. With a store that breaks them, the
 * supply remains safe, at the price of more token requests.
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
    "an entry that was never written is empty",
    ({ read }) => Effect.flatMap(read, (value) => expect(value === undefined, "no value"))
  ),

  rule(
    "a value is read with its bytes and its fence, up to the maximum size",
    ({ publish, read }) =>
      Effect.gen(function*() {
        for (const size of [256, 0, maxValueSize]) {
          yield* expect(yield* publish(bytesOf(size), 7), "the value to be written")
          const value = yield* read
          yield* expect(isSame(value, bytesOf(size)) && value?.fence === 7, `the same ${size} bytes and the same fence`)
        }
        yield* publish(bytesOf(maxValueSize + 1), 8)
        yield* expect((yield* read) === undefined, "no value of more than `maxValueSize` bytes")
      })
  ),

  rule("each read has the time of the store's clock", ({ take }, { pass, store }) =>
    Effect.gen(function*() {
      const now = Effect.map(Effect.flatMap(newName, store.read), (look) => look.now)
      const before = yield* now
      yield* pass(short.life)
      const passed = (yield* now) - before
      yield* expect(passed >= 300 && passed < Duration.toMillis(long), "milliseconds that pass")
      const sinceThen = (yield* take("a")).now - before
      yield* expect(sinceThen >= passed && sinceThen < Duration.toMillis(long), "the same time from takeLease")
    })),

  rule("a value is read as soon as it is written", ({ publish, read, take }) =>
    Effect.gen(function*() {
      for (let fence = 1; fence <= 5; fence++) {
        yield* publish(bytesOf(fence), fence)
        yield* expect(isSame(yield* read, bytesOf(fence)), "the last value, and not one before it")
        const { value } = yield* take("a")
        yield* expect(isSame(Option.getOrUndefined(value), bytesOf(fence)), "the last value from takeLease")
      }
    })),

  rule("a value is gone when its time is over", ({ publish, read }, { pass }) =>
    Effect.gen(function*() {
      yield* publish(one, 1)
      yield* expect(isSame(yield* read, one), "the value before its end")
      yield* publish(one, 1, Duration.toMillis(short.life))
      yield* pass(short.ended)
      yield* expect((yield* read) === undefined, "no value after its end")
      yield* publish(one, 1, -Duration.toMillis(short.life))
      yield* expect((yield* read) === undefined, "no value that ended before it was written")
    })),

  rule("entries are independent", ({ publish, read, take }, { store }) =>
    Effect.gen(function*() {
      const other = entryOf(store, yield* newName)
      yield* publish(one, 1)
      yield* take("a", { seen: 1 })
      yield* expect(isSame(yield* read, one), "the value of the entry")
      yield* expect((yield* other.read) === undefined, "no value of another entry")
      yield* expect(yield* other.isTaken("b"), "the lease of another entry")
    })),

  rule(
    "a value is replaced under the same fence and a higher one, and not under a lower one",
    ({ publish, read }) =>
      Effect.gen(function*() {
        yield* publish(one, 5)
        yield* expect(yield* publish(two, 5), "a value with the same fence to be written")
        yield* expect(!(yield* publish(one, 4)), "a value with a lower fence to be refused")
        yield* expect(isSame(yield* read, two), "the value with the higher fence")
        yield* expect(yield* publish(one, 6), "a value with a higher fence to be written")
        yield* expect(isSame(yield* read, one), "the value with the highest fence")
      })
  ),

  rule("a lease has one owner until it is given back", ({ isTaken, release }) =>
    Effect.gen(function*() {
      yield* release("a")
      yield* expect(yield* isTaken("a"), "the lease")
      yield* expect(!(yield* isTaken("b")), "no lease for a second owner")
      yield* release("b")
      yield* expect(!(yield* isTaken("b")), "a lease that only its owner gives back")
      yield* release("a")
      yield* expect(yield* isTaken("b"), "the lease after it was given back")
    })),

  rule(
    "one of many owners gets the lease, and a lease that has ended",
    ({ isTaken }, { pass }) =>
      Effect.gen(function*() {
        for (const first of ["a", "b"]) {
          const owners = Array.from({ length: 20 }, (_, index) => `${first}${index}`)
          const taken = yield* Effect.forEach(owners, (owner) => isTaken(owner, medium), { concurrency: "unbounded" })
          yield* expect(taken.filter((isTaken) => isTaken).length === 1, "one lease for 20 owners at the same time")
          yield* pass(medium.ended)
        }
      })
  ),

  rule(
    "a lease is not taken while there is a value that its owner has not read",
    ({ isTaken, publish }) =>
      Effect.gen(function*() {
        yield* publish(one, 10)
        yield* expect(!(yield* isTaken("a", { seen: 9 })), "no lease with a value above `seen`")
        yield* expect(yield* isTaken("a", { seen: 10 }), "the lease without a value above `seen`")
        yield* publish(two, 11)
        yield* expect(!(yield* isTaken("a", { seen: 10 })), "no lease with a newer value above `seen`")
      })
  ),

  rule("taking a lease reads the value, whether it was taken or not", ({ publish, take }) =>
    Effect.gen(function*() {
      yield* publish(one, 2)
      for (const [owner, seen] of [["a", 1], ["a", 2], ["b", 2]] as const) {
        const { value } = yield* take(owner, { seen })
        yield* expect(isSame(Option.getOrUndefined(value), one), "the value")
      }
    })),

  rule(
    "a lease ends when its time is over, and its successor is untouched",
    ({ isTaken, release }, { pass }) =>
      Effect.gen(function*() {
        yield* isTaken("a", short)
        yield* pass(short.ended)
        yield* expect(yield* isTaken("b"), "the lease after its end")
        yield* expect(!(yield* isTaken("a")), "no lease for the owner before")
        yield* release("a")
        yield* expect(!(yield* isTaken("c")), "the lease of the next owner to remain")
      })
  ),

  rule("a lease that its owner prolongs remains in force", ({ isTaken }, { pass }) =>
    Effect.gen(function*() {
      yield* isTaken("a", medium)
      yield* expect(yield* isTaken("a"), "the lease to be prolonged")
      yield* pass(medium.ended)
      yield* expect(!(yield* isTaken("b")), "no lease for another owner")
    })),

  rule(
    "publishing gives the lease back, written or not, and only the lease of the owner",
    ({ isTaken, publish }) =>
      Effect.gen(function*() {
        yield* isTaken("a")
        yield* publish(one, 5, undefined, "b")
        yield* expect(!(yield* isTaken("c", { seen: 5 })), "the lease of another owner to remain")
        for (const fence of [6, 4]) {
          yield* publish(two, fence, undefined, fence === 6 ? "a" : "c")
          yield* expect(yield* isTaken("c", { seen: 6 }), "the lease after publishing")
        }
      })
  )
]
