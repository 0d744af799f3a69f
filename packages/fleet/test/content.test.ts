import { AccessToken, TokenError } from "@credit-data/core"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Option, Redacted } from "effect"
import * as Content from "../src/internal/content.ts"

const where = { environment: "test", tokenEndpoint: "https://v2.example/oauth2/token" }
const other = { environment: "another", tokenEndpoint: "https://elsewhere.example" }
const at = (millis: number) => DateTime.unsafeMake(millis)
const remaining = Duration.millis

describe("a failure in the store", () => {
  const decoded = (failure: Content.SharedFailure, left: number) =>
    Content.decodeFailure(where, remaining(left))(Content.encodeFailure(failure).text)

  it("is the same failure for a process that takes it", () => {
    const answer = { status: 401, error: "invalid_client", description: "Unknown.", hint: "Ask." }
    const refused = Option.getOrThrow(decoded(new TokenError.InvalidClient({ ...other, ...answer }), 1_000))
    assert.deepInclude(refused, { _tag: "InvalidClient", ...where, ...answer, shared: true })
    const failed = Option.getOrThrow(decoded(new TokenError.ServerError({ ...other, status: 500 }), 1_000))
    assert.deepInclude(failed, { _tag: "ServerError", ...where, status: 500, shared: true })
  })

  it("is kept for a second, or as long as Retry-After says", () => {
    const lives = (retryAfter: number | undefined) =>
      Content.encodeFailure(
        new TokenError.ServerError({
          ...other,
          status: 503,
          retryAfter: retryAfter === undefined ? undefined : remaining(retryAfter)
        })
      ).timeToLive
    assert.deepStrictEqual([undefined, 0, 400, 1_001, 30_000].map(lives), [1_000, 1_000, 1_000, 1_001, 30_000])
    assert.strictEqual(
      Content.encodeFailure(new TokenError.InvalidClient({ ...other, status: 401 })).timeToLive,
      1_000
    )
  })

  it("asks for the rest of the wait, if the server asked for one", () => {
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

  it("is a mark after a rotation", () => {
    const { text, timeToLive } = Content.encodeRotated(60_000)
    assert.strictEqual(timeToLive, 60_000)
    assert.deepStrictEqual(Content.decodeFailure(where, remaining(60_000))(text), Option.some(Content.rotated))
    assert.isTrue(Option.isNone(Content.decodeFailure(where, remaining(60_001))(text)))
  })

  it("counts as absent when it is not what a process writes", () => {
    for (const text of ["", "{", "null", "{}", "{\"_tag\":\"TransportError\",\"lifetimeMillis\":1000}"]) {
      assert.isTrue(Option.isNone(Content.decodeFailure(where, remaining(1))(text)), text)
    }
  })

  it("is only that of an answer that all processes would get", () => {
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
  const token = new AccessToken.AccessToken({
    secret: Redacted.make("a token"),
    scopes: ["data-access:all"],
    requestedAt: at(100_000),
    expiresAt: at(160_000),
    coverage: "GrantedScopes"
  })

  it("lives as long as before, on the clock of the process that takes it", () => {
    const { text, timeToLive } = Content.encodeToken(token, at(110_000))
    assert.strictEqual(timeToLive, 50_000)
    const taken = Option.getOrThrow(Content.decodeToken(at(7_000_000), remaining(20_000))(text))
    assert.strictEqual(Redacted.value(taken.secret), "a token")
    assert.deepStrictEqual([taken.scopes, taken.coverage, taken.shared], [token.scopes, token.coverage, true])
    assert.strictEqual(DateTime.toEpochMillis(taken.expiresAt), 7_020_000)
    assert.strictEqual(DateTime.toEpochMillis(taken.requestedAt), 6_960_000)
  })

  it("never lives longer than it was issued for, whatever the store says", () => {
    const { text } = Content.encodeToken(token, at(110_000))
    const taken = Option.getOrThrow(Content.decodeToken(at(0), remaining(1e9))(text))
    assert.strictEqual(DateTime.toEpochMillis(taken.expiresAt), 60_000)
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
