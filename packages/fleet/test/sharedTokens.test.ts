import { TokenEndpoint } from "@credit-data/core"
import { SharedTokens, type StoreEngine, TokenStore } from "@credit-data/fleet"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Equal, Exit, Fiber, Layer, Option, Redacted, Stream } from "effect"
import { withValue } from "./support/changedStore.ts"
import { endpointOf, entryOf, makeMemory, type Process, readStore } from "./support/fleet.ts"
import { one, setUp, storeOf, textOf } from "./support/virtualFleet.ts"

const hour = 3_600_000

describe("the processes of a fleet", () => {
  it.effect("send one token request together when they start", () =>
    Effect.gen(function*() {
      const { ask, fleet, server } = yield* setUp({ size: 20 })
      assert.deepStrictEqual(new Set((yield* ask(fleet)).map(textOf)), new Set(["token-1"]))
      assert.strictEqual(server.server.requests, 1)
      assert.isFalse(
        one(fleet).logs.some((line) => line.includes("cannot be decrypted")),
        "an empty entry is not unusable"
      )
    }))

  it.effect("wait for one operation of the store before the first token, and for two if it contains something unusable", () =>
    Effect.gen(function*() {
      const operations: Array<string> = []
      let garbage: Option.Option<StoreEngine.Value> = Option.none()
      const { ask, get, pass, start } = yield* setUp({
        size: 0,
        store: (store) => {
          const slow = <A, E>(name: string, operation: Effect.Effect<A, E>) =>
            Effect.suspend(() => {
              operations.push(name)
              return Effect.delay(operation, "10 millis")
            })
          const changed = withValue(store, ({ value }) => Option.orElse(value, () => garbage))
          return {
            read: (name) => slow("read", changed.read(name)),
            // it takes no lease beside a value that the process has not read
            takeLease: (name, lease) =>
              slow(
                "takeLease",
                Option.isSome(garbage) && garbage.value.fence > lease.seen
                  ? Effect.map(changed.read(name), (look) => ({ ...look, isTaken: false }))
                  : changed.takeLease(name, lease)
              ),
            releaseLease: (name, owner) => slow("releaseLease", store.releaseLease(name, owner)),
            publish: (name, value) => slow("publish", store.publish(name, value))
          }
        }
      })
      // 20 ms for the store and 200 for the endpoint
      const first = yield* start(0)
      assert.strictEqual(textOf(yield* get(first, 221)), "token-1")
      yield* pass(1_000)
      assert.deepStrictEqual(operations.splice(0), ["takeLease", "publish"])
      assert.strictEqual(textOf(yield* get(yield* start(0), 11)), "token-1")
      assert.deepStrictEqual(operations.splice(0), ["takeLease"])

      // the entry of another secret is empty
      garbage = Option.some({ bytes: new Uint8Array(100), fence: 7 })
      const other = yield* start(0, Effect.succeed("another secret of more than 32 characters"))
      assert.deepStrictEqual((yield* ask([other], 231)).map(textOf), ["InvalidClient"])
      assert.deepStrictEqual(operations.slice(0, 2), ["takeLease", "takeLease"])
    }))

  it.effect("send one token request for each lifetime, and no token is returned after its expiry", () =>
    Effect.gen(function*() {
      const { ask, fleet, now, pass, server } = yield* setUp({ size: 5 })
      const sentAt: Array<number> = []
      server.server.respond = () => {
        sentAt.push(now())
        return {}
      }
      for (let round = 0; round < 60; round++) {
        for (const outcome of yield* ask(fleet, 1_000)) {
          assert.isTrue(Exit.isSuccess(outcome))
          assert.isBelow(now() - (sentAt[Number(textOf(outcome).slice("token-".length)) - 1] ?? 0), hour)
        }
        yield* pass(599_000)
      }
      assert.strictEqual(server.server.requests, 12)
    }))

  it.effect("take a token with its remaining life, and share less of it when their wall clocks are ahead", () =>
    Effect.gen(function*() {
      const { ask, fleet, get, now, pass, server, start } = yield* setUp({ size: 1 })
      yield* ask(fleet)
      yield* pass(0.7 * hour)
      for (const ahead of [-600_000, 0, 600_000]) {
        const late = yield* start(ahead)
        assert.strictEqual(textOf(yield* get(late, 1_000)), "token-1")
        const left = DateTime.toEpochMillis(Option.getOrThrow((yield* late.tokens.status).expiresAt)) - now() - ahead
        assert.closeTo(left, 0.3 * hour - Math.max(0, ahead), 45_000)
      }
      const late = yield* start(-600_000)
      yield* get(late, 1_000)
      // another process renews it
      server.server.respond = () => ({ status: 503 })
      yield* pass(0.31 * hour)
      assert.strictEqual(textOf(yield* get(late)), "ServerError")
    }))

  it.effect("publish a token with its end by the store's clock, and an earlier one if their own clock jumps ahead meanwhile", () =>
    Effect.gen(function*() {
      const ends: Array<number> = []
      for (const jump of [0, -600_000, 600_000]) {
        const { get, server, setBack, start } = yield* setUp({
          size: 0,
          store: (store) => ({
            ...store,
            publish: (name, value) => {
              ends.push(value.expiresAt)
              return store.publish(name, value)
            }
          })
        })
        // the request takes 200 ms from here
        server.server.respond = () => {
          setBack(-jump)
          return {}
        }
        yield* get(yield* start(60_000))
      }
      const life = hour - 1_000
      assert.deepStrictEqual(ends, [life, life, life - 600_000])
    }))

  it.effect("do not take a token again that has expired here, when all clocks were set back", () =>
    Effect.gen(function*() {
      let back = 0
      const { ask, fleet, pass, server, setBack } = yield* setUp({
        size: 1,
        store: (store) => ({
          ...store,
          takeLease: (name, lease) =>
            Effect.map(store.takeLease(name, lease), (taken) => ({ ...taken, now: taken.now - back })),
          // the value ends by the clock that was set back too
          publish: (name, value) => store.publish(name, { ...value, expiresAt: value.expiresAt + hour })
        })
      })
      assert.deepStrictEqual((yield* ask(fleet)).map(textOf), ["token-1"])
      server.server.respond = () => ({ status: 503 })
      yield* pass(0.9 * hour)
      yield* ask(fleet)
      back = hour / 2
      setBack(back)
      server.server.respond = () => ({})
      yield* pass(0.2 * hour)
      assert.deepStrictEqual((yield* ask(fleet)).map(textOf), [`token-${server.server.requests}`])
    }))

  it.effect("send one token request for a renewal after all clocks were set back", () =>
    Effect.gen(function*() {
      const { ask, fleet, pass, server, setBack } = yield* setUp({ size: 10 })
      yield* ask(fleet)
      setBack(hour)
      yield* pass(0.85 * hour)
      yield* ask(fleet)
      yield* pass(1_000)
      assert.deepStrictEqual(new Set((yield* ask(fleet, 1_000)).map(textOf)), new Set(["token-2"]))
      assert.strictEqual(server.server.requests, 2)
    }))

  it.effect("send one token request for a renewal after the store's clock was set back", () =>
    Effect.gen(function*() {
      const { ask, fleet, pass, server, setStoreBack } = yield* setUp({ size: 10 })
      yield* ask(fleet)
      setStoreBack(hour)
      yield* pass(0.85 * hour)
      yield* ask(fleet)
      yield* pass(1_000)
      assert.deepStrictEqual(new Set((yield* ask(fleet, 1_000)).map(textOf)), new Set(["token-2"]))
      assert.strictEqual(server.server.requests, 2)
    }))

  it.effect("replace a rejected token once, and others take the replacement", () =>
    Effect.gen(function*() {
      const { ask, fleet, pass, server } = yield* setUp({ size: 10 })
      const [token] = yield* ask(fleet)
      const rejected = token !== undefined && Exit.isSuccess(token) ? token.value : undefined
      assert.isDefined(rejected)
      const replacements = yield* Effect.forEach(fleet, ({ tokens }) =>
        Effect.flatMap(tokens.get, (own) => Effect.fork(tokens.replace(own))))
      yield* pass(5_000)
      for (const replacement of replacements) {
        assert.strictEqual(Redacted.value((yield* Fiber.join(replacement)).secret), "token-2")
      }
      assert.strictEqual(server.server.requests, 2)
      // a 401 that comes late finds the replacement in the store
      const late = yield* Effect.fork(one(fleet).tokens.replace(rejected))
      yield* pass(1_000)
      assert.strictEqual(Redacted.value((yield* Fiber.join(late)).secret), "token-2")
      assert.strictEqual(server.server.requests, 2)
    }))

  it.effect("take a newer token from the store although they may not request one, and together cost one request for each pause", () =>
    Effect.gen(function*() {
      const { ask, fleet, pass, server } = yield* setUp({ size: 2 })
      const [one, other] = fleet
      assert(one !== undefined && other !== undefined)
      yield* ask(fleet)
      /** The last token of a call that gets 401 with each token of its process. */
      const rejectedCall = Effect.fnUntraced(function*({ tokens }: Process) {
        const call = yield* Effect.fork(Effect.gen(function*() {
          const tried = [yield* tokens.get]
          while (tried.length < 3) {
            const [last, ...before] = tried
            const next = last === undefined ? yield* tokens.get : yield* tokens.replace(last, ...before)
            if (tried.some(({ secret }) => Equal.equals(secret, next.secret))) break
            tried.unshift(next)
          }
          return tried.map(({ secret }) => Redacted.value(secret))
        }))
        yield* pass(5_000)
        return yield* Fiber.join(call)
      })
      assert.deepStrictEqual(yield* rejectedCall(one), ["token-2", "token-1"])
      yield* pass(60_000)
      // all tokens are revoked, and the other process still has only the first one
      assert.deepStrictEqual(yield* rejectedCall(other), ["token-2", "token-1"])
      assert.strictEqual(server.server.requests, 2)
      assert.include(yield* rejectedCall(one), "token-3")
      assert.include(yield* rejectedCall(other), "token-3")
      assert.strictEqual(server.server.requests, 3)
      // an API that rejects every token
      for (let pause = 1; pause <= 3; pause++) {
        yield* pass(20_000)
        for (const process of [one, other, one, other]) yield* rejectedCall(process)
        assert.isAtMost(server.server.requests, 3 + 2 * pause)
      }
    }))

  it.effect("may add one token request for each process that a rolling start replaces while the API rejects every token", () =>
    Effect.gen(function*() {
      const { ask, fleet, pass, server, start } = yield* setUp({ size: 10 })
      yield* ask(fleet)
      const reject = ({ tokens }: Process) => Effect.flatMap(tokens.get, tokens.invalidate)
      /** Three minutes of rejected calls, while each of the ten processes is replaced or not. */
      const during = Effect.fnUntraced(function*(isReplaced: boolean) {
        const before = server.server.requests
        const running = [...fleet]
        for (let index = 0; index < running.length; index++) {
          if (isReplaced) running[index] = yield* start(0)
          for (let second = 0; second < 18; second += 3) {
            yield* ask(running, 0)
            for (const process of running) yield* Effect.fork(reject(process))
            yield* pass(3_000)
          }
        }
        return server.server.requests - before
      })
      const usual = yield* during(false)
      const rolling = yield* during(true)
      assert.isAtMost(usual, 7)
      assert.isAtMost(rolling, usual + 10)
    }))

  it.effect("send together at most one token request every five minutes for a scope that is missing", () =>
    Effect.gen(function*() {
      const { ask, fleet, pass, server } = yield* setUp({ size: 10 })
      yield* ask(fleet)
      for (let minute = 0; minute < 31; minute++) {
        for (const { tokens } of fleet) {
          yield* tokens.scopeMissing?.("furnishment:all") ?? Effect.die(new Error("No scopeMissing."))
        }
        yield* pass(60_000)
      }
      assert.isAtLeast(server.server.requests, 6)
      assert.isAtMost(server.server.requests, 7)
    }))

  it.effect("take an older token that a stopped process has put back only if they have none, and the next one replaces it", () =>
    Effect.gen(function*() {
      const published: Array<StoreEngine.Value> = []
      let isPutBack = false
      const { ask, fleet, get, pass, server, start } = yield* setUp({
        store: (store) => ({
          ...withValue(store, ({ value }) => isPutBack ? Option.fromNullable(published[0]) : value),
          publish: (name, value) => {
            published.push(value)
            isPutBack = false
            return store.publish(name, value)
          }
        })
      })
      yield* ask(fleet)
      yield* pass(0.85 * hour)
      const newest = one(fleet)
      yield* ask(fleet)
      assert.strictEqual(textOf(yield* get(newest)), "token-2")
      isPutBack = true
      const late = yield* start(0)
      assert.strictEqual(textOf(yield* get(late)), "token-1")
      assert.strictEqual(textOf(yield* get(newest)), "token-2")
      assert.strictEqual(server.server.requests, 2)

      const [newer, older] = [yield* newest.tokens.get, yield* late.tokens.get]
      yield* newest.tokens.invalidate(older)
      const replaced = yield* Effect.fork(newest.tokens.replace(newer, older))
      yield* pass(5_000)
      assert.strictEqual(Redacted.value((yield* Fiber.join(replaced)).secret), "token-3")
      const taken = yield* Effect.fork(late.tokens.replace(older))
      yield* pass(5_000)
      assert.strictEqual(Redacted.value((yield* Fiber.join(taken)).secret), "token-3")
      assert.strictEqual(server.server.requests, 3)
    }))

  it.effect("are each refused once after a rotation, and share the next token", () =>
    Effect.gen(function*() {
      const { ask, server, start, pass } = yield* setUp({ size: 0 })
      let secret = server.server.secret
      const fleet = yield* Effect.forEach(Array.from({ length: 5 }), () => start(0, Effect.sync(() => secret)))
      yield* ask(fleet)
      secret = server.server.secret = "the next secret, which has 32 characters too"
      yield* pass(0.85 * hour)
      yield* ask(fleet)
      yield* pass(5_000)
      assert.isTrue((yield* ask(fleet)).every(Exit.isSuccess))
      assert.deepStrictEqual([server.server.requests, server.server.refused], [11, 5])
      for (let renewal = 1; renewal <= 2; renewal++) {
        yield* pass(0.85 * hour)
        yield* ask(fleet)
        yield* pass(5_000)
        const tokens = new Set((yield* ask(fleet)).map(textOf))
        assert.deepStrictEqual(tokens, new Set([`token-${11 + renewal}`]))
      }
    }))

  it.effect("seal with the secret that their endpoint uses, when it is rotated for one after the other", () =>
    Effect.gen(function*() {
      const { get, pass, server, start } = yield* setUp({ size: 0 })
      const [old, next] = [server.server.secret, "the next secret, which has 32 characters too"]
      const secrets = [old, old]
      const [one, other] = [
        yield* start(0, Effect.sync(() => secrets[0] ?? old)),
        yield* start(0, Effect.sync(() => secrets[1] ?? old))
      ]
      yield* get(one)
      assert.strictEqual(textOf(yield* get(other)), "token-1")
      // the server accepts the next secret only, and the second process does not have it yet
      server.server.secret = next
      secrets[0] = next
      yield* pass(0.85 * hour)
      yield* get(one, 5_000)
      assert.strictEqual(textOf(yield* get(one)), "token-3")
      yield* get(other, 5_000)
      assert.strictEqual(textOf(yield* get(other)), "token-1")
      secrets[1] = next
      yield* pass(0.16 * hour)
      const token = textOf(yield* get(other, 40_000))
      assert.match(token, /^token-/)
      yield* pass(0.75 * hour)
      yield* get(one, 5_000)
      const shared = textOf(yield* get(one))
      yield* pass(0.2 * hour)
      yield* get(other, 5_000)
      assert.strictEqual(textOf(yield* get(other)), shared)
    }))

  it.effect("take over from a process that ended while it had the lease", () =>
    Effect.gen(function*() {
      const { fleet, pass, server, start } = yield* setUp({ size: 10 })
      server.server.latency = Duration.seconds(6)
      const holder = yield* start(0)
      const killed = yield* Effect.fork(holder.tokens.get)
      yield* pass(300)
      assert.strictEqual(server.server.requests, 1)
      const waiting = yield* Effect.forEach(fleet, ({ tokens }) => Effect.fork(tokens.get))
      yield* pass(1_000)
      yield* holder.close
      yield* Fiber.interrupt(killed)
      yield* pass(10_000)
      for (const fiber of waiting) assert.strictEqual(Redacted.value((yield* Fiber.join(fiber)).secret), "token-2")
      assert.strictEqual(server.server.requests, 2)
    }))

  it.effect("wait for another process for one deadline, and then as long for their own token request", () =>
    Effect.gen(function*() {
      const { name } = yield* entryOf({})
      const { fleet, get, server } = yield* setUp({
        size: 1,
        before: (store) => store.takeLease(name, { owner: "another process", seen: 0, duration: Duration.hours(1) })
      })
      server.server.latency = Duration.seconds(9)
      assert.strictEqual(textOf(yield* get(one(fleet), 20_000)), "token-1")
    }))

  it.effect("need as long as the token request, even when it takes longer than a lease", () =>
    Effect.gen(function*() {
      const { ask, fleet, server } = yield* setUp({ size: 10 })
      server.server.latency = Duration.seconds(4)
      assert.deepStrictEqual(new Set((yield* ask(fleet)).map(textOf)), new Set(["token-1"]))
      assert.strictEqual(server.server.requests, 1)
    }))
})

