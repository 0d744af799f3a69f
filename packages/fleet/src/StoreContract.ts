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
import { maxValueSize, type Service, type Slot } from "./TokenStore.ts"

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
  override get message(): string {
    return `The store breaks the rule "${this.rule}". Expected ${this.expected}.`
  }
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

/** Nothing ends in this time, however slow the machine is. */
const long = Duration.minutes(1)
/** For what is to end: a value or a lease, and the time after which it has ended. */
const short = { life: Duration.millis(400), ended: Duration.millis(500) }
/** As above, with time for something else before the end. */
const medium = { life: Duration.seconds(3), ended: Duration.millis(3_100) }

const bytesOf = (text: string) => new TextEncoder().encode(text)

/** Names that no other test uses. */
const newName = Effect.sync(() => crypto.randomUUID().replaceAll("-", "").repeat(2))

/** The instant after this time, by the store's clock. */
const endOf = (store: Service, life: Duration.Duration) =>
  Effect.flatMap(
    newName,
    (name) =>
      Effect.flatMap(store.takeLease(name, { owner: "a", above: 0, seen: 0, duration: life }), ({ lease }) =>
        Option.match(lease, {
          onNone: () =>
            Effect.fail("the lease of an unused entry" as const),
          onSome: ({ takenAt }) => Effect.succeed(takenAt + Duration.toMillis(life))
        }))
  )

/** The operations on one entry. The text `expected` is the failure if the expectation is not met. */
const entryOf = (store: Service, name: string) => ({
  take: (
    owner: string,
    { above = 0, life = long, seen = Number.MAX_SAFE_INTEGER }: {
      readonly above?: number
      readonly life?: Duration.Duration
      readonly seen?: number
    } = {}
  ) =>
    Effect.map(
      store.takeLease(name, { owner, above, seen, duration: life }),
      ({ lease }) => Option.getOrUndefined(lease)?.fence
    ),
  /** What `takeLease` reads. */
  takeAndRead: (owner: string, seen: number) =>
    Effect.map(store.takeLease(name, { owner, above: 0, seen, duration: long }), ({ lease, slots }) => ({
      isTaken: Option.isSome(lease),
      token: Option.getOrUndefined(Option.map(slots.Token, ({ bytes }) => new TextDecoder().decode(bytes))),
      failure: Option.getOrUndefined(Option.map(slots.Failure, ({ bytes }) => new TextDecoder().decode(bytes)))
    })),
  renew: (owner: string) => store.renewLease(name, { owner, duration: long }),
  release: (owner: string) => store.releaseLease(name, owner),
  publish: (slot: Slot, content: string | Uint8Array, fence: number, life = long) =>
    Effect.flatMap(endOf(store, life), (expiresAt) =>
      store.publish(name, slot, {
        bytes: typeof content === "string" ? bytesOf(content) : content,
        fence,
        expiresAt
      })),
  publishUntil: (slot: Slot, text: string, fence: number, expiresAt: number) =>
    store.publish(name, slot, { bytes: bytesOf(text), fence, expiresAt }),
  value: (slot: Slot) => Effect.map(store.read(name), (slots) => Option.getOrUndefined(slots[slot])),
  text: (slot: Slot) =>
    Effect.map(
      store.read(name),
      (slots) => Option.getOrUndefined(Option.map(slots[slot], ({ bytes }) => new TextDecoder().decode(bytes)))
    )
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
    Effect.flatMap(newName, (entryName) => body(entryOf(subject.store, entryName), subject)).pipe(
      Effect.mapError((error) =>
        typeof error === "string" ? new ContractBroken({ rule: name, expected: error }) : error
      )
    )
})

const isSame = (one: Uint8Array | undefined, other: Uint8Array) =>
  one !== undefined && one.length === other.length && other.every((byte, index) => one[index] === byte)

