import { AccessToken, type AccessScope, Replaces, TokenError } from "@credit-data/core"
import type { TokenStore } from "@credit-data/fleet"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Option, Redacted, TestClock } from "effect"
import * as Content from "../src/internal/content.ts"
import * as Envelope from "../src/internal/envelope.ts"
import * as Found from "../src/internal/found.ts"
import * as StoreAccess from "../src/internal/storeAccess.ts"
import { endpointOf, entryOf } from "./support/fleet.ts"

const minute = 60_000

/** A token with this text that was requested at this millisecond, and lives for an hour. */
const token = (text: string, requestedAt: number, scopes: ReadonlyArray<string> = ["data-access:all"]) =>
  new AccessToken.AccessToken({
    secret: Redacted.make(text),
    scopes,
    coverage: "GrantedScopes",
    requestedAt: DateTime.unsafeMake(requestedAt),
    expiresAt: DateTime.unsafeMake(requestedAt + 60 * minute)
  })

const refusal = new TokenError.InvalidClient({
  environment: "test",
  tokenEndpoint: "https://v2.example/oauth2/token",
  status: 401,
  error: "invalid_client"
})

/** What one process makes of the values that it reads, ten minutes after the start of time. */
const setUp = Effect.gen(function*() {
  yield* TestClock.adjust(Duration.minutes(10))
  const clock = yield* Effect.clock
  const endpoint = yield* endpointOf({})
  const entry = yield* entryOf({})
  const access = yield* StoreAccess.make({ clock, tokenEndpoint: endpoint.url })
  const process = Found.make({ access, clock, endpoint })

  const sealed = (slot: TokenStore.Slot, fence: number, text: string, remaining: number) =>
    Effect.map(
      Envelope.seal(entry, { slot, fence }, text),
      (bytes) => Option.some({ bytes, fence, remaining: Duration.millis(remaining) })
    )
  const judge = Effect.fnUntraced(function*(
    { failure, stored }: {
      readonly stored?: readonly [token: AccessToken.AccessToken, fence: number]
      readonly failure?: readonly [text: string, fence: number]
    },
    replaces: Replaces.Replaces = Replaces.Nothing()
  ) {
    const now = yield* DateTime.now
    const left = (token: AccessToken.AccessToken) =>
      DateTime.toEpochMillis(token.expiresAt) - DateTime.toEpochMillis(now)
    const slots = {
      Token: stored === undefined
        ? Option.none()
        : yield* sealed("Token", stored[1], Content.encodeToken(stored[0]), left(stored[0])),
      Failure: failure === undefined ? Option.none() : yield* sealed("Failure", failure[1], failure[0], 1_000)
    }
    const found = yield* process.judge(entry, slots, now, replaces)
    return found._tag === "Token" ? Redacted.value(found.token.secret) : found._tag
  })
  const failed = Effect.map(DateTime.now, (now) => Content.encodeFailure(refusal, now))
  return { entry, failed, judge, process }
})

const rejected = (token: AccessToken.AccessToken) => Replaces.Rejected({ token })
const insufficient = (token: AccessToken.AccessToken, scope: AccessScope.AccessScope) =>
  Replaces.Insufficient({ token, scope })