describe("a process whose token request hangs", () => {
  const setUpHanging = setUp({ size: 10 })

  it.effect("lets one other process try after half of the deadline, and takes its token, which is published once", () =>
    Effect.gen(function*() {
      let published = 0
      const { fleet, now, pass, server } = yield* setUp({
        size: 10,
        store: (store) => ({
          ...store,
          publish: (name, value) => {
            published++
            return store.publish(name, value)
          }
        })
      })
      server.server.latency = Duration.hours(1)
      const from = now()
      const gets = yield* Effect.forEach(fleet, ({ tokens }) => Effect.fork(Effect.exit(tokens.get)))
      yield* pass(1_000)
      assert.strictEqual(server.server.requests, 1)
      // only the network of the first process is blocked
      server.server.latency = Duration.millis(200)
      yield* pass(5_500)
      const outcomes = yield* Effect.forEach(gets, Fiber.join)
      assert.deepStrictEqual(new Set(outcomes.map(textOf)), new Set(["token-2"]))
      assert.strictEqual(server.server.requests, 2)
      assert.isAtMost(now() - from, 6_500)
      assert.strictEqual(published, 1)
    }))

  it.effect("causes two requests while the endpoint does not respond to any process", () =>
    Effect.gen(function*() {
      const { fleet, pass, server } = yield* setUpHanging
      server.server.latency = Duration.hours(1)
      yield* Effect.forEach(fleet, ({ tokens }) => Effect.fork(Effect.exit(tokens.get)))
      yield* pass(9_900)
      assert.strictEqual(server.server.requests, 2)
    }))

  it.effect("publishes its token if it arrives first, for the process that tries too", () =>
    Effect.gen(function*() {
      const { ask, fleet, server } = yield* setUpHanging
      server.server.latency = Duration.seconds(6)
      assert.deepStrictEqual(new Set((yield* ask(fleet, 7_000)).map(textOf)), new Set(["token-1"]))
      assert.strictEqual(server.server.requests, 2)
    }))
})

