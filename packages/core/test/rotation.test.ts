import { assert, describe, it } from "@effect/vitest"
import { recordingTracer } from "@credit-data/test-support/recordingTracer"
import {
  Cause,
  type Clock,
  Config,
  ConfigProvider,
  Duration,
  Effect,
  Exit,
  Fiber,
  Logger,
  Option,
  Redacted,
  Ref,
  TestClock,
  type Tracer
} from "effect"
import { granted, json, type Outcome } from "./support/fakeTransport.ts"
import { credentials, make } from "./support/tokenEndpoint.ts"
import { ClientCredentials } from "@credit-data/core"
import { inspect } from "node:util"
import * as TwoClocks from "./support/twoClocks.ts"

const refused = json({ error: "invalid_client" }, { status: 401 })

describe("a rotated secret", () => {
  const rotating = Effect.fnUntraced(function*(...secrets: ReadonlyArray<string>) {
    const readings = yield* Ref.make(0)
    const read = Effect.map(Ref.getAndUpdate(readings, (count) => count + 1), (count) => ({
      clientId: "the-client",
      clientSecret: Redacted.make(secrets[Math.min(count, secrets.length - 1)] ?? "")
    }))
    return { read, readings: Ref.get(readings) }
  })

  it.effect("a rotated secret is read once, and the request is retried with it at once", () =>
    Effect.gen(function*() {
      const { read, readings } = yield* rotating("old", "new")
      const endpoint = yield* make({ credentials: read }, refused, json(granted))
      assert.strictEqual(yield* readings, 1)
      yield* endpoint.requestToken({ _tag: "Nothing" })
      assert.strictEqual(yield* readings, 2)
      yield* endpoint.requestToken({ _tag: "Nothing" })
      const sent = yield* endpoint.sent
      assert.deepStrictEqual(sent.map(({ body }) => new URLSearchParams(body).get("client_secret")), [
        "old",
        "new",
        "new"
      ])
      assert.strictEqual(yield* readings, 2)
    }))

  it.effect("a rotated secret is read in the trace of the token request, not in the trace of the program's start", () =>
    Effect.gen(function*() {
      const traces: Array<ReadonlyArray<string>> = []
      const names = (span: Tracer.AnySpan): ReadonlyArray<string> =>
        span._tag === "Span" ? [span.name, ...Option.match(span.parent, { onNone: () => [], onSome: names })] : []
      const read = Effect.map(Effect.currentParentSpan, (span) => {
        traces.push(names(span))
        return { clientId: "the-client", clientSecret: Redacted.make(`secret ${traces.length}`) }
      }).pipe(Effect.orDie)
      const endpoint = yield* Effect.withSpan(make({ credentials: read }, refused, json(granted)), "start")
      yield* Effect.withSpan(endpoint.requestToken({ _tag: "Nothing" }), "caller")
      assert.deepStrictEqual(traces, [
        ["start"],
        ["TokenEndpoint.readCredentials", "caller"]
      ])
    }))

  const broken = new Error("the vault quotes canary")
  it.effect.each([
    { how: "fails", broken: Effect.fail(broken) },
    { how: "dies", broken: Effect.die(broken) }
  ])("a trace shows only the name of the error when the secret manager $how", ({ broken }) =>
    Effect.gen(function*() {
      const { spans, tracer } = recordingTracer()
      let reads = 0
      const read = Effect.suspend(() => reads++ === 0 ? Effect.succeed(credentials) : broken)
      const endpoint = yield* make({ credentials: read }, refused)
      yield* Effect.flip(endpoint.requestToken({ _tag: "Nothing" })).pipe(Effect.withTracer(tracer))
      const span = spans.find(({ name }) => name === "TokenEndpoint.readCredentials")
      assert.isTrue(span?.exit !== undefined && Exit.isFailure(span.exit))
      assert.notInclude(inspect(spans, { depth: Infinity }), "canary")
      assert.notInclude(
        spans.map(({ exit }) => exit && Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "").join(),
        "canary"
      )
    }).pipe(Effect.provide(Logger.remove(Logger.defaultLogger))))

  it.effect("a refused secret that has not changed is not tried again", () =>
    Effect.gen(function*() {
      const { read, readings } = yield* rotating("same")
      const endpoint = yield* make({ credentials: read }, refused)
      assert.strictEqual((yield* Effect.flip(endpoint.requestToken({ _tag: "Nothing" })))._tag, "InvalidClient")
      assert.strictEqual(yield* readings, 2)
      assert.strictEqual((yield* endpoint.sent).length, 1)
    }))

  it.effect("when the new secret is refused too, the request fails after two attempts", () =>
    Effect.gen(function*() {
      const { read } = yield* rotating("old", "new", "newer")
      const endpoint = yield* make({ credentials: read }, refused)
      assert.strictEqual((yield* Effect.flip(endpoint.requestToken({ _tag: "Nothing" })))._tag, "InvalidClient")
      assert.strictEqual((yield* endpoint.sent).length, 2)
    }))

  it.effect("a secret given as a value is never read again", () =>
    Effect.gen(function*() {
      const endpoint = yield* make({}, refused)
      assert.strictEqual((yield* Effect.flip(endpoint.requestToken({ _tag: "Nothing" })))._tag, "InvalidClient")
      assert.strictEqual((yield* endpoint.sent).length, 1)
    }))

  it.effect("a request is retried when only the client id has changed", () =>
    Effect.gen(function*() {
      const readings = yield* Ref.make(0)
      const read = Effect.map(
        Ref.updateAndGet(readings, (count) => count + 1),
        (count) => ({ clientId: `client ${count}`, clientSecret: credentials.clientSecret })
      )
      const endpoint = yield* make({ credentials: read }, refused, json(granted))
      yield* endpoint.requestToken({ _tag: "Nothing" })
      assert.deepStrictEqual((yield* endpoint.sent).map(({ body }) => new URLSearchParams(body).get("client_id")), [
        "client 1",
        "client 2"
      ])
    }))

  it.effect("callers get the refusal when the second read fails, dies, hangs or returns invalid credentials", () =>
    Effect.gen(function*() {
      for (
        const second of [
          Effect.fail("the manager is down"),
          Effect.die("a bug"),
          Effect.never,
          Effect.succeed({ clientId: "", clientSecret: Redacted.make("") })
        ]
      ) {
        const reading = yield* Ref.make(0)
        const read = Effect.flatMap(
          Ref.getAndUpdate(reading, (count) => count + 1),
          (count): Effect.Effect<typeof credentials, string> => count === 0 ? Effect.succeed(credentials) : second
        )
        const endpoint = yield* make({ credentials: read }, refused)
        const request = yield* Effect.fork(Effect.timed(Effect.flip(endpoint.requestToken({ _tag: "Nothing" }))))
        yield* TestClock.adjust("10 seconds")
        const [, error] = yield* Fiber.join(request)
        assert.strictEqual(error._tag, "InvalidClient")
      }
    }))

  it.effect("a refresh whose read hangs says so, and leaves the request half of the deadline", () =>
    Effect.gen(function*() {
      const lines: Array<unknown> = []
      const logger = Logger.make(({ message }) => void lines.push(String(message)))
      const refreshed = Effect.fnUntraced(function*(response: Outcome) {
        const { readings, read } = yield* rotating("old")
        const hanging = Effect.flatMap(readings, (count) => count === 0 ? read : Effect.never)
        const endpoint = yield* make({ credentials: hanging }, response)
        const outcome = Effect.match(endpoint.requestToken({ _tag: "Refresh", token: undefined }), {
          onFailure: ({ message }) => message,
          onSuccess: () => "a token"
        })
        const request = yield* Effect.fork(Effect.timed(outcome))
        yield* TestClock.adjust("10 seconds")
        const [took, result] = yield* Fiber.join(request)
        return { result, seconds: Duration.toSeconds(took) }
      }, Effect.provide(Logger.replace(Logger.defaultLogger, logger)))

      const slow = yield* refreshed(Effect.delay(json(granted), "4 seconds"))
      assert.strictEqual(slow.result, "a token")
      assert.strictEqual(slow.seconds, 9)
      assert.include(
        lines.join("\n"),
        "could not be read again: reading took too long. The previous credentials remain"
      )

      const silent = yield* refreshed(Effect.never)
      assert.include(silent.result, "did not respond within 5 s")
      assert.strictEqual(silent.seconds, 10)
    }))

  it.effect("building fails with the failure of the first read", () =>
    Effect.gen(function*() {
      const failure = yield* Effect.flip(make({ credentials: Effect.fail("the manager is down") }, json(granted)))
      assert.strictEqual(failure, "the manager is down")
    }))

  it.effect("the second read and the retry end within one deadline", () =>
    Effect.gen(function*() {
      const { read } = yield* rotating("old", "new")
      const endpoint = yield* make({ credentials: Effect.delay(read, "4 seconds") }, refused, Effect.never).pipe(
        Effect.fork,
        Effect.tap(() => TestClock.adjust("4 seconds")),
        Effect.flatMap(Fiber.join)
      )
      const request = yield* Effect.fork(Effect.timed(Effect.flip(endpoint.requestToken({ _tag: "Nothing" }))))
      yield* TestClock.adjust("10 seconds")
      const [duration, error] = yield* Fiber.join(request)
      assert.deepInclude({ ...error }, { _tag: "TransportError", reason: "Timeout" })
      assert.strictEqual(Duration.toMillis(duration), Duration.toMillis(endpoint.deadline))
    }))

  it.effect("the retry ends within the deadline when the wall clock is set back", () =>
    Effect.gen(function*() {
      const clocks = TwoClocks.make()
      const sleeps: Array<number> = []
      const clock: Clock.Clock = {
        ...clocks.clock,
        sleep: (duration) => {
          sleeps.push(Duration.toMillis(duration))
          return Effect.never
        }
      }
      const { read } = yield* rotating("old", "new")
      const late = Effect.suspend(() => {
        clocks.pass("9 seconds")
        clocks.jumpBack("1 hour")
        return refused
      })
      const endpoint = yield* make({ credentials: Effect.zipRight(Effect.yieldNow(), read) }, late, json(granted))
      yield* endpoint.requestToken({ _tag: "Nothing" }).pipe(Effect.withClock(clock))
      // the whole deadline for the first request, and then the rest of it
      assert.deepStrictEqual(sleeps, [10_000, 1_000, 1_000])
    }))

  it.effect("an uninterruptible second read ends at the deadline", () =>
    Effect.gen(function*() {
      const { read, readings } = yield* rotating("old", "new")
      const stubborn = Effect.flatMap(readings, (count) => count === 0 ? read : Effect.uninterruptible(Effect.never))
      const endpoint = yield* make({ credentials: stubborn }, refused)
      const request = yield* Effect.fork(Effect.flip(endpoint.requestToken({ _tag: "Nothing" })))
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual((yield* Fiber.join(request))._tag, "InvalidClient")
    }))

  it.effect("a rotated secret is read by the ConfigProvider with which the endpoint was built", () =>
    Effect.gen(function*() {
      process.env["ROTATION_CREDIT_DATA_CLIENT_ID"] = "the-client"
      process.env["ROTATION_CREDIT_DATA_CLIENT_SECRET"] = "old"
      const endpoint = yield* make({ credentials: Config.all(ClientCredentials.config) }, refused, json(granted)).pipe(
        Effect.withConfigProvider(ConfigProvider.nested(ConfigProvider.fromEnv(), "ROTATION"))
      )
      process.env["ROTATION_CREDIT_DATA_CLIENT_SECRET"] = "new"
      yield* endpoint.requestToken({ _tag: "Nothing" })
      const sent = yield* endpoint.sent
      assert.deepStrictEqual(sent.map(({ body }) => new URLSearchParams(body).get("client_secret")), ["old", "new"])
    }))
})
