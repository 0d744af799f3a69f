import { AccessToken, TokenError } from "@credit-data/core"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Option, Redacted } from "effect"
import * as Content from "../src/internal/content.ts"

const where = { environment: "test", tokenEndpoint: "https://v2.example/oauth2/token" }
const other = { environment: "another", tokenEndpoint: "https://elsewhere.example" }
const at = (millis: number) => DateTime.unsafeMake(millis)
const remaining = Duration.millis

const token = new AccessToken.AccessToken({
  secret: Redacted.make("a token"),
  scopes: ["data-access:all"],
  requestedAt: at(100_000),
  expiresAt: at(160_000),
  coverage: "GrantedScopes"
})

describe("a failure in the store", () => {
  const decoded = (failure: Content.SharedFailure, left: number, readAt = 0) =>
    Content.decodeFailure(where, at(readAt), remaining(left))(Content.encodeFailure(failure, at(0)))

  it("is the same failure for a process that takes it", () => {
    const response = { status: 401, error: "invalid_client", description: "Unknown.", hint: "Ask." }
    const refused = Option.getOrThrow(decoded(new TokenError.InvalidClient({ ...other, ...response }), 1_000))
    assert.deepInclude(refused, { _tag: "InvalidClient", ...where, ...response, shared: true })
    const failed = Option.getOrThrow(decoded(new TokenError.ServerError({ ...other, status: 500 }), 1_000))
    assert.deepInclude(failed, { _tag: "ServerError", ...where, status: 500, shared: true })
  })

  it("is kept for a second, or for the duration of Retry-After", () => {
    const lives = (retryAfter: number | undefined) =>
      Content.lifetimeOfFailure(
        new TokenError.ServerError({
          ...other,
          status: 503,
          retryAfter: retryAfter === undefined ? undefined : remaining(retryAfter)
        })
      )
    assert.deepStrictEqual([undefined, 0, 400, 1_001, 30_000].map(lives), [1_000, 1_000, 1_000, 1_001, 30_000])
    assert.strictEqual(Content.lifetimeOfFailure(new TokenError.InvalidClient({ ...other, status: 401 })), 1_000)
  })

  it("requests the rest of the wait, if the server requested one", () => {
    const waitOf = (retryAfter: number | undefined, left: number) =>
      Option.match(
        decoded(
          new TokenError.ServerError({
            ...other,
            status: 503,
            retryAfter: retryAfter === undefined ? undefined : remaining(retryAfter)
          }),
          left
        ),
        {
          onNone: () => "none",
          onSome: (failure) =>
            failure !== Content.rotated && failure._tag === "ServerError" && failure.retryAfter !== undefined
              ? Duration.toMillis(failure.retryAfter)
              : "no wait"
        }
      )
    assert.strictEqual(waitOf(30_000, 12_000), 12_000)
    assert.strictEqual(waitOf(undefined, 500), "no wait")
    assert.strictEqual(waitOf(0, 500), "no wait")
  })

  it("counts as absent when it is to live longer than it was written for", () => {
    const failure = new TokenError.ServerError({ ...other, status: 503 })
    assert.isTrue(Option.isSome(decoded(failure, 1_000)))
    assert.isTrue(Option.isNone(decoded(failure, 1_001)))
  })

  it("counts as absent when it has ended by the clock of its process, which may be wrong by a few seconds", () => {
    const failure = new TokenError.ServerError({ ...other, status: 503 })
    assert.isTrue(Option.isSome(decoded(failure, 1_000, 5_999)))
    assert.isTrue(Option.isNone(decoded(failure, 1_000, 6_000)))
  })

  it("is a mark after a rotation, which ends with the next token", () => {
    const text = Content.encodeRotated(token)
    const mark = (readAt: number, left: number) => Content.decodeFailure(where, at(readAt), remaining(left))(text)
    assert.deepStrictEqual(mark(100_000, 60_000), Option.some(Content.rotated))
    assert.isTrue(Option.isNone(mark(100_000, 60_001)))
    assert.isTrue(Option.isNone(mark(165_000, 1_000)))
  })

  it("counts as absent when it is not what a process writes", () => {
    for (const text of ["", "{", "null", "{}", "{\"_tag\":\"TransportError\",\"lifetimeMillis\":1000}"]) {
      assert.isTrue(Option.isNone(Content.decodeFailure(where, at(0), remaining(1))(text)), text)
    }
  })

  it("is only a response that all processes would get", () => {
    const shared = [
      new TokenError.InvalidClient({ ...other, status: 401 }),
      new TokenError.ServerError({ ...other, status: 500 }),
      new TokenError.InvalidResponse({ ...other, status: 200, rule: "Json" }),
      new TokenError.TransportError({ ...other, reason: "Refused" })
    ].map(Content.isShared)
    assert.deepStrictEqual(shared, [true, true, false, false])
  })
})

describe("a token in the store", () => {
  const decode = (readAt: number, left: number) =>
    Content.decodeToken(at(readAt), remaining(left))(Content.encodeToken(token))

  it("has the remaining life that the store counts, on the clock of the process that takes it", () => {
    const { skewMillis, token: taken } = Option.getOrThrow(decode(50_000, 20_000))
    assert.strictEqual(Redacted.value(taken.secret), "a token")
    assert.deepStrictEqual([taken.scopes, taken.coverage, taken.shared], [token.scopes, token.coverage, true])
    assert.strictEqual(DateTime.toEpochMillis(taken.expiresAt), 70_000)
    assert.strictEqual(DateTime.toEpochMillis(taken.requestedAt), 10_000)
    assert.strictEqual(skewMillis, -90_000)
  })

  it("ends when it ends by the clock of the process that published it, whatever the store counts", () => {
    const { skewMillis, token: taken } = Option.getOrThrow(decode(150_000, 20_000))
    assert.strictEqual(DateTime.toEpochMillis(taken.expiresAt), 160_000)
    assert.strictEqual(skewMillis, 10_000)
  })

  it("counts as absent when it is to live longer than it was issued for", () => {
    assert.isTrue(Option.isSome(decode(0, 61_000)))
    assert.isTrue(Option.isNone(decode(0, 61_001)))
  })

  it("counts as absent when it is not what a process writes", () => {
    for (
      const text of [
        "",
        "[]",
        "{\"secret\":\"\"}",
        "{\"secret\":\"a\",\"scopes\":[],\"coverage\":\"All\",\"lifetimeMillis\":1}"
      ]
    ) {
      assert.isTrue(Option.isNone(Content.decodeToken(at(0), remaining(1))(text)), text)
    }
  })
})
