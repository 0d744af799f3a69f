import { assert, describe, it } from "@effect/vitest"
import { Cause, Duration, Effect, Exit, Fiber, Option, Redacted } from "effect"
import { one, setUp, storeOf, textOf } from "./support/virtualFleet.ts"

const hour = 3_600_000

describe("the processes of a fleet whose token endpoint fails", () => {
  it.effect("take a failure for as long as it is shared, however long the store keeps it", () =>
    Effect.gen(function*() {
      let isKept = false
      const { ask, get, pass, server, start } = yield* setUp({
        size: 0,
        store: (store) => ({
          ...store,
          // what an attacker can do who cannot seal anything
          publish: (name, value) => isKept ? Effect.succeed(true) : store.publish(name, { ...value, expiresAt: hour })
        })
      })
      server.server.respond = () => ({ status: 400, error: "invalid_scope" })
      const [first, second] = [yield* start(0), yield* start(0)]
      assert.deepStrictEqual((yield* ask([first, second], 500)).map(textOf), ["ServerError", "ServerError"])
      assert.strictEqual(server.server.requests, 1)
      isKept = true
      server.server.respond = () => ({})
      yield* pass(800)
      assert.strictEqual(textOf(yield* get(yield* start(0), 1_000)), "token-2")
      yield* pass(1_000)
      assert.strictEqual(textOf(yield* get(second, 1_000)), "token-3")
    }))

  it.effect("wait no longer for a refusal than it is shared, because it may have been a mistake", () =>
    Effect.gen(function*() {
      const { ask, fleet, pass, server } = yield* setUp({ size: 20 })
      let requests = 0
      server.server.respond = () => requests++ === 0 ? { status: 401, error: "invalid_client" } : {}
      const outcomes = yield* ask(fleet, 500)
      assert.deepStrictEqual(new Set(outcomes.map(textOf)), new Set(["InvalidClient"]))
      yield* pass(2_500)
      const [, ...others] = fleet
      const later = (yield* ask(others, 1_000)).map(textOf)
      assert.lengthOf(later.filter((text) => text.startsWith("token-")), others.length)
      assert.strictEqual(new Set(later).size, 1)
      assert.strictEqual(textOf((yield* ask(fleet, 1_000))[0] ?? assert.fail()), later[0])
      assert.strictEqual(server.server.requests, 2)
    }))

  it.effect("take no late failure of a process that no longer holds the lease, while another one requests a token", () =>
    Effect.gen(function*() {
      const { fleet, pass, server, start } = yield* setUp({ size: 2 })
      server.server.latency = Duration.seconds(8)
      server.server.respond = () => ({ status: 400, error: "invalid_scope" })
      const first = yield* Effect.fork(Effect.exit(one(fleet).tokens.get))
      yield* pass(1_000)
      server.server.respond = () => ({})
      const second = yield* Effect.fork(Effect.exit(one(fleet.slice(1)).tokens.get))
      yield* pass(6_900)
      assert.strictEqual(server.server.requests, 2, "the second process has taken the lease")
      yield* pass(300)
      const third = yield* start(0)
      const waiting = yield* Effect.fork(Effect.exit(third.tokens.get))
      yield* pass(20_000)
      assert.strictEqual(textOf(yield* Fiber.join(first)), "ServerError")
      assert.strictEqual(textOf(yield* Fiber.join(second)), "token-2")
      assert.strictEqual(textOf(yield* Fiber.join(waiting)), "token-2")
      assert.strictEqual((yield* storeOf(third)).failuresTaken, 0)
    }))

  it.effect("take a token soon after another process has obtained one, while they remember a failure", () =>
    Effect.gen(function*() {
      const { ask, fleet, get, pass, server, start } = yield* setUp({ size: 10 })
      server.server.respond = () => ({ status: 400, error: "invalid_scope" })
      assert.deepStrictEqual(new Set((yield* ask(fleet, 5_000)).map(textOf)), new Set(["ServerError"]))
      server.server.respond = () => ({})
      assert.match(textOf(yield* get(yield* start(0), 500)), /^token-/)
      const { requests } = server.server
      // callers request tokens all the time
      for (let step = 0; step < 4; step++) yield* Effect.zipRight(ask(fleet, 250), pass(250))
      const outcomes = yield* ask(fleet, 1)
      assert.deepStrictEqual(new Set(outcomes.map(textOf)), new Set([`token-${requests}`]))
      assert.strictEqual(server.server.requests, requests)
      const status = yield* storeOf(one(fleet))
      assert.isAtLeast(status.tokensTaken, 1)
    }))

  it.effect("look into the store about once a second while they remember a failure, and only when callers request tokens", () =>
    Effect.gen(function*() {
      let reads = 0
      const { ask, fleet, get, pass, server } = yield* setUp({
        size: 1,
        store: (store) => ({ ...store, read: (name) => Effect.zipRight(Effect.sync(() => reads++), store.read(name)) })
      })
      server.server.respond = () => ({ status: 400, error: "invalid_scope", headers: { "retry-after": "60" } })
      yield* get(one(fleet), 1_000)
      reads = 0
      for (let step = 0; step < 50; step++) yield* ask([one(fleet), one(fleet)], 100)
      assert.isAtLeast(reads, 4)
      assert.isAtMost(reads, 7)
      reads = 0
      yield* pass(10_000)
      assert.strictEqual(reads, 0)
      assert.strictEqual(server.server.requests, 1)
    }))

  it.effect("take the token of the next secret, while they remember that the old one was refused", () =>
    Effect.gen(function*() {
      const { get, server, start } = yield* setUp({ size: 0 })
      let secret = server.server.secret
      server.server.secret = "the next secret, which has 32 characters too"
      const old = yield* start(0, Effect.sync(() => secret))
      assert.strictEqual(textOf(yield* get(old, 1_000)), "InvalidClient")
      secret = server.server.secret
      const next = yield* start(0, Effect.sync(() => secret))
      const token = textOf(yield* get(next, 1_000))
      const { requests } = server.server
      yield* get(old, 1_500)
      assert.strictEqual(textOf(yield* get(old, 1_000)), token)
      assert.strictEqual(server.server.requests, requests)
    }))

  it.effect("wait for a slow store for at most 0.6 s, while they remember a failure", () =>
    Effect.gen(function*() {
      let isSlow = false
      const { fleet, get, now, pass, server } = yield* setUp({
        size: 1,
        store: (store) => ({
          ...store,
          read: (name) => Effect.suspend(() => isSlow ? Effect.never : store.read(name))
        })
      })
      server.server.respond = () => ({ status: 400, error: "invalid_scope", headers: { "retry-after": "60" } })
      yield* get(one(fleet), 1_000)
      yield* pass(2_000)
      isSlow = true
      const askedAt = now()
      const waiting = yield* Effect.fork(Effect.exit(one(fleet).tokens.get))
      yield* pass(599)
      assert.isNull(waiting.unsafePoll())
      yield* pass(50)
      assert.strictEqual(textOf(yield* Fiber.join(waiting)), "ServerError")
      assert.isAtMost(now() - askedAt, 650)
    }))

  it.effect("take a failure, for as long as it is shared, and retry it together", () =>
    Effect.gen(function*() {
      const { ask, fleet, server } = yield* setUp({ size: 30 })
      server.server.respond = () => ({ status: 503 })
      assert.deepStrictEqual(new Set((yield* ask(fleet)).map(textOf)), new Set(["ServerError"]))
      // without a store, each process would send 3
      assert.isAtMost(server.server.requests, 9)
      const failure = (yield* one(fleet).tokens.status).lastFailure
      assert.isTrue(Option.isSome(failure))
    }))

  it.effect("wait together for the duration of Retry-After", () =>
    Effect.gen(function*() {
      const { ask, fleet, pass, server } = yield* setUp({ size: 10 })
      server.server.respond = () => ({ status: 503, headers: { "retry-after": "50" } })
      yield* ask(fleet, 5_000)
      assert.strictEqual(server.server.requests, 1)
      yield* pass(35_000)
      const outcomes = yield* ask(fleet, 1_000)
      assert.strictEqual(server.server.requests, 1)
      assert.deepStrictEqual(new Set(outcomes.map(textOf)), new Set(["ServerError"]))
      server.server.respond = () => ({})
      yield* pass(20_000)
      yield* ask(fleet, 5_000)
      assert.strictEqual(server.server.requests, 2)
    }))

  it.effect("get a failure as soon as a process without a store, when Retry-After exceeds the deadline", () =>
    Effect.gen(function*() {
      const { fleet, get, server } = yield* setUp({ size: 1 })
      server.server.respond = () => ({ status: 503, headers: { "retry-after": "15" } })
      assert.strictEqual(textOf(yield* get(one(fleet), 1_000)), "ServerError")
      assert.strictEqual(server.server.requests, 1)
    }))

  it.effect("name the process that took a failure of another one in its message", () =>
    Effect.gen(function*() {
      const { ask, fleet, server } = yield* setUp({ size: 2 })
      server.server.secret = "another one"
      const messages = (yield* ask(fleet)).map((outcome) =>
        Exit.isSuccess(outcome) ? "" : String(Cause.squash(outcome.cause))
      )
      assert.lengthOf(
        messages.filter((message) =>
          message.includes("Another process with these credentials received this response.")
        ),
        1
      )
      assert.strictEqual(server.server.requests, 1)
    }))

  it.effect("do not share a failure of the transport, which may be local", () =>
    Effect.gen(function*() {
      const { ask, fleet, server } = yield* setUp({ size: 2 })
      server.server.latency = Duration.hours(1)
      const outcomes = yield* ask(fleet, 60_000)
      assert.deepStrictEqual(outcomes.map(textOf), ["TransportError", "TransportError"])
      for (const process of fleet) assert.strictEqual((yield* storeOf(process)).published, 0)
    }))

  it.effect("do not wait for the lease of a process that got an invalid response, which is not shared", () =>
    Effect.gen(function*() {
      const { ask, fleet, now, server } = yield* setUp({ size: 2 })
      const requestedAt: Array<number> = []
      server.server.respond = () => requestedAt.push(now()) === 1 ? { status: 302 } : {}
      assert.deepStrictEqual((yield* ask(fleet)).map(textOf), ["InvalidResponse", "token-2"])
      // a request and the time between two looks at the store, and not the two seconds of a lease
      assert.isAtMost(requestedAt[1] ?? Infinity, 200 + 200)
    }))

  it.effect("refresh sends a token request, and does not return a failure that is shared", () =>
    Effect.gen(function*() {
      const { ask, fleet, pass, server } = yield* setUp({ size: 2 })
      server.server.respond = () => ({ status: 503, headers: { "retry-after": "50" } })
      yield* ask(fleet, 5_000)
      server.server.respond = () => ({})
      const refreshed = yield* Effect.fork(one(fleet).tokens.refresh)
      yield* pass(2_000)
      assert.strictEqual(Redacted.value((yield* Fiber.join(refreshed)).secret), "token-2")
    }))
})