describe("a stored token", () => {
  it.scoped("is taken if there is nothing to replace, and again by the same process", () =>
    Effect.gen(function*() {
      const { entry, judge, process } = yield* setUp
      assert.strictEqual(process.highestFence(entry), 0)
      assert.strictEqual(yield* judge({}), "Nothing")
      for (const _ of [1, 2]) assert.strictEqual(yield* judge({ stored: [token("one", 0), 4] }), "one")
      assert.strictEqual(process.highestFence(entry), 4)
    }))

  it.scoped("does not replace itself", () =>
    Effect.gen(function*() {
      const { judge } = yield* setUp
      const one = token("one", 0)
      assert.strictEqual(yield* judge({ stored: [one, 4] }, rejected(one)), "Nothing")
      assert.strictEqual(yield* judge({ stored: [one, 4] }, Replaces.Due({ token: one })), "Nothing")
    }))

  it.scoped("is taken for a refresh only if it is another token, and without a token to replace", () =>
    Effect.gen(function*() {
      const { judge } = yield* setUp
      const one = token("one", 0)
      assert.strictEqual(yield* judge({ stored: [one, 4] }, Replaces.Refresh({ token: one })), "Nothing")
      assert.strictEqual(yield* judge({ stored: [one, 4] }, Replaces.Refresh({ token: undefined })), "one")
    }))

  it.scoped("replaces a token that this process took under a lower fence, whatever their times show", () =>
    Effect.gen(function*() {
      const { judge } = yield* setUp
      const one = token("one", minute)
      assert.strictEqual(yield* judge({ stored: [one, 4] }), "one")
      assert.strictEqual(yield* judge({ stored: [token("same fence", 2 * minute), 4] }, rejected(one)), "Nothing")
      assert.strictEqual(yield* judge({ stored: [token("two", 0), 5] }, rejected(one)), "two")
    }))

  it.scoped("replaces a token that the process obtained without the store only if it was requested later", () =>
    Effect.gen(function*() {
      const { judge } = yield* setUp
      const alone = token("alone", 5 * minute)
      assert.strictEqual(yield* judge({ stored: [token("earlier", 4 * minute), 1] }, rejected(alone)), "Nothing")
      assert.strictEqual(yield* judge({ stored: [token("as early", 5 * minute), 2] }, rejected(alone)), "Nothing")
      assert.strictEqual(yield* judge({ stored: [token("later", 6 * minute), 3] }, rejected(alone)), "later")
    }))

  it.scoped("replaces a token with a missing scope only if it covers the scope", () =>
    Effect.gen(function*() {
      const { judge } = yield* setUp
      const one = token("one", 0)
      const needs = insufficient(one, "furnishment:all")
      assert.strictEqual(yield* judge({ stored: [token("two", minute), 1] }, needs), "Nothing")
      const three = token("three", minute, ["data-access:all", "furnishment:all"])
      assert.strictEqual(yield* judge({ stored: [three, 2] }, needs), "three")
    }))

  it.scoped("is not taken if a higher fence was seen, of what was read or published", () =>
    Effect.gen(function*() {
      const { entry, judge, process } = yield* setUp
      assert.strictEqual(yield* judge({ stored: [token("two", 0), 4] }), "two")
      assert.strictEqual(yield* judge({ stored: [token("one", 0), 3] }), "Nothing")
      process.published(entry.name, { slot: "Token", fence: 9 })
      assert.strictEqual(yield* judge({ stored: [token("eight", 0), 8] }), "Nothing")
      assert.strictEqual(process.highestFence(entry), 9)
      process.remember(entry, 12, token("own", 0))
      assert.strictEqual(process.highestFence(entry), 12)
      assert.strictEqual(process.highestFence({ ...entry, name: "another" }), 0)
    }))

  it.scoped("that cannot be opened is not seen", () =>
    Effect.gen(function*() {
      const { entry, judge, process } = yield* setUp
      const garbage = Option.some({ bytes: new Uint8Array(64), fence: 9, remaining: Duration.minutes(1) })
      const now = yield* DateTime.now
      const found = yield* process.judge(entry, { Token: garbage, Failure: Option.none() }, now, Replaces.Nothing())
      assert.strictEqual(found._tag, "Nothing")
      assert.strictEqual(process.highestFence(entry), 0)
      assert.strictEqual(yield* judge({ stored: [token("one", 0), 4] }), "one")
    }))
})

describe("a stored failure", () => {
  it.scoped("is taken for its lifetime from its first sight, and not longer when it is written again", () =>
    Effect.gen(function*() {
      const { failed, judge } = yield* setUp
      const first = yield* failed
      assert.strictEqual(yield* judge({ failure: [first, 3] }), "Failure")
      yield* TestClock.adjust(Duration.millis(999))
      assert.strictEqual(yield* judge({ failure: [first, 3] }), "Failure")
      yield* TestClock.adjust(Duration.millis(1))
      assert.strictEqual(yield* judge({ failure: [first, 3] }), "Nothing")
      assert.strictEqual(
        yield* judge({ failure: [yield* failed, 4] }),
        "Failure",
        "the next failure counts from its own first sight"
      )
    }))

  it.scoped("is not taken by a refresh, and not after a token with a higher fence", () =>
    Effect.gen(function*() {
      const { failed, judge } = yield* setUp
      assert.strictEqual(
        yield* judge({ failure: [yield* failed, 3] }, Replaces.Refresh({ token: undefined })),
        "Nothing"
      )
      const one = token("one", 0)
      assert.strictEqual(yield* judge({ stored: [one, 4] }), "one")
      assert.strictEqual(yield* judge({ failure: [yield* failed, 3] }, rejected(one)), "Nothing")
      assert.strictEqual(yield* judge({ failure: [yield* failed, 5] }, rejected(one)), "Failure")
    }))

  it.scoped("can be the mark of a rotation", () =>
    Effect.gen(function*() {
      const { judge } = yield* setUp
      assert.strictEqual(yield* judge({ failure: [Content.encodeRotated(token("one", 0)), 3] }), "Rotated")
    }))
})
