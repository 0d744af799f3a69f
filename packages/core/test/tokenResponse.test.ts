import { failures, granted, otherStatuses, outsideTheContract } from "@credit-data/test-support/tokenResponses"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Logger, Redacted, TestClock } from "effect"
import { json, raw } from "./support/fakeTransport.ts"
import { make, requestToken } from "./support/tokenEndpoint.ts"

const lifetime = (body: object) =>
  Effect.map(
    requestToken(json(body)),
    ({ expiresAt, requestedAt }) => DateTime.distance(requestedAt, expiresAt) / 1000
  )

describe("a 200 within the contract", () => {
  it.effect("a response within the contract becomes a token", () =>
    Effect.gen(function*() {
      yield* TestClock.adjust("3 seconds")
      const token = yield* requestToken(json({ ...granted, refresh_token: "ignored" }))
      assert.strictEqual(Redacted.value(token.secret), "an-access-token")
      assert.deepStrictEqual(token.scopes, ["data-access:all"])
      assert.strictEqual(DateTime.toEpochMillis(token.requestedAt), 3_000)
      assert.strictEqual(DateTime.toEpochMillis(token.expiresAt), 86_402_000, "a second early")
      assert.strictEqual(token.tokenType, "Bearer")
      assert.isTrue(token.covers("data-access:all"))
      assert.isFalse(token.covers("furnishment:all"))
    }))

  it.effect("expires_in may be text, and is limited to a week", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* lifetime({ ...granted, expires_in: "3600" }), 3599)
      assert.strictEqual(yield* lifetime({ ...granted, expires_in: 3600.9 }), 3599)
      assert.strictEqual(yield* lifetime({ ...granted, expires_in: 10 }), 9)
      assert.strictEqual(yield* lifetime({ ...granted, expires_in: 5 }), 4.5)
      assert.strictEqual(yield* lifetime({ ...granted, expires_in: 1 }), 0.9)
      assert.strictEqual(yield* lifetime({ ...granted, expires_in: 60 * 86_400 }), 7 * 86_400)
      assert.strictEqual(yield* lifetime({ ...granted, expires_in: 2 ** 53 }), 7 * 86_400)
      assert.strictEqual(yield* lifetime({ ...granted, expires_in: "9".repeat(300) }), 7 * 86_400)
    }))

  it.effect("a token without expires_in is used for 5 minutes, with a warning", () => {
    const logged: Array<string> = []
    const logger = Logger.make(({ logLevel, message }) => logged.push(`${logLevel.label} ${String(message)}`))
    return Effect.gen(function*() {
      yield* requestToken(json(granted))
      assert.strictEqual(yield* lifetime({ ...granted, expires_in: undefined }), 300)
      assert.deepStrictEqual(logged, [
        "WARN The token endpoint https://v2.example/oauth2/token (test, client the-client) did not return expires_in. The token is used for 5m."
      ])
    }).pipe(Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
  })

  it.effect("null counts as missing for expires_in and scope", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* lifetime({ ...granted, expires_in: null }), 300)
      assert.deepStrictEqual((yield* requestToken(json({ ...granted, scope: null }))).scopes, [
        "data-access:all",
        "furnishment:all"
      ])
    }))

  it.effect("a token has the requested scopes if scope is missing, and the granted scopes otherwise", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual((yield* requestToken(json({ ...granted, scope: undefined }))).scopes, [
        "data-access:all",
        "furnishment:all"
      ])
      assert.deepStrictEqual((yield* requestToken(json({ ...granted, scope: "" }))).scopes, [])
      assert.deepStrictEqual((yield* requestToken(json({ ...granted, scope: " a  b " }))).scopes, ["a", "b"])
    }))

  it.effect("a response may arrive in pieces", () =>
    Effect.gen(function*() {
      const bytes = new TextEncoder().encode(JSON.stringify(granted))
      const pieces = Effect.sync(() =>
        new Response(
          new ReadableStream({
            start: (controller) => {
              for (let at = 0; at < bytes.length; at += 7) controller.enqueue(bytes.slice(at, at + 7))
              controller.close()
            }
          })
        )
      )
      assert.strictEqual(Redacted.value((yield* requestToken(pieces)).secret), "an-access-token")
    }))

  it.effect("scope names of any form are kept as they came, even where they repeat letters of the token", () =>
    Effect.gen(function*() {
      const names = [
        "read:credit.FICO8.score.vantage2024",
        "https://api.example/.default",
        "READ_CONSUMERS",
        "an-access-token",
        "the-secret",
        "x".repeat(20_000)
      ]
      const token = yield* requestToken(json({ ...granted, scope: names.join(" ") }))
      assert.deepStrictEqual(token.scopes, names)
    }))

  it.effect("a response that breaks off in the middle is a TransportError", () =>
    Effect.gen(function*() {
      const ending = (failure: Error) =>
        Effect.sync(() =>
          new Response(
            new ReadableStream({
              pull: (controller) => {
                controller.error(failure)
              }
            })
          )
        )
      for (const code of ["ECONNRESET", "SOMETHING_NEW", "HPE_INVALID_CHUNK_SIZE"]) {
        const error = yield* Effect.flip(requestToken(ending(Object.assign(new Error(), { code }))))
        const reason = code.startsWith("HPE_") ? "Garbled" : "Cut"
        assert.deepInclude({ ...error }, { _tag: "TransportError", reason })
      }
    }))

  it.effect("token_type is case-insensitive", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* requestToken(json({ ...granted, token_type: "bearer" }))).tokenType, "Bearer")
    }))
})

