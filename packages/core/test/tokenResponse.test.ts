import { TokenError } from "@credit-data/core"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Logger, Redacted, TestClock } from "effect"
import { type Outcome, granted, json, raw } from "./support/fakeTransport.ts"
import { make, requestToken } from "./support/tokenEndpoint.ts"

const lifetime = (body: object) =>
  Effect.map(
    requestToken(json(body)),
    ({ expiresAt, requestedAt }) => DateTime.distance(requestedAt, expiresAt) / 1000
  )

const without = (name: string) => Object.fromEntries(Object.entries(granted).filter(([key]) => key !== name))

const invalidResponse = (rule: TokenError.ResponseRule, status = 200) =>
  ({ _tag: "InvalidResponse", status, rule }) as const

const body = (bytes: ReadonlyArray<number>) => raw(new Uint8Array(bytes))

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
      assert.strictEqual(yield* lifetime(without("expires_in")), 300)
      assert.deepStrictEqual(logged, [
        "WARN The token endpoint https://v2.example/oauth2/token (test) did not return expires_in. The token is used for 5m."
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
      assert.deepStrictEqual((yield* requestToken(json(without("scope")))).scopes, [
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

  it.effect("only a response without expires_in logs a warning", () =>
    Effect.gen(function*() {
      const warnings: Array<unknown> = []
      const logger = Logger.make(({ logLevel, message }) => {
        if (logLevel.label === "WARN") warnings.push(message)
      })
      const token = (outcome: Outcome) =>
        Effect.provide(requestToken(outcome), Logger.replace(Logger.defaultLogger, logger))
      yield* token(json(granted))
      assert.strictEqual(warnings.length, 0)
      const { expiresAt, requestedAt } = yield* token(json(without("expires_in")))
      assert.strictEqual(DateTime.distance(requestedAt, expiresAt), 5 * 60_000)
      assert.match(String(warnings), /did not return expires_in. The token is used for 5m/)
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

describe("a 200 outside the contract", () => {
  const rows: ReadonlyArray<readonly [name: string, outcome: Outcome, rule: TokenError.ResponseRule]> = [
    ["empty", raw(null), "Json"],
    ["an array", json([granted]), "Object"],
    ["a string", json("an-access-token"), "Object"],
    ["a number", json(42), "Object"],
    ["null", json(null), "Object"],
    ["cut JSON", raw(JSON.stringify(granted).slice(0, -5)), "Json"],
    ["trailing garbage", raw(`${JSON.stringify(granted)} and more`), "Json"],
    ["HTML", raw("<html><body>Sign in</body></html>"), "Json"],
    ["nesting 200 000 deep", raw("[".repeat(200_000) + "]".repeat(200_000)), "Object"],
    [
      "a field nested 200 000 deep",
      raw(`{"access_token":${"[".repeat(200_000)}${"]".repeat(200_000)},"token_type":"Bearer"}`),
      "AccessToken"
    ],
    ["Latin-1", body([...Buffer.from(JSON.stringify({ ...granted, note: "ü" }), "latin1")]), "Utf8"],
    ["UTF-16", body([...Buffer.from(`\ufeff${JSON.stringify(granted)}`, "utf16le")]), "Utf8"],
    ["UTF-16 without a mark", body([...Buffer.from(JSON.stringify(granted), "utf16le")]), "Json"],
    ["no access_token", json(without("access_token")), "AccessToken"],
    ...["", null, 42, ["a"], "a b", "a\0b", "tökén", "a\r\nb", "x".repeat(64 * 1024 + 1)].map((access_token) =>
      [
        `access_token ${JSON.stringify(access_token).slice(0, 12)}`,
        json({ ...granted, access_token }),
        "AccessToken"
      ] as const
    ),
    ["no token_type", json(without("token_type")), "TokenType"],
    ...["MAC", "DPoP", "", null, 1].map((token_type) =>
      [`token_type ${JSON.stringify(token_type)}`, json({ ...granted, token_type }), "TokenType"] as const
    ),
    ...[-1, -0.5, {}, "", "-1", "1.5", "soon", true].map((expires_in) =>
      [`expires_in ${JSON.stringify(expires_in)}`, json({ ...granted, expires_in }), "ExpiresIn"] as const
    ),
    ...[0, 0.5, "0"].map((expires_in) =>
      [`expires_in ${JSON.stringify(expires_in)}`, json({ ...granted, expires_in }), "Expired"] as const
    ),
    ["expires_in 1e400", raw(JSON.stringify(granted).replace("86400", "1e400")), "ExpiresIn"],
    ...[1, ["data-access:all"]].map((scope) =>
      [`scope ${JSON.stringify(scope)}`, json({ ...granted, scope }), "Scope"] as const
    ),
    ["more than 1 MiB", raw(" ".repeat(1024 * 1024) + JSON.stringify(granted)), "Size"]
  ]
  for (const [name, outcome, rule] of rows) {
    it.effect(`${name} is an InvalidResponse: ${rule}`, () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(requestToken(outcome))
        assert.deepInclude({ ...error }, invalidResponse(rule))
        assert.strictEqual(error.retryable, rule === "Expired", "that ends by itself")
        assert.notInclude(`${error} ${JSON.stringify(error)}`, "an-access-token")
      }))
  }

  it.effect("a body of exactly 1 MiB is read", () =>
    Effect.gen(function*() {
      const text = JSON.stringify(granted)
      yield* requestToken(raw(" ".repeat(1024 * 1024 - text.length) + text))
    }))

  it.effect("a token that has expired on arrival is an InvalidResponse, and its life counts from the request", () =>
    Effect.gen(function*() {
      const slow = (seconds: number) =>
        Effect.zipRight(TestClock.adjust(Duration.seconds(seconds)), json({ ...granted, expires_in: 9 }))
      assert.deepInclude({ ...(yield* Effect.flip(requestToken(slow(9)))) }, invalidResponse("Expired"))
      const prompt = yield* Effect.flip(requestToken(json({ ...granted, expires_in: 0 })))
      assert.include(prompt.message, "The server probably hands out one cached token")
      const token = yield* requestToken(slow(8))
      assert.strictEqual(DateTime.distance(token.requestedAt, token.expiresAt), 8_100)
    }))
})

describe("other statuses below 400", () => {
  for (const status of [201, 202, 204, 206]) {
    it.effect(`${status} is an InvalidResponse`, () =>
      Effect.gen(function*() {
        const outcome = raw(status === 204 ? null : JSON.stringify(granted), { status })
        assert.deepInclude({ ...(yield* Effect.flip(requestToken(outcome))) }, invalidResponse("Status", status))
      }))
  }
  it.effect("304 is not a redirect", () =>
    Effect.gen(function*() {
      const outcome = raw(null, { status: 304 })
      assert.deepInclude({ ...(yield* Effect.flip(requestToken(outcome))) }, invalidResponse("Status", 304))
    }))

  for (const status of [300, 301, 302, 303, 307, 308]) {
    it.effect(`${status} is an InvalidResponse, and no other server gets a request`, () =>
      Effect.gen(function*() {
        const outcome = raw(null, { status, headers: { location: "https://elsewhere.example/" } })
        const endpoint = yield* make({}, outcome)
        assert.deepInclude(
          { ...(yield* Effect.flip(endpoint.requestToken({ _tag: "Nothing" }))) },
          invalidResponse("Redirect", status)
        )
        const sent = yield* endpoint.sent
        assert.deepStrictEqual(sent.map(({ url }) => url), ["https://v2.example/oauth2/token"])
      }))
  }
})

describe("a refusal of the client", () => {
  it.effect("any 401, and a 400 or 403 with invalid_client, is an InvalidClient", () =>
    Effect.gen(function*() {
      const refused = { error: "invalid_client", error_description: "Secret mismatch." }
      for (
        const outcome of [
          json(refused, { status: 401 }),
          json(refused, { status: 400 }),
          json(refused, { status: 403 })
        ]
      ) {
        const error = yield* Effect.flip(requestToken(outcome))
        assert.deepInclude({ ...error }, {
          _tag: "InvalidClient",
          error: "invalid_client",
          description: "Secret mismatch."
        })
        assert.isFalse(error.retryable)
      }
      for (const text of ["", "<html>", "[]", " ".repeat(2 * 1024 * 1024)]) {
        const error = yield* Effect.flip(requestToken(raw(text, { status: 401 })))
        assert.deepInclude({ ...error }, {
          _tag: "InvalidClient",
          status: 401,
          error: undefined,
          description: undefined
        })
      }
    }))
})

describe("a failure of the server", () => {
  const rows: ReadonlyArray<readonly [status: number, error: string | undefined, retryable: boolean]> = [
    [400, "invalid_scope", false],
    [400, "unauthorized_client", false],
    [400, "unsupported_grant_type", false],
    [400, "invalid_request", false],
    [400, "invalid_target", false],
    [400, undefined, false],
    [403, "access_denied", false],
    [404, undefined, false],
    [408, undefined, true],
    [410, undefined, false],
    [425, undefined, true],
    [429, undefined, true],
    [500, "server_error", true],
    [500, "invalid_client", true],
    [501, undefined, false],
    [502, undefined, true],
    [503, "temporarily_unavailable", true],
    [504, undefined, true],
    [505, undefined, false],
    [599, undefined, true],
    [200, "invalid_client", false],
    [200, "server_error", true],
    [200, "temporarily_unavailable", true]
  ]
  for (const [status, error, retryable] of rows) {
    it.effect(`${status} ${error ?? "without a body"} is ${retryable ? "" : "not "}retryable`, () =>
      Effect.gen(function*() {
        const outcome = error === undefined ? raw(null, { status }) : json({ error, access_token: "no" }, { status })
        const failure = yield* Effect.flip(requestToken(outcome))
        assert.deepInclude({ ...failure }, { _tag: "ServerError", status, error })
        assert.strictEqual(failure.retryable, retryable)
      }))
  }

  it.effect("a body that is not an OAuth error is ignored", () =>
    Effect.gen(function*() {
      for (const text of ["<html>", "[", "{}", `{"error":1,"error_description":[]}`, "x".repeat(2 * 1024 * 1024)]) {
        const failure = yield* Effect.flip(requestToken(raw(text, { status: 500 })))
        assert.deepInclude({ ...failure }, { _tag: "ServerError", error: undefined, description: undefined })
      }
    }))

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

  for (const [header, millis] of waits) {
    it.effect(`Retry-After ${JSON.stringify(header)} requests a wait of ${millis ?? "no"} ms`, () =>
      Effect.gen(function*() {
        const failure = yield* Effect.flip(requestToken(raw(null, { status: 503, headers: { "retry-after": header } })))
        assert(failure._tag === "ServerError")
        assert.strictEqual(failure.retryAfter === undefined ? undefined : Duration.toMillis(failure.retryAfter), millis)
      }))
  }
})
