import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Option, type Scope } from "effect"

type Slot = "Token" | "Failure"

interface Value {
  readonly bytes: Uint8Array
  readonly fence: number
}

/** The port `TokenStore` of `@credit-data/fleet`, which depends on this package for its tests. */
interface Service {
  readonly read: (
    name: string
  ) => Effect.Effect<Readonly<Record<Slot, Option.Option<Value & { readonly remaining: Duration.Duration }>>>, unknown>
  readonly takeLease: (
    name: string,
    lease: { readonly owner: string; readonly duration: Duration.Duration; readonly above: number }
  ) => Effect.Effect<Option.Option<{ readonly fence: number; readonly takenAt: number }>, unknown>
  readonly renewLease: (
    name: string,
    lease: { readonly owner: string; readonly duration: Duration.Duration }
  ) => Effect.Effect<boolean, unknown>
  readonly releaseLease: (name: string, owner: string) => Effect.Effect<void, unknown>
  readonly publish: (
    name: string,
    slot: Slot,
    value: Value & { readonly expiresAt: number }
  ) => Effect.Effect<boolean, unknown>
}

/** A store for one test, and how time passes for it. */
export interface Subject {
  readonly store: Service
  readonly pass: (duration: Duration.Duration) => Effect.Effect<void>
}

/** Nothing ends in this time, however slow the machine is. */
const long = Duration.minutes(1)
/** For what is to end: a value or a lease, and the time after which it has ended. */
const short = { life: Duration.millis(400), ended: Duration.millis(500) }
/** The same, with time for something else before the end. */
const medium = { life: Duration.seconds(3), ended: Duration.millis(3_100) }

const bytesOf = (text: string) => new TextEncoder().encode(text)
const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

/** 64 hexadecimal digits, other ones for each test. */
const newName = () => crypto.randomUUID().replaceAll("-", "").repeat(2)

/** The instant after this time, by the store's clock. */
const endOf = (store: Service, life: Duration.Duration) =>
  Effect.map(
    store.takeLease(newName(), { owner: "a", above: 0, duration: life }),
    (lease) => Option.getOrThrow(lease).takenAt + Duration.toMillis(life)
  )

const use = ({ pass, store }: Subject, name = newName()) => ({
  name,
  pass,
  take: (
    owner: string,
    { above = 0, life = long }: { readonly above?: number; readonly life?: Duration.Duration } = {}
  ) =>
    Effect.map(store.takeLease(name, { owner, above, duration: life }), (lease) => Option.getOrUndefined(lease)?.fence),
  renew: (owner: string) => store.renewLease(name, { owner, duration: long }),
  release: (owner: string) => store.releaseLease(name, owner),
  publish: (slot: Slot, text: string, fence: number, life = long) =>
    Effect.flatMap(
      endOf(store, life),
      (expiresAt) => store.publish(name, slot, { bytes: bytesOf(text), fence, expiresAt })
    ),
  value: (slot: Slot) => Effect.map(store.read(name), (slots) => Option.getOrUndefined(slots[slot])),
  text: (slot: Slot) =>
    Effect.map(
      store.read(name),
      (slots) => Option.getOrUndefined(Option.map(slots[slot], ({ bytes }) => textOf(bytes)))
    )
})

const isAbove = (fence: number | undefined, other: number | undefined) => {
  assert.isAbove(fence ?? 0, other ?? Number.POSITIVE_INFINITY)
}

