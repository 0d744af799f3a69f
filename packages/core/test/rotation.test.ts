import { ClientCredentials, Variables } from "@credit-data/core"
import { after } from "@credit-data/test-support/after"
import { recordingTracer } from "@credit-data/test-support/recordingTracer"
import * as VirtualClock from "@credit-data/test-support/virtualClock"
import { printed } from "@credit-data/test-support/printed"
import { assert, describe, it } from "@effect/vitest"
import {
  Cause,
  Config,
  ConfigProvider,
  Duration,
  Effect,
  Exit,
  Fiber,
  Logger,
  Option,
  Redacted,
  type Tracer
} from "effect"
import { inspect } from "node:util"
import { credentialsNotRead } from "../src/internal/logLines.ts"
import { textOf } from "./support/fakeEndpoint.ts"
import { granted, json, type Outcome } from "./support/fakeTransport.ts"
import { credentials, make } from "./support/tokenEndpoint.ts"

/** The line of the log, without its level. */
const notRead = (fault: string) => printed(credentialsNotRead("test, client the-client", fault)).replace("WARN ", "")

const refused = json({ error: "invalid_client" }, { status: 401 })

/** A secret manager with these readings, of which the last repeats. */
const manager = <E>(...readings: ReadonlyArray<Effect.Effect<ClientCredentials.ClientCredentials, E>>) => {
  let count = 0
  return {
    read: Effect.suspend(() => readings[Math.min(count++, readings.length - 1)] ?? Effect.never),
    readings: () => count
  }
}

const secret = (text: string) => Effect.succeed({ ...credentials, clientSecret: Redacted.make(text) })
const secrets = (...texts: ReadonlyArray<string>) => manager(...texts.map(secret))

/** The values of a field of the forms that were sent. */
const sentField = (field: string, { sent }: Effect.Effect.Success<ReturnType<typeof make>>) =>
  Effect.map(sent, (all) => all.map(({ body }) => new URLSearchParams(body).get(field)))

const logTo = (lines: Array<string>) =>
  Logger.replace(Logger.defaultLogger, Logger.make(({ message }) => void lines.push(String(message))))

const nothing = { _tag: "Nothing" } as const
const refresh = { _tag: "Refresh", token: undefined } as const

