import { AccessToken, AccessTokens } from "@credit-data/core"
import { DataAccess, InsufficientScope } from "@credit-data/http-client"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Redacted } from "effect"
import { over, rejecting, supply, transport } from "./support/fakes.ts"

describe("InsufficientScope", () => {
  const make = (): InsufficientScope.InsufficientScope =>
    new InsufficientScope.InsufficientScope({ environment: "test", needed: "data-access:all", granted: [] })

  it("prints the granted scopes, and its JSON contains the message", () => {
    const error = make()
    assert.strictEqual(
      error.message,
      "The token of test does not cover data-access:all: the server granted no scope. Nothing was sent. Ask the operator to " +
        "grant data-access:all to this client."
    )
    assert.deepStrictEqual(JSON.parse(JSON.stringify(error)), {
      _tag: "InsufficientScope",
      environment: "test",
      needed: "data-access:all",
      granted: [],
      message: error.message
    })
    const both = new InsufficientScope.InsufficientScope({
      ...error,
      granted: ["a", "b"],
      nextTryAt: DateTime.unsafeMake(0)
    })
    assert.include(both.message, "the server granted a, b.")
    const ofClient = new InsufficientScope.InsufficientScope({ ...error, clientId: "a\nb" })
    assert.include(ofClient.message, "The token of test, client a\\nb does not cover data-access:all")
    assert.strictEqual(JSON.parse(JSON.stringify(ofClient)).clientId, "a\\nb")
    assert.include(both.message, "is not sent before 1970-01-01T00:00:00.000Z.")
  })

  it("keeps its message in structuredClone", () => {
    const error = make()
    assert.strictEqual(structuredClone(error).message, error.message)
  })

  it("shows at most ten of the granted scopes, each escaped and cut", () => {
    const granted = ["a\nb", "x".repeat(400), ...Array.from({ length: 100 }, (_, index) => `read:${index}`)]
    const many = new InsufficientScope.InsufficientScope({ ...make(), granted })
    assert.include(many.message, "a\\nb")
    assert.include(many.message, "read:7 and 92 more.")
    assert.isBelow(many.message.length, 800)
    const json = JSON.parse(JSON.stringify(many))
    assert.deepStrictEqual([json.granted.length, json.granted[0], json.granted[9]], [10, "a\\nb", "read:7"])
    assert.isBelow(JSON.stringify(many).length, 2_000)
    assert.deepStrictEqual(many.granted, granted)
  })
})

describe("a call whose token does not cover its group", () => {
  const failed = (change: Partial<AccessTokens.Service>) =>
    Effect.gen(function*() {
      const tokens = yield* supply({ granted: [] })
      const { client } = yield* transport(rejecting())
      return yield* Effect.flatMap(DataAccess.DataAccess, (client) => client.get("/a")).pipe(
        Effect.provide(over(DataAccess.layer(), { ...tokens, ...change }, client)),
        Effect.flip
      )
    })

  it.effect("fails with the client's id, if the supply has one", () =>
    Effect.gen(function*() {
      assert.deepInclude({ ...yield* failed({ clientId: "acme" }) }, { _tag: "InsufficientScope", clientId: "acme" })
      assert.notProperty({ ...yield* failed({}) }, "clientId")
    }))

  it.effect("fails without the time of a next request, if the supply does not renew for a scope", () =>
    Effect.gen(function*() {
      const error = yield* failed({ scopeMissing: undefined })
      assert.deepInclude({ ...error }, { _tag: "InsufficientScope", nextTryAt: undefined })
    }))
})

describe("a call whose rejected token is replaced by one with fewer scopes", () => {
  it.effect("fails with an error that reports that the request had been sent", () =>
    Effect.gen(function*() {
      const { client, sent } = yield* transport(rejecting("token-1"))
      const tokens = yield* supply()
      const narrower = yield* Effect.flatMap(supply({ granted: [] }), ({ get }) => get)
      const error = yield* Effect.flatMap(DataAccess.DataAccess, (client) => client.get("/a")).pipe(
        Effect.provide(over(DataAccess.layer(), {
          ...tokens,
          replace: () =>
            Effect.succeed(
              new AccessToken.AccessToken({ ...narrower, secret: Redacted.make("token-2") })
            )
        }, client)),
        Effect.flip
      )
      assert.strictEqual((yield* sent).length, 1)
      assert.deepInclude({ ...error }, { _tag: "InsufficientScope", wasSent: true })
      assert.match(String(error), /^InsufficientScope: /)
      assert.include(
        error.message,
        "The request had been sent with an earlier token, and was not sent again."
      )
      assert.notInclude(error.message, "Nothing was sent")
    }))
})

describe("a group over a supply that does not request its scope", () => {
  it.effect("fails with an error that names the option, the variable and the requested scopes", () =>
    Effect.gen(function*() {
      const { client } = yield* transport(rejecting())
      const tokens = yield* supply({ requested: ["furnishment:all", "serviceplus:all"] })
      const error = yield* Effect.flip(
        Effect.provide(DataAccess.DataAccess, over(DataAccess.layer(), tokens, client))
      )
      assert.strictEqual(
        String(error),
        "(Invalid data at scopes: \"Expected data-access:all among the requested scopes, because Data Access needs it. " +
          "Requested: furnishment:all serviceplus:all. Add it to the scopes option, or to CREDIT_DATA_SCOPES\")"
      )
    }))
})