describe("the events and the status of a fleet", () => {
  it.effect("show what was taken, published and could not be used", () =>
    Effect.gen(function*() {
      const { fleet, get, pass, server } = yield* setUp({ size: 2 })
      const [first, second] = [one(fleet), one(fleet.slice(1))]
      const heard: ReadonlyArray<Array<string>> = [[], []]
      for (const [index, { tokens }] of [first, second].entries()) {
        yield* Effect.fork(
          Stream.runForEach(tokens.events, (event) => Effect.sync(() => heard[index]?.push(event._tag)))
        )
      }
      yield* pass(100)
      yield* get(first)
      yield* get(second)
      server.server.respond = () => ({ status: 503 })
      yield* pass(0.9 * hour)
      yield* get(first)
      yield* get(second, 500)
      assert.deepStrictEqual(heard[0]?.slice(0, 2), ["Requested", "Obtained"])
      assert.deepStrictEqual(heard[1]?.slice(0, 3), ["Requested", "Shared", "Requested"])
      const status = yield* storeOf(second)
      assert.deepStrictEqual([status.tokensTaken, status.published, status.faults], [1, 1, 0])
      assert.isTrue(second.logs.some((line) => line.includes("taken from the shared store")))
    }))

  it.effect("count the tokens and failures of others, and what a process published itself", () =>
    Effect.gen(function*() {
      const { fleet, get, pass, server, start } = yield* setUp({ size: 2 })
      const [first, second] = [one(fleet), one(fleet.slice(1))]
      const counts = (process: Process) =>
        Effect.map(storeOf(process), (status) => [status.tokensTaken, status.failuresTaken, status.published])
      yield* get(first)
      yield* get(second)
      server.server.respond = () => ({ status: 400, error: "invalid_scope" })
      yield* pass(1.1 * hour)
      assert.strictEqual(textOf(yield* get(first, 300)), "ServerError")
      assert.strictEqual(textOf(yield* get(second, 300)), "ServerError")
      assert.deepStrictEqual([yield* counts(first), yield* counts(second)], [[0, 0, 2], [1, 1, 0]])
      server.server.respond = () => ({})
      yield* pass(1_000)
      const token = textOf(yield* get(yield* start(0), 500))
      assert.strictEqual(textOf(yield* get(second, 1_500)), token, "found while it remembers the failure")
      assert.deepStrictEqual(yield* counts(second), [2, 1, 0])
    }))

  it.effect("count no value that a higher fence had overtaken before it was published", () =>
    Effect.gen(function*() {
      const { fleet, get } = yield* setUp({
        size: 1,
        store: (store) => ({ ...store, publish: () => Effect.succeed(false) })
      })
      assert.isTrue(Exit.isSuccess(yield* get(one(fleet))))
      assert.strictEqual((yield* storeOf(one(fleet))).published, 0)
    }))

  it.effect("have the time at which a process used the store, even if its token request failed", () =>
    Effect.gen(function*() {
      const { fleet, get, server } = yield* setUp({ size: 1 })
      server.server.respond = () => ({ status: 400, error: "invalid_scope" })
      assert.strictEqual(textOf(yield* get(one(fleet), 300)), "ServerError")
      assert.isTrue(Option.isSome((yield* storeOf(one(fleet))).lastUsedAt))
    }))

  it.effect("begin at zero", () =>
    Effect.gen(function*() {
      const { fleet } = yield* setUp({ size: 1 })
      assert.deepStrictEqual(yield* storeOf(one(fleet)), {
        lastUsedAt: Option.none(),
        tokensTaken: 0,
        failuresTaken: 0,
        published: 0,
        faults: 0,
        lastFault: Option.none()
      })
    }))
})

