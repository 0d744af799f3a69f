import { AccessToken, type AccessScope, TokenError, type TokenEvent } from "@credit-data/core"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Option, Redacted, TestClock } from "effect"
import * as Envelope from "../src/internal/envelope.ts"
import * as Protocol from "../src/internal/protocol.ts"
import { endpointOf, entryOf, makeMemory, usualCredentials } from "./support/fleet.ts"

const minute = 60_000

/** A token with this text that was requested at this millisecond, and lives for an hour. */
const token = (text: string, requestedAt: number) =>
  new AccessToken.AccessToken({
    secret: Redacted.make(text),
    scopes: ["data-access:all"],
    requestedAt: DateTime.unsafeMake(requestedAt),
    expiresAt: DateTime.unsafeMake(requestedAt + 60 * minute)
  })

const where = { environment: "test", tokenEndpoint: "https://v2.example/oauth2/token" }
const failure = new TokenError.TransportError({ ...where, reason: "Refused" })

/** What one process makes of the values that it reads, ten minutes after the start of time. */
const setUp = Effect.gen(function*() {
  yield* TestClock.adjust(Duration.minutes(10))
  const clock = yield* Effect.clock
  const endpoint = yield* endpointOf({})
  const entry = yield* entryOf({})
  let value: Option.Option<{ readonly bytes: Uint8Array; readonly fence: number }> = Option.none()
  const memory = yield* makeMemory
  const store = { ...memory, read: () => Effect.sync(() => ({ value, now: clock.unsafeCurrentTimeMillis() })) }
  let reads = 0
  const credentials = {
    ...usualCredentials,
    reread: Effect.tap(usualCredentials.reread, () => Effect.sync(() => reads++))
  }
  const decorated = yield* Protocol.decorated({ endpoint, credentials, entry: Effect.succeed(entry), store })
  let taken: AccessToken.AccessToken | undefined
  const find = (reason: TokenEvent.RequestReason, error: TokenError.TokenError = failure) =>
    Effect.map(
      Effect.tap(decorated.sharing.find(reason, error), (found) =>
        Effect.sync(() => {
          taken = Option.getOrUndefined(found) ?? taken
        })),
      Option.match({ onNone: () => "nothing", onSome: ({ secret }) => Redacted.value(secret) })
    )
  /** What this process takes, when the store contains this token under this fence. */
  const judge = Effect.fnUntraced(function*(
    [stored, fence]: readonly [token: AccessToken.AccessToken, fence: number],
    reason: TokenEvent.RequestReason = { _tag: "Nothing" }
  ) {
    const content = Envelope.contentOfToken(stored, DateTime.toEpochMillis(stored.expiresAt))
    value = Option.some({ bytes: Envelope.sealed(entry, fence, content), fence })
    return yield* find(reason)
  })
  return { find, judge, reads: () => reads, taken: () => taken ?? assert.fail() }
})

const rejected = (token: AccessToken.AccessToken) => ({ _tag: "Rejected", token }) as const
const insufficient = (token: AccessToken.AccessToken, scope: AccessScope.AccessScope) =>
  ({ _tag: "Insufficient", token, scope }) as const

describe("a stored token", () => {
  it.scoped("is taken if there is nothing to replace, and again by the same process", () =>
    Effect.gen(function*() {
      const { find, judge } = yield* setUp
      assert.strictEqual(yield* find({ _tag: "Nothing" }), "nothing")
      for (const _ of [1, 2]) assert.strictEqual(yield* judge([token("one", 0), 4]), "one")
    }))

  it.scoped("does not replace itself", () =>
    Effect.gen(function*() {
      const { judge } = yield* setUp
      const one = token("one", 0)
      assert.strictEqual(yield* judge([one, 4], rejected(one)), "nothing")
      assert.strictEqual(yield* judge([one, 4], { _tag: "Due", token: one }), "nothing")
      // a server may issue it again
      assert.strictEqual(yield* judge([token("one", minute), 5], rejected(one)), "nothing")
    }))

  it.scoped("is not taken for a refresh, which reads the credentials again and sends a request", () =>
    Effect.gen(function*() {
      const { judge } = yield* setUp
      const one = token("one", 0)
      assert.strictEqual(yield* judge([one, 4], { _tag: "Refresh", token: undefined }), "nothing")
      assert.strictEqual(yield* judge([token("two", minute), 5], { _tag: "Refresh", token: one }), "nothing")
    }))

  it.scoped("replaces a token that this process took under a lower fence, whatever their times show", () =>
    Effect.gen(function*() {
      const { judge, taken } = yield* setUp
      assert.strictEqual(yield* judge([token("one", minute), 4]), "one")
      const one = taken()
      assert.strictEqual(yield* judge([token("same fence", 2 * minute), 4], rejected(one)), "nothing")
      assert.strictEqual(yield* judge([token("two", 0), 5], rejected(one)), "two")
    }))

  it.scoped("replaces a token that the process obtained without the store only if it was requested later", () =>
    Effect.gen(function*() {
      const { judge } = yield* setUp
      const alone = token("alone", 5 * minute)
      assert.strictEqual(yield* judge([token("earlier", 4 * minute), 1], rejected(alone)), "nothing")
      assert.strictEqual(yield* judge([token("as early", 5 * minute), 2], rejected(alone)), "nothing")
      assert.strictEqual(yield* judge([token("later", 6 * minute), 3], rejected(alone)), "later")
    }))

  it.scoped("replaces an older token with a missing scope, even if it lacks the scope too", () =>
    Effect.gen(function*() {
      const { judge } = yield* setUp
      const needs = insufficient(token("one", minute), "furnishment:all")
      assert.strictEqual(yield* judge([token("earlier", 0), 1], needs), "nothing")
      assert.strictEqual(yield* judge([token("two", 2 * minute), 2], needs), "two")
    }))

  it.scoped("is looked for under the next credentials after a refusal, and after no other failure", () =>
    Effect.gen(function*() {
      const { find, reads } = yield* setUp
      yield* find({ _tag: "Nothing" })
      assert.strictEqual(reads(), 0)
      yield* find({ _tag: "Nothing" }, new TokenError.InvalidClient({ ...where, endpointStatus: 401 }))
      assert.strictEqual(reads(), 1)
    }))
})
