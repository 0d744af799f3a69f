import { AccessTokens, TokenEndpoint, TokenStatus } from "@credit-data/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { makeTokenEndpoint } from "../src/internal/tokenEndpoint.ts"
import { failures } from "./support/fakeEndpoint.ts"
import * as FakeTransport from "./support/fakeTransport.ts"
import { caller, fail, get, isUsable, recover, refresh, requests, timeline } from "./support/timeline.ts"
import { options } from "./support/tokenEndpoint.ts"

describe("refresh", () => {
  it.scoped("refresh forgets a remembered failure and requests a token now", () =>
    timeline([
      ["0 s", fail(failures.refused)],
      ["0 s", get],
      ["1 s", recover],
      ["1 s", get, "InvalidClient", requests(1)],
      ["1 s", refresh, "waits", requests(2)],
      ["1.1 s", caller(3), "token-2"],
      ["2 s", get, "token-2", requests(2)]
    ]))

  it.scoped("refresh renews a valid token, and fails with the failure of the request", () =>
    timeline([
      ["0 s", get],
      ["1 s", refresh, "waits"],
      ["1.1 s", caller(2), "token-2"],
      ["2 s", fail(failures.refused)],
      ["2 s", refresh],
      ["3 s", caller(3), "InvalidClient"],
      ["3 s", get, "token-2", requests(3)]
    ]))

  it.scoped("refresh joins a token request that is under way", () =>
    timeline([
      ["0 s", get],
      ["50 ms", refresh, "waits"],
      ["100 ms", caller(1), "token-1"],
      ["100 ms", caller(2), "token-1", requests(1)]
    ]))

  it.scoped("refresh sends at most one request per second, and otherwise does what get does", () =>
    timeline([
      ["0 s", fail(failures.refused)],
      ["0 s", refresh],
      ["999 ms", refresh, "InvalidClient", requests(1)],
      ["1 s", refresh, "waits", requests(2)]
    ]))
})

describe("isUsable", () => {
  for (
    const [phase, rejected, hasFailed, expected] of [
      ["None", false, false, true],
      ["None", false, true, false],
      ["Valid", false, false, true],
      ["Valid", false, true, true],
      ["Due", false, true, true],
      ["Expiring", false, true, true],
      ["Expired", false, false, true],
      ["Expired", false, true, false],
      ["Due", true, false, true],
      ["Due", true, true, true]
    ] as const
  ) {
    it.effect(`isUsable is ${expected} for ${phase}${rejected ? ", rejected" : ""}${hasFailed ? ", after a failure" : ""}`, () =>
      Effect.gen(function*() {
        const before = yield* Effect.flatMap(AccessTokens.AccessTokens, ({ status }) => status)
        const lastFailure = hasFailed ? Option.some(failures.refused) : Option.none()
        assert.strictEqual(TokenStatus.isUsable({ ...before, phase, rejected, lastFailure }), expected)
      }).pipe(Effect.provide(AccessTokens.layerTest())))
  }

  const all = ["data-access:all", "furnishment:all"]
  for (
    const [missing, requested, expected] of [[0, 0, true], [0, 2, true], [1, 2, true], [2, 2, false], [
      1,
      1,
      false
    ]] as const
  ) {
    it.effect(`isUsable is ${expected} if ${missing} of ${requested} requested scopes are missing`, () =>
      Effect.gen(function*() {
        const before = yield* Effect.flatMap(AccessTokens.AccessTokens, ({ status }) => status)
        const scopes = { missingScopes: all.slice(0, missing), requestedScopes: all.slice(0, requested) }
        assert.strictEqual(TokenStatus.isUsable({ ...before, phase: "Valid", ...scopes }), expected)
      }).pipe(Effect.provide(AccessTokens.layerTest())))
  }

  it.scoped("isUsable is true before the first call, false after a refusal, and true again after a success", () =>
    timeline([
      ["0 s", isUsable, true],
      ["0 s", fail(failures.refused)],
      ["0 s", get],
      ["1 s", isUsable, false],
      ["1 s", recover],
      ["1 s", refresh],
      ["2 s", isUsable, true]
    ]))
})

it.effect("a program that gets its first token when it starts fails with the typed error", () =>
  Effect.gen(function*() {
    const transport = yield* FakeTransport.make(FakeTransport.json({ error: "invalid_client" }, { status: 401 }))
    const Ready = Layer.effectDiscard(Effect.flatMap(AccessTokens.AccessTokens, ({ get }) => get)).pipe(
      Layer.provideMerge(AccessTokens.layer()),
      Layer.provide(Layer.effect(TokenEndpoint.TokenEndpoint, makeTokenEndpoint(options))),
      Layer.provide(transport.layer)
    )
    assert.strictEqual((yield* Effect.flip(Effect.scoped(Layer.build(Ready))))._tag, "InvalidClient")
  }))