describe("what a store contains", () => {
  /** A store in memory, of which only `read` may be used by the reader. */
  const setUpOne = Effect.gen(function*() {
    let memory = yield* makeMemory
    const { clock, ...fleet } = yield* setUp({
      size: 1,
      store: (store) => {
        memory = store
        return store
      }
    })
    const refuse = () => Effect.die(new Error("only read"))
    const stored = Effect.suspend(() =>
      readStore({ read: memory.read, takeLease: refuse, releaseLease: refuse, publish: refuse })
    )
    return { ...fleet, stored: stored.pipe(Effect.withClock(clock)) }
  })

  it.effect("is nothing at first, and then the token until it expires", () =>
    Effect.gen(function*() {
      const { ask, fleet, pass, stored } = yield* setUpOne
      assert.deepStrictEqual(yield* stored, { token: Option.none(), failure: Option.none() })
      yield* ask(fleet, 1_000)
      const { failure, token } = yield* stored
      assert.strictEqual(Redacted.value(Option.getOrThrow(token).secret), "token-1")
      assert.isTrue(Option.isNone(failure))
      yield* pass(hour)
      assert.isTrue(Option.isNone((yield* stored).token))
    }))

  it.effect("is the failure that the processes share, and its end", () =>
    Effect.gen(function*() {
      const { ask, fleet, now, pass, server, stored } = yield* setUpOne
      server.server.respond = () => ({ status: 400, error: "invalid_scope", headers: { "retry-after": "20" } })
      yield* ask(fleet, 1_000)
      const { error, until } = Option.getOrThrow((yield* stored).failure)
      // the response arrived 200 ms after the start
      assert.deepStrictEqual([error._tag, DateTime.toEpochMillis(until) - now()], ["ServerError", 19_200])
      yield* pass(20_000)
      assert.isTrue(Option.isNone((yield* stored).failure))
    }))

  it.effect("is replaced once, with one warning, if it has another version", () =>
    Effect.gen(function*() {
      const { name } = yield* entryOf({})
      const bytes = Uint8Array.of(4, ...new Uint8Array(99))
      let published = 0
      const { ask, fleet, pass, server } = yield* setUp({
        size: 3,
        store: (store) => ({
          ...store,
          publish: (name, value) => Effect.tap(store.publish(name, value), () => Effect.sync(() => published++))
        }),
        before: (store) => store.publish(name, { bytes, fence: 5, expiresAt: 1e9, owner: "" })
      })
      for (let round = 0; round < 3; round++) {
        assert.isTrue((yield* ask(fleet, 1_000)).every(Exit.isSuccess))
        yield* pass(10_000)
      }
      assert.deepStrictEqual([server.server.requests, published], [1, 1])
      // the last process logs only for itself
      assert.lengthOf(one(fleet.slice(-1)).logs.filter((line) => line.includes("cannot be decrypted")), 1)
    }))
})