/**
 * The contract. A store that keeps these rules can replace the stores of this package. With a store that breaks them, the
 * supply remains safe, at the price of more token requests.
 *
 * @since 1.0.0
 * @category constants
 * @example
 * ```ts
 * import { StoreContract, TokenStore } from "@credit-data/fleet"
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
  rule("an entry that was never written is empty", ({ value }) =>
    Effect.gen(function*() {
      yield* expect((yield* value("Token")) === undefined, "no token")
      yield* expect((yield* value("Failure")) === undefined, "no failure")
    })),

  rule(
    "a value is read with its bytes, its fence and its remaining life",
    ({ publish, value }) =>
      Effect.gen(function*() {
        const bytes = Uint8Array.from({ length: 256 }, (_, index) => index)
        yield* expect(yield* publish("Token", bytes, 7), "the value to be written")
        const read = yield* value("Token")
        yield* expect(isSame(read?.bytes, bytes), "the same bytes")
        yield* expect(read?.fence === 7, "the same fence")
        const remaining = Duration.toMillis(read?.remaining ?? 0)
        yield* expect(remaining > 50_000 && remaining <= 60_000, "the remaining life, which is a minute at most")
      })
  ),

  rule("a value is read as soon as it is written", ({ publish, takeAndRead, text }) =>
    Effect.gen(function*() {
      for (let fence = 1; fence <= 5; fence++) {
        yield* publish("Token", `token ${fence}`, fence)
        yield* expect((yield* text("Token")) === `token ${fence}`, "the last value, and not one before it")
        const { token } = yield* takeAndRead("a", 0)
        yield* expect(token === `token ${fence}`, "the last value from takeLease, and not one before it")
      }
    })),

  rule(
    "an empty value and one of the maximum size are kept",
    ({ publish, value }) =>
      Effect.forEach([0, maxValueSize], (size) =>
        Effect.gen(function*() {
          yield* publish("Token", new Uint8Array(size), 1)
          yield* expect((yield* value("Token"))?.bytes.length === size, `${size} bytes`)
        }), { discard: true })
  ),

  rule("a value that is too large counts as absent", ({ publish, value }) =>
    Effect.gen(function*() {
      yield* publish("Token", new Uint8Array(maxValueSize + 1), 1)
      yield* expect((yield* value("Token")) === undefined, "no value of more than `maxValueSize` bytes")
    })),

  rule("a value is gone when its time is over", ({ publish, text }, { pass }) =>
    Effect.gen(function*() {
      yield* publish("Token", "token", 1)
      yield* expect((yield* text("Token")) === "token", "the value before its end")
      yield* publish("Token", "token", 1, short.life)
      yield* pass(short.ended)
      yield* expect((yield* text("Token")) === undefined, "no value after its end")
    })),

  rule(
    "a value that ended before it is written is never read",
    ({ publishUntil, text }, { store }) =>
      Effect.gen(function*() {
        const expiresAt = (yield* endOf(store, short.life)) - 2 * Duration.toMillis(short.life)
        yield* publishUntil("Token", "late", 1, expiresAt)
        yield* expect((yield* text("Token")) === undefined, "no value after its end")
      })
  ),

  rule("both slots and all entries are independent", ({ publish, text }, { store }) =>
    Effect.gen(function*() {
      const other = entryOf(store, yield* newName)
      yield* publish("Token", "token", 1)
      yield* publish("Failure", "failure", 2)
      yield* expect((yield* text("Token")) === "token", "the token beside a failure")
      yield* expect((yield* text("Failure")) === "failure", "the failure beside a token")
      yield* expect((yield* other.text("Token")) === undefined, "no value of another entry")
      yield* expect((yield* other.take("a")) !== undefined, "the lease of another entry")
    })),

  rule(
    "a value is replaced under the same fence and a higher one, and not under a lower one",
    ({ publish, text }) =>
      Effect.gen(function*() {
        yield* expect(yield* publish("Token", "first", 5), "the first value to be written")
        yield* expect(yield* publish("Token", "again", 5), "a value with the same fence to be written")
        yield* expect(!(yield* publish("Token", "late", 4)), "a value with a lower fence to be refused")
        yield* expect((yield* text("Token")) === "again", "the value with the higher fence")
        yield* expect(yield* publish("Token", "next", 6), "a value with a higher fence to be written")
        yield* expect((yield* text("Token")) === "next", "the value with the highest fence")
      })
  ),

  rule("a lease has one owner until it is given back", ({ release, take }) =>
    Effect.gen(function*() {
      yield* expect((yield* take("a")) !== undefined, "the lease")
      yield* expect((yield* take("b")) === undefined, "no lease for a second owner")
      yield* expect((yield* take("a")) === undefined, "no second lease for its owner")
      yield* release("a")
      yield* expect((yield* take("b")) !== undefined, "the lease after it was given back")
    })),

  rule("one of many owners gets the lease", ({ take }) =>
    Effect.gen(function*() {
      const owners = Array.from({ length: 50 }, (_, index) => `owner-${index}`)
      const fences = yield* Effect.forEach(owners, (owner) => take(owner), { concurrency: "unbounded" })
      yield* expect(
        fences.filter((fence) => fence !== undefined).length === 1,
        "one lease for 50 owners at the same time"
      )
    })),

  rule(
    "a lease is not taken while there is a value that its owner has not read",
    ({ publish, release, take }) =>
      Effect.gen(function*() {
        for (const [index, slot] of (["Token", "Failure"] as const).entries()) {
          const fence = 10 * (index + 1)
          yield* publish(slot, "value", fence)
          yield* expect((yield* take("a", { seen: fence - 1 })) === undefined, `no lease with ${slot} above \`seen\``)
          yield* expect((yield* take("a", { seen: fence })) !== undefined, `the lease without ${slot} above \`seen\``)
          yield* release("a")
        }
      })
  ),

  rule(
    "taking a lease reads both slots, whether it was taken or not",
    ({ publish, takeAndRead }) =>
      Effect.gen(function*() {
        yield* publish("Token", "token", 1)
        yield* publish("Failure", "failure", 2)
        for (const [owner, seen, isTaken] of [["a", 1, false], ["a", 2, true], ["b", 2, false]] as const) {
          const read = yield* takeAndRead(owner, seen)
          yield* expect(read.isTaken === isTaken, isTaken ? "the lease" : "no lease")
          yield* expect(read.token === "token" && read.failure === "failure", "both values")
        }
      })
  ),

  rule("a lease ends when its time is over", ({ take }, { pass }) =>
    Effect.gen(function*() {
      const first = yield* take("a", short)
      yield* pass(short.ended)
      const second = yield* take("b")
      yield* expect(second !== undefined && second > (first ?? Infinity), "the lease, under a higher fence")
    })),

  rule("a lease that is renewed remains in force", ({ renew, take }, { pass }) =>
    Effect.gen(function*() {
      yield* take("a", medium)
      yield* expect(yield* renew("a"), "the lease to be renewed")
      yield* pass(medium.ended)
      yield* expect((yield* take("b")) === undefined, "no lease for another owner")
      yield* expect(yield* renew("a"), "the lease to be renewed again")
    })),

  rule(
    "a lease that has ended cannot be renewed or given back, and its successor is untouched",
    ({ release, renew, take }, { pass }) =>
      Effect.gen(function*() {
        yield* take("a", short)
        yield* pass(short.ended)
        yield* expect(!(yield* renew("a")), "no renewal of a lease that has ended")
        yield* take("b")
        yield* expect(!(yield* renew("a")), "no renewal of the lease of another owner")
        yield* release("a")
        yield* expect((yield* take("c")) === undefined, "the lease of another owner to remain")
        yield* expect(yield* renew("b"), "the owner to renew its lease")
      })
  ),

  rule(
    "a lease that no process took can be given back and cannot be renewed",
    ({ release, renew }) =>
      Effect.gen(function*() {
        yield* expect(!(yield* renew("a")), "no renewal")
        yield* release("a")
      })
  ),

  rule("each fence is higher than all before it", ({ publish, release, take }, { pass }) =>
    Effect.gen(function*() {
      const isAbove = (fence: number | undefined, other: number | undefined, expected: string) =>
        expect(fence !== undefined && fence > (other ?? Infinity), `a fence above ${expected}`)
      const first = yield* take("a")
      yield* release("a")
      const second = yield* take("b")
      yield* isAbove(second, first, "the fence of the previous lease")
      yield* release("b")
      yield* isAbove(yield* take("a", { above: 1_000 }), 1_000, "the fence that the owner passes")
      yield* release("a")
      yield* publish("Token", "token", 5_000, medium.life)
      yield* isAbove(yield* take("c"), 5_000, "the fence of the token")
      yield* release("c")
      yield* publish("Failure", "failure", 6_000, medium.life)
      const last = yield* take("c", short)
      yield* isAbove(last, 6_000, "the fence of the failure")
      yield* pass(medium.ended)
      yield* isAbove(yield* take("d"), last, "the fences of values and leases that have ended")
    }))
]