describe("a rotated secret", () => {
  it.effect("a rotated secret is read once, and the request is retried with it at once", () =>
    Effect.gen(function*() {
      const { read, readings } = secrets("old", "new")
      const endpoint = yield* make({ credentials: read }, refused, json(granted))
      assert.strictEqual(readings(), 1)
      yield* endpoint.requestToken(nothing)
      yield* endpoint.requestToken(nothing)
      assert.deepStrictEqual(yield* sentField("client_secret", endpoint), ["old", "new", "new"])
      assert.strictEqual(readings(), 2)
    }))

  it.effect("a request is retried when only the client id has changed", () =>
    Effect.gen(function*() {
      const { read } = manager(Effect.succeed(credentials), Effect.succeed({ ...credentials, clientId: "another" }))
      const endpoint = yield* make({ credentials: read }, refused, json(granted))
      yield* endpoint.requestToken(nothing)
      assert.deepStrictEqual(yield* sentField("client_id", endpoint), ["the-client", "another"])
    }))

  for (
    const [name, source, requests] of [
      ["a refused secret that has not changed is not tried again", () => secrets("same").read, 1],
      [
        "when the new secret is refused too, the request fails after two attempts",
        () => secrets("old", "new", "newer").read,
        2
      ],
      ["a secret given as a value is never read again", () => credentials, 1]
    ] as const
  ) {
    it.effect(name, () =>
      Effect.gen(function*() {
        const endpoint = yield* make({ credentials: source() }, refused)
        assert.strictEqual((yield* Effect.flip(endpoint.requestToken(nothing)))._tag, "InvalidClient")
        assert.lengthOf(yield* endpoint.sent, requests)
      }))
  }

  for (
    const [how, second] of [
      ["fails", Effect.fail("the manager is down")],
      ["dies", Effect.die("a bug")],
      ["hangs", Effect.never],
      ["hangs in an uninterruptible region", Effect.uninterruptible(Effect.never)],
      ["returns invalid credentials", Effect.succeed({ clientId: "", clientSecret: Redacted.make("") })]
    ] as const
  ) {
    it.effect(`callers get the refusal within the deadline, and nothing else is sent, when the second read ${how}`, () =>
      Effect.gen(function*() {
        const { read } = manager<string>(Effect.succeed(credentials), second)
        const endpoint = yield* make({ credentials: read }, refused)
        const { result } = yield* after("10 seconds", Effect.flip(endpoint.requestToken(nothing)))
        assert.strictEqual(result._tag, "InvalidClient")
        assert.lengthOf(yield* endpoint.sent, 1)
      }))
  }

  it.effect("building fails with the failure of the first read", () =>
    Effect.gen(function*() {
      const failure = yield* Effect.flip(make({ credentials: Effect.fail("the manager is down") }, json(granted)))
      assert.strictEqual(failure, "the manager is down")
    }))

  it.effect("the second read and the retry end within one deadline", () =>
    Effect.gen(function*() {
      const { read } = manager(secret("old"), Effect.delay(secret("new"), "4 seconds"))
      const endpoint = yield* make({ credentials: read }, refused, Effect.never)
      const { result, seconds } = yield* after("10 seconds", Effect.flip(endpoint.requestToken(nothing)))
      assert.deepInclude({ ...result, seconds }, { _tag: "TransportError", reason: "Timeout", seconds: 10 })
    }))

  it.effect("the retry ends within the deadline when the wall clock is set back", () =>
    Effect.gen(function*() {
      const time = VirtualClock.make()
      let ahead = 0
      const late = Effect.zipRight(
        Effect.delay(Effect.sync(() => void (ahead = -3_600_000)), "9 seconds"),
        refused
      )
      const endpoint = yield* make({ credentials: secrets("old", "new").read }, late, Effect.never)
      const request = yield* Effect.fork(
        Effect.flip(endpoint.requestToken(nothing)).pipe(Effect.withClock(time.clockOf(() => ahead)))
      )
      yield* time.pass(10_000)
      assert.isNotNull(request.unsafePoll(), "ends within 10 s")
      assert.deepInclude({ ...(yield* Fiber.join(request)) }, { _tag: "TransportError", reason: "Timeout" })
      assert.lengthOf(yield* endpoint.sent, 2)
    }))

  it.effect("a clock that jumps ahead during a token request does not expire the new token", () =>
    Effect.gen(function*() {
      const time = VirtualClock.make()
      let ahead = 0
      const jumping = Effect.suspend(() => {
        ahead = 2 * 86_400_000
        return json(granted)
      })
      const endpoint = yield* make({}, jumping)
      const token = yield* endpoint.requestToken(nothing).pipe(Effect.withClock(time.clockOf(() => ahead)))
      assert.strictEqual(textOf(token), "an-access-token")
    }))

  it.effect("a rotated secret is read by the ConfigProvider with which the endpoint was built", () =>
    Effect.gen(function*() {
      process.env["ROTATION_CREDIT_DATA_CLIENT_ID"] = "the-client"
      process.env["ROTATION_CREDIT_DATA_CLIENT_SECRET"] = "old"
      const endpoint = yield* make({ credentials: Config.all(ClientCredentials.config) }, refused, json(granted)).pipe(
        Effect.withConfigProvider(ConfigProvider.nested(ConfigProvider.fromEnv(), "ROTATION"))
      )
      process.env["ROTATION_CREDIT_DATA_CLIENT_SECRET"] = "new"
      yield* endpoint.requestToken(nothing)
      assert.deepStrictEqual(yield* sentField("client_secret", endpoint), ["old", "new"])
    }))
})