describe("a supply that cannot be shared", () => {
  it.effect("is a ConfigError when the secret is too short", () =>
    Effect.gen(function*() {
      const { start } = yield* setUp({ size: 0 })
      const error = yield* Effect.flip(start(0, Effect.succeed("a short canary")))
      assert.match(String(error), /clientSecret.*Expected at least 32 characters/)
      assert.notInclude(String(error), "canary")
    }))

  it.effect("is a ConfigError when the token endpoint has no credentials", () =>
    Effect.gen(function*() {
      const { credentials: _, ...endpoint } = yield* endpointOf({})
      const supply = SharedTokens.layer().pipe(
        Layer.provide([Layer.succeed(TokenEndpoint.TokenEndpoint, endpoint), TokenStore.layerMemory])
      )
      const error = String(yield* Effect.flip(Effect.scoped(Layer.build(supply))))
      assert.match(
        error,
        /TokenEndpoint.*credentials.*Expected an endpoint with credentials, under which the shared tokens are encrypted/s
      )
    }))

  it.effect("requests its own token when the next secret is too short", () =>
    Effect.gen(function*() {
      const { get, pass, server, start } = yield* setUp({ size: 0 })
      let secret = server.server.secret
      const process = yield* start(0, Effect.sync(() => secret))
      yield* get(process)
      secret = server.server.secret = "a short secret"
      yield* pass(0.85 * hour)
      yield* get(process)
      const refreshed = yield* Effect.fork(process.tokens.refresh)
      yield* pass(2_000)
      assert.isDefined(yield* Fiber.join(refreshed))
      assert.strictEqual(Option.getOrThrow((yield* storeOf(process)).lastFault).reason, "Sealing")
    }))
})
