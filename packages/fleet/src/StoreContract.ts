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
import { type Look, maxValueSize, type Service } from "./TokenStore.ts"

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
/** For what is to end: its life, and the time after which it has ended. */
const short = { life: Duration.millis(400), ended: Duration.millis(500) }

/** Different bytes, which are no text. */
const bytesOf = (size: number) => Uint8Array.from({ length: size }, (_, index) => index)
const [one, two] = [Uint8Array.of(1), Uint8Array.of(2)]

const isEmpty = ({ value }: Look): boolean => Option.isNone(value)

const contains = ({ value }: Look, bytes: Uint8Array): boolean =>
  Option.exists(
    value,
    (read) => read.bytes.length === bytes.length && bytes.every((byte, at) => byte === read.bytes[at])
  )

/** The operations on an entry. */
const entryOf = (store: Service, name: string) => {
  const take = (owner: string, { life = long, seen = 0 } = {}) => store.takeLease(name, { owner, seen, duration: life })
  return {
    read: store.read(name),
    take,
    isTaken: (...args: Parameters<typeof take>) => Effect.map(take(...args), ({ isTaken }) => isTaken),
    release: (owner: string) => store.releaseLease(name, owner),
    /** Writes a value that lives for this long from now on. */
    publish: (bytes: Uint8Array, fence: number, { life = long, owner = "nobody" } = {}) =>
      Effect.flatMap(
        store.read(name),
        ({ now }) => store.publish(name, { bytes, fence, expiresAt: now + Duration.toMillis(life), owner })
      )
  }
}

type Entry = ReturnType<typeof entryOf>

const expect = (isMet: boolean, expected: string): Effect.Effect<void, string> =>
  isMet ? Effect.void : Effect.fail(expected)

/** A rule, as what happens to a new entry, and to another one. */
const rule = (
  name: string,
  body: (entry: Entry, subject: Subject, other: Entry) => Effect.Effect<void, string | StoreError>
): Rule => ({
  name,
  check: (subject) => {
    const id = crypto.randomUUID().replaceAll("-", "")
    const [entry, other] = [entryOf(subject.store, `${id}${id}`), entryOf(subject.store, `${id}${"0".repeat(32)}`)]
    return Effect.mapError(
      body(entry, subject, other),
      (error) => typeof error === "string" ? new ContractBroken({ rule: name, expected: error }) : error
    )
  }
})

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
    "a value is read as soon as it is written, with its bytes and its fence, up to the maximum size",
    (entry) =>
      Effect.gen(function*() {
        for (const size of [256, 0, maxValueSize]) {
          yield* expect(yield* entry.publish(bytesOf(size), 7), "the value to be written")
          for (const look of [yield* entry.read, yield* entry.take("a")]) {
            yield* expect(contains(look, bytesOf(size)), `the last ${size} bytes, from read and from takeLease`)
            yield* expect(Option.exists(look.value, ({ fence }) => fence === 7), "the fence of the value")
          }
        }
        yield* entry.publish(bytesOf(maxValueSize + 1), 8)
        yield* expect(isEmpty(yield* entry.read), "no value of more than `maxValueSize` bytes")
      })
  ),

  rule("each read has the time of the store's clock", ({ read, take }, { pass }) =>
    Effect.gen(function*() {
      const { now } = yield* read
      yield* pass(short.life)
      const passed = (yield* read).now - now
      const sinceThen = (yield* take("a")).now - now
      yield* expect(passed >= 300, "milliseconds that pass")
      yield* expect(sinceThen >= passed && sinceThen < Duration.toMillis(long), "the same time from takeLease")
    })),

  rule("a value is gone when its time is over", ({ publish, read }, { pass }) =>
    Effect.gen(function*() {
      yield* publish(one, 1)
      yield* expect(contains(yield* read, one), "the value before its end")
      yield* publish(one, 1, short)
      yield* pass(short.ended)
      yield* expect(isEmpty(yield* read), "no value after its end")
      yield* publish(one, 1, { life: Duration.millis(-400) })
      yield* expect(isEmpty(yield* read), "no value that ended before it was written")
    })),

  rule("entries are empty at first, and independent", ({ publish, read, take }, _, other) =>
    Effect.gen(function*() {
      yield* expect(isEmpty(yield* read), "no value that was never written")
      yield* publish(one, 1)
      yield* take("a", { seen: 1 })
      yield* expect(contains(yield* read, one), "the value of the entry")
      yield* expect(isEmpty(yield* other.read), "no value of another entry")
      yield* expect(yield* other.isTaken("b"), "the lease of another entry")
    })),

  rule(
    "a value is replaced under the same fence and a higher one, and not under a lower one",
    ({ publish, read }) =>
      Effect.gen(function*() {
        yield* publish(one, 5)
        yield* expect(yield* publish(two, 5), "a value with the same fence to be written")
        yield* expect(!(yield* publish(one, 4)), "a value with a lower fence to be refused")
        yield* expect(contains(yield* read, two), "the value with the higher fence")
        yield* expect(yield* publish(one, 6), "a value with a higher fence to be written")
        yield* expect(contains(yield* read, one), "the value with the highest fence")
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
    "one of many owners gets a lease that is free, or that has ended",
    (entry, { pass }, other) =>
      Effect.gen(function*() {
        yield* other.take("z", short)
        yield* pass(short.ended)
        for (const { isTaken } of [entry, other]) {
          const owners = Array.from({ length: 20 }, (_, index) => isTaken(`${index}`))
          const taken = (yield* Effect.all(owners, { concurrency: "unbounded" })).filter(Boolean)
          yield* expect(taken.length === 1, "one lease for 20 owners at the same time")
        }
      })
  ),

  rule(
    "a lease is not taken while there is a value that its owner has not read",
    ({ publish, take }) =>
      Effect.gen(function*() {
        yield* publish(one, 10)
        for (const [owner, seen, mayTake] of [["a", 9, false], ["a", 10, true], ["b", 10, false]] as const) {
          const taken = yield* take(owner, { seen })
          yield* expect(taken.isTaken === mayTake, `${mayTake ? "the" : "no"} lease for ${owner}, who has read ${seen}`)
          yield* expect(contains(taken, one), "the value, whether the lease was taken or not")
        }
        yield* publish(two, 11)
        yield* expect(!(yield* take("a", { seen: 10 })).isTaken, "no lease with a newer value above `seen`")
      })
  ),

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
      yield* isTaken("a", short)
      yield* expect(yield* isTaken("a"), "the lease to be prolonged")
      yield* pass(short.ended)
      yield* expect(!(yield* isTaken("b")), "no lease for another owner")
    })),

  rule(
    "publishing gives the lease back, written or not, and only the lease of the owner",
    ({ isTaken, publish }) =>
      Effect.gen(function*() {
        yield* isTaken("a")
        yield* publish(one, 5, { owner: "b" })
        yield* expect(!(yield* isTaken("c", { seen: 5 })), "the lease of another owner to remain")
        yield* publish(two, 6, { owner: "a" })
        yield* expect(yield* isTaken("c", { seen: 6 }), "the lease after a value was written")
        yield* publish(two, 4, { owner: "c" })
        yield* expect(yield* isTaken("d", { seen: 6 }), "the lease after a value was refused")
      })
  )
]