describe("a refresh", () => {
  it.effect("refresh reads the credentials again before the request", () =>
    Effect.gen(function*() {
      const endpoint = yield* make({ credentials: secrets("old", "new").read }, json(granted))
      yield* endpoint.requestToken(refresh)
      assert.deepStrictEqual(yield* sentField("client_secret", endpoint), ["new"])
    }))

  for (
    const [name, second] of [
      ["TypeError", Effect.die(new TypeError("hidden"))],
      ["Unreachable", Effect.fail({ _tag: "Unreachable", secret: "hidden" })],
      ["an unknown failure", Effect.die("hidden")],
      ["credentials: Not read in time", Effect.never]
    ] as const
  ) {
    it.effect(`refresh keeps the old credentials when they cannot be read again, and logs only the cause: ${name}`, () =>
      Effect.gen(function*() {
        const lines: Array<string> = []
        const { read } = manager<unknown>(secret("old"), second)
        const endpoint = yield* make({ credentials: read }, json(granted))
        yield* Effect.provide(after("10 seconds", endpoint.requestToken(refresh)), logTo(lines))
        assert.deepStrictEqual(yield* sentField("client_secret", endpoint), ["old"])
        assert.deepStrictEqual(lines, [
          notRead(name)
        ])
      }))
  }

  for (
    const [name, read, line] of [
      [
        "an empty secret",
        Effect.succeed({ ...credentials, clientSecret: Redacted.make("") }),
        "credentials.clientSecret: Expected non-empty text"
      ],
      [
        "a secret with line breaks",
        Effect.succeed({ ...credentials, clientSecret: Redacted.make("a canary\n\nb") }),
        "credentials.clientSecret: Expected text without line breaks, control characters, or invisible characters at its ends, " +
        "such as a byte order mark"
      ],
      [
        "a missing variable",
        Variables.read({ clientSecret: Variables.redacted("MY_SECRET", { description: "the secret" }) }).pipe(
          Effect.withConfigProvider(ConfigProvider.fromMap(new Map())),
          Effect.map((read) => ({ ...credentials, ...read }))
        ),
        "MY_SECRET is missing: the secret"
      ],
      [
        "a Config of the program that quotes the value",
        Effect.fail({
          _tag: "ConfigError",
          toString: () =>
            "- PARTNER_SECRET: Expected 12 characters in a canary\n- PW: Expected non-empty text, not a canary"
        }),
        "ConfigError"
      ]
    ] as const
  ) {
    it.effect(`a refusal while the secret cannot be read names the fault, and asks for no rotation: ${name}`, () =>
      Effect.gen(function*() {
        const lines: Array<string> = []
        const endpoint = yield* make({ credentials: manager<unknown>(secret("old"), read).read }, refused)
        const error = yield* Effect.provide(Effect.flip(endpoint.requestToken(nothing)), logTo(lines))
        assert.include(lines.join("\n"), notRead(line))
        assert.include(error.message, `The credentials could not be read again: ${line}. The previous ones were sent`)
        assert.notInclude(error.message, "Ask the operator")
        assert.notInclude(error.message + lines.join(), "canary")
      }))
  }

  it.effect("a refusal after the secret could be read again asks whether it was rotated", () =>
    Effect.gen(function*() {
      const { read } = manager<unknown>(secret("old"), Effect.fail("away"), secret("old"))
      const endpoint = yield* make({ credentials: read }, refused)
      yield* Effect.flip(endpoint.requestToken(nothing))
      assert.include(
        (yield* Effect.flip(endpoint.requestToken(nothing))).message,
        "Ask the operator whether they were rotated"
      )
    }).pipe(Effect.provide(Logger.remove(Logger.defaultLogger))))

  it.effect("a refresh whose read hangs leaves the request half of the deadline", () =>
    Effect.gen(function*() {
      const refreshed = Effect.fnUntraced(function*(response: Outcome) {
        const endpoint = yield* make({ credentials: manager(secret("old"), Effect.never).read }, response)
        return yield* after(
          "10 seconds",
          Effect.match(endpoint.requestToken(refresh), {
            onFailure: (error) => error._tag === "TransportError" ? error.deadline : error,
            onSuccess: () => "a token"
          })
        )
      })
      const slow = yield* refreshed(Effect.delay(json(granted), "4 seconds"))
      assert.deepStrictEqual(slow, { result: "a token", seconds: 9 })
      const silent = yield* refreshed(Effect.never)
      assert.deepStrictEqual(silent, { result: Duration.seconds(5), seconds: 10 })
    }).pipe(Effect.provide(Logger.remove(Logger.defaultLogger))))

  it.effect("credentials that cannot be read again are logged once until they can be read", () =>
    Effect.gen(function*() {
      const lines: Array<string> = []
      const away = Effect.fail({ _tag: "Away" })
      const { read } = manager<unknown>(secret("old"), away, away, away, secret("old"), away)
      const endpoint = yield* make({ credentials: read }, json(granted))
      yield* Effect.replicateEffect(endpoint.credentials?.reread ?? Effect.void, 5).pipe(Effect.provide(logTo(lines)))
      assert.lengthOf(lines.filter((line) => line === notRead("Away")), 2)
    }))
})

describe("the trace of a secret that is read again", () => {
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
      yield* Effect.withSpan(endpoint.requestToken(nothing), "caller")
      assert.deepStrictEqual(traces, [["start"], ["TokenEndpoint.readCredentials", "caller"]])
    }))

  const broken = new Error("the vault quotes canary")
  for (const [how, second] of [["fails", Effect.fail(broken)], ["dies", Effect.die(broken)]] as const) {
    it.effect(`a trace shows only the name of the error when the secret manager ${how}`, () =>
      Effect.gen(function*() {
        const { spans, tracer } = recordingTracer()
        const { read } = manager<Error>(Effect.succeed(credentials), second)
        const endpoint = yield* make({ credentials: read }, refused)
        yield* Effect.flip(endpoint.requestToken(nothing)).pipe(Effect.withTracer(tracer))
        const exit = spans.find(({ name }) => name === "TokenEndpoint.readCredentials")?.exit
        assert.isTrue(exit !== undefined && Exit.isFailure(exit))
        const causes = spans.map(({ exit }) => exit && Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "")
        assert.notInclude(inspect(spans, { depth: Infinity }) + causes.join(), "canary")
      }).pipe(Effect.provide(Logger.remove(Logger.defaultLogger))))
  }
})