/** The tests that every engine has to pass. */
export const contract = <E, R>(
  engine: string,
  make: Effect.Effect<Subject, E, R | Scope.Scope>,
  run: <A, E2>(name: string, test: () => Effect.Effect<A, E2, R | Scope.Scope>) => void
) => {
  const test = (
    name: string,
    body: (entry: ReturnType<typeof use>, subject: Subject) => Effect.Effect<void, unknown>
  ) => run(name, () => Effect.flatMap(make, (subject) => body(use(subject), subject)))

  describe(`the contract of stores: ${engine}`, () => {
    test("an entry that was never written is empty", ({ value }) =>
      Effect.gen(function*() {
        assert.isUndefined(yield* value("Token"))
        assert.isUndefined(yield* value("Failure"))
      }))

    test(
      "a value is read with its bytes, its fence and its remaining life",
      ({ name, value }, { store }) =>
        Effect.gen(function*() {
          const bytes = Uint8Array.from({ length: 256 }, (_, index) => index)
          assert.isTrue(
            yield* store.publish(name, "Token", {
              bytes,
              fence: 7,
              expiresAt: yield* endOf(store, Duration.minutes(1))
            })
          )
          const read = yield* value("Token")
          assert.deepStrictEqual(read?.bytes, bytes)
          assert.strictEqual(read?.fence, 7)
          const remaining = Duration.toMillis(read?.remaining ?? 0)
          assert.isTrue(remaining > 50_000 && remaining <= 60_000, `${remaining}`)
        })
    )

    test("an empty value and one of the maximum size are kept", ({ name, value }, { store }) =>
      Effect.gen(function*() {
        for (const size of [0, 256 * 1024]) {
          yield* store.publish(name, "Token", {
            bytes: new Uint8Array(size),
            fence: 1,
            expiresAt: yield* endOf(store, long)
          })
          assert.strictEqual((yield* value("Token"))?.bytes.length, size)
        }
      }))

    test("a value that is too large counts as absent", ({ name, value }, { store }) =>
      Effect.gen(function*() {
        yield* store.publish(name, "Token", {
          bytes: new Uint8Array(256 * 1024 + 1),
          fence: 1,
          expiresAt: yield* endOf(store, long)
        })
        assert.isUndefined(yield* value("Token"))
      }))

    test("a value is gone when its time is over", ({ pass, publish, text }) =>
      Effect.gen(function*() {
        yield* publish("Token", "token", 1)
        assert.strictEqual(yield* text("Token"), "token")
        yield* publish("Token", "token", 1, short.life)
        yield* pass(short.ended)
        assert.isUndefined(yield* text("Token"))
      }))

    test(
      "a value that ended before it is written is never read",
      ({ name, text }, { store }) =>
        Effect.gen(function*() {
          const expiresAt = (yield* endOf(store, short.life)) - 2 * Duration.toMillis(short.life)
          yield* store.publish(name, "Token", { bytes: bytesOf("late"), fence: 1, expiresAt })
          assert.isUndefined(yield* text("Token"))
        })
    )

    test("both slots and all entries are independent", ({ publish, text }, subject) =>
      Effect.gen(function*() {
        const other = use(subject)
        yield* publish("Token", "token", 1)
        yield* publish("Failure", "failure", 2)
        assert.strictEqual(yield* text("Token"), "token")
        assert.strictEqual(yield* text("Failure"), "failure")
        assert.isUndefined(yield* other.text("Token"))
        assert.isDefined(yield* other.take("a"))
      }))

    test("a value is replaced under the same fence and a higher one, and not under a lower one", ({ publish, text }) =>
      Effect.gen(function*() {
        assert.isTrue(yield* publish("Token", "first", 5))
        assert.isTrue(yield* publish("Token", "again", 5))
        assert.isFalse(yield* publish("Token", "late", 4))
        assert.strictEqual(yield* text("Token"), "again")
        assert.isTrue(yield* publish("Token", "next", 6))
        assert.strictEqual(yield* text("Token"), "next")
      }))

    test("a lease has one owner until it is given back", ({ release, take }) =>
      Effect.gen(function*() {
        assert.isDefined(yield* take("a"))
        assert.isUndefined(yield* take("b"))
        assert.isUndefined(yield* take("a"))
        yield* release("a")
        assert.isDefined(yield* take("b"))
      }))

    test("a lease ends when its time is over", ({ pass, take }) =>
      Effect.gen(function*() {
        const first = yield* take("a", short)
        yield* pass(short.ended)
        isAbove(yield* take("b"), first)
      }))

    test("a lease that is renewed goes on", ({ pass, renew, take }) =>
      Effect.gen(function*() {
        yield* take("a", medium)
        assert.isTrue(yield* renew("a"))
        yield* pass(medium.ended)
        assert.isUndefined(yield* take("b"))
        assert.isTrue(yield* renew("a"))
      }))

    test("a lease that has ended cannot be renewed or given back, and its successor is untouched", (entry) =>
      Effect.gen(function*() {
        yield* entry.take("a", short)
        yield* entry.pass(short.ended)
        assert.isFalse(yield* entry.renew("a"))
        yield* entry.take("b")
        assert.isFalse(yield* entry.renew("a"))
        yield* entry.release("a")
        assert.isUndefined(yield* entry.take("c"))
        assert.isTrue(yield* entry.renew("b"))
      }))

    test("a lease that nobody took can be given back and cannot be renewed", ({ release, renew }) =>
      Effect.gen(function*() {
        assert.isFalse(yield* renew("a"))
        yield* release("a")
      }))

    test("each fence is higher than all before it", ({ pass, publish, release, take }) =>
      Effect.gen(function*() {
        const first = yield* take("a")
        yield* release("a")
        const second = yield* take("b")
        isAbove(second, first)
        yield* release("b")
        isAbove(yield* take("a", { above: 1_000 }), 1_000)
        yield* release("a")
        yield* publish("Token", "token", 5_000, medium.life)
        isAbove(yield* take("c"), 5_000)
        yield* release("c")
        yield* publish("Failure", "failure", 6_000, medium.life)
        const last = yield* take("c", short)
        isAbove(last, 6_000)
        // also when the values and the lease have gone
        yield* pass(medium.ended)
        isAbove(yield* take("d"), last)
      }))

    test("one of many processes gets the lease", ({ take }) =>
      Effect.gen(function*() {
        const owners = Array.from({ length: 50 }, (_, index) => `owner-${index}`)
        const fences = yield* Effect.forEach(owners, (owner) => take(owner), { concurrency: "unbounded" })
        assert.lengthOf(fences.filter((fence) => fence !== undefined), 1)
      }))
  })
}

/** Runs the contract under the TestClock. */
export const underTestClock = <A, E>(name: string, test: () => Effect.Effect<A, E, Scope.Scope>): void => {
  it.scoped(name, test)
}

/** Runs the contract in real time, for a server that has a clock of its own. */
export const inRealTime = <A, E>(name: string, test: () => Effect.Effect<A, E, Scope.Scope>): void => {
  it.scopedLive(name, test)
}