describe("a response without a token", () => {
  for (const { body, failure, name, retryable, status } of [...outsideTheContract, ...otherStatuses, ...failures]) {
    const kind = failure._tag === "InvalidResponse" ? `InvalidResponse (${failure.rule})` : failure._tag
    it.effect(`${name} is ${kind} and ${retryable ? "" : "not "}retryable`, () =>
      Effect.gen(function*() {
        const endpoint = yield* make({}, raw(body, { status, headers: { location: "https://elsewhere.example/" } }))
        const error = yield* Effect.flip(endpoint.requestToken({ _tag: "Nothing" }))
        assert.deepInclude<object>({ ...error, retryable: error.retryable }, {
          ...failure,
          endpointStatus: status,
          retryable
        })
        assert.notInclude(`${error} ${JSON.stringify(error)}`, granted.access_token)
        assert.lengthOf(yield* endpoint.sent, 1, "no other server gets a request")
      }))
  }

  it.effect("an OAuth error is described as the server does", () =>
    Effect.gen(function*() {
      const refused = json({ error: "invalid_client", error_description: "Secret mismatch." }, { status: 401 })
      const error = yield* Effect.flip(requestToken(refused))
      assert.deepInclude({ ...error }, { error: "invalid_client", description: "Secret mismatch." })
    }))

  it.effect("a body of exactly 1 MiB is read", () =>
    Effect.gen(function*() {
      const text = JSON.stringify(granted)
      yield* requestToken(raw(" ".repeat(1024 * 1024 - text.length) + text))
    }))

  it.effect("a token that has expired on arrival is an InvalidResponse, and its life counts from the request", () =>
    Effect.gen(function*() {
      const slow = (seconds: number) =>
        Effect.zipRight(TestClock.adjust(Duration.seconds(seconds)), json({ ...granted, expires_in: 9 }))
      assert.deepInclude({ ...(yield* Effect.flip(requestToken(slow(9)))) }, {
        _tag: "InvalidResponse",
        endpointStatus: 200,
        rule: "Expired"
      })
      const prompt = yield* Effect.flip(requestToken(json({ ...granted, expires_in: 0 })))
      assert.deepInclude({ ...prompt }, { _tag: "InvalidResponse", rule: "Expired" })
      const token = yield* requestToken(slow(8))
      assert.strictEqual(DateTime.distance(token.requestedAt, token.expiresAt), 8_100)
    }))
})

describe("a character of several bytes", () => {
  it.effect("is read correctly, although it arrives in two parts", () =>
    Effect.gen(function*() {
      const bytes = new TextEncoder().encode(
        JSON.stringify({ error: "access_denied", error_description: "gesperrt für alle" })
      )
      const middle = bytes.indexOf(0xc3) + 1
      const body = new ReadableStream({
        start: (controller) => {
          controller.enqueue(bytes.slice(0, middle))
          controller.enqueue(bytes.slice(middle))
          controller.close()
        }
      })
      const failure = yield* Effect.flip(requestToken(raw(body, { status: 403 })))
      assert.deepInclude({ ...failure }, { _tag: "ServerError", description: "gesperrt für alle" })
    }))
})

describe("Retry-After", () => {
  const waits: ReadonlyArray<readonly [header: string, millis: number | undefined]> = [
    ["0", 0],
    ["7", 7_000],
    ["1", 1_000],
    [" 7 ", 7_000],
    ["7, 7", 7_000],
    ["5, 9", 5_000],
    ["Thu, 01 Jan 1970 00:00:12 GMT, Thu, 01 Jan 1970 00:00:12 GMT", 12_000],
    ["until Thu, 01 Jan 1970 00:00:12 GMT", undefined],
    ["61", 60_000],
    ["99999999999999999999999999", 60_000],
    ["-5", undefined],
    ["1.5", undefined],
    ["soon", undefined],
    ["", undefined],
    ["Thu, 01 Jan 1970 00:00:12 GMT", 12_000],
    ["Thursday, 01-Jan-70 00:00:12 GMT", 12_000],
    ["Thu Jan  1 00:00:12 1970", 12_000],
    ["Fri, 01 Jan 2100 00:00:00 GMT", 60_000],
    ["Wed, 31 Dec 1969 23:59:59 GMT", undefined],
    ["Thu, 99 Foo 1970 00:00:12 GMT", undefined]
  ]
  it.scoped("a date in Retry-After is in GMT, in every time zone of the machine", () =>
    Effect.gen(function*() {
      yield* Effect.acquireRelease(
        Effect.sync(() => {
          const zone = process.env["TZ"]
          process.env["TZ"] = "America/New_York"
          return zone
        }),
        (zone) =>
          Effect.sync(() => {
            if (zone === undefined) delete process.env["TZ"]
            else process.env["TZ"] = zone
          })
      )
      for (const date of ["Thu, 01 Jan 1970 00:00:12 GMT", "Thu Jan  1 00:00:12 1970"]) {
        const failure = yield* Effect.flip(requestToken(raw(null, { status: 503, headers: { "retry-after": date } })))
        assert(failure._tag === "ServerError" && failure.retryAfter !== undefined)
        assert.strictEqual(Duration.toMillis(failure.retryAfter), 12_000)
      }
    }))

  it.effect("a date in Retry-After is a wait from now", () =>
    Effect.gen(function*() {
      yield* TestClock.adjust("1 hour")
      const headers = { "retry-after": "Thu, 01 Jan 1970 01:00:12 GMT" }
      const failure = yield* Effect.flip(requestToken(raw(null, { status: 503, headers })))
      assert(failure._tag === "ServerError" && failure.retryAfter !== undefined)
      assert.strictEqual(Duration.toMillis(failure.retryAfter), 12_000)
    }))

  const waitOf = (status: number, header: string) =>
    Effect.map(Effect.flip(requestToken(raw(null, { status, headers: { "retry-after": header } }))), (failure) => {
      assert(failure._tag === "ServerError")
      return failure.retryAfter === undefined ? undefined : Duration.toMillis(failure.retryAfter)
    })

  for (const [header, millis] of waits) {
    it.effect(`Retry-After ${JSON.stringify(header)} requests a wait of ${millis ?? "no"} ms`, () =>
      Effect.gen(function*() {
        assert.strictEqual(yield* waitOf(503, header), millis)
      }))
  }

  it.effect("a Retry-After of a day is limited to the longest pause of its status", () =>
    Effect.gen(function*() {
      const waits = yield* Effect.forEach([408, 425, 429, 500, 503], (status) => waitOf(status, "86400"))
      assert.deepStrictEqual(waits, [60_000, 60_000, 60_000, 60_000, 60_000])
    }))
})
