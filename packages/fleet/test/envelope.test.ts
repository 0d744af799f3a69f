import { AccessToken, TokenError } from "@credit-data/core"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Option, Redacted } from "effect"
import * as Envelope from "../src/internal/envelope.ts"
import * as Sealing from "../src/internal/sealing.ts"
import { entryOf } from "./support/fleet.ts"

const fence = 7
const at = DateTime.unsafeMake
const where = { environment: "test", tokenEndpoint: "https://v2.example/oauth2/token" }

const token = new AccessToken.AccessToken({
  secret: Redacted.make("a token"),
  scopes: ["data-access:all"],
  covered: ["data-access:all"],
  requestedAt: at(100_000),
  expiresAt: at(160_000)
})
const content = Envelope.contentOfToken(token, 60_000)

const open = (entry: Envelope.Entry, bytes: Uint8Array, under = fence) =>
  Envelope.opened(entry, { value: Option.some({ bytes, fence: under }) })

describe("an envelope", () => {
  it.effect("opens with the same secret at the same place", () =>
    Effect.gen(function*() {
      const entry = yield* entryOf({})
      const bytes = Envelope.sealed(entry, fence, content)
      assert.deepStrictEqual(open(yield* entryOf({}), bytes), Option.some(content))
    }))

  it.effect("does not show its text", () =>
    Effect.gen(function*() {
      const bytes = Envelope.sealed(yield* entryOf({}), fence, content)
      assert.notInclude(Buffer.from(bytes).toString("latin1"), "token")
    }))

  it.effect("does not open with another secret, client, audience, endpoint or scope", () =>
    Effect.gen(function*() {
      const bytes = Envelope.sealed(yield* entryOf({}), fence, content)
      const others = [
        { secret: "another secret of at least 32 characters" },
        { clientId: "another-client" },
        { audience: "another-audience" },
        { authV2Url: "https://another.example" },
        { scopes: ["furnishment:all"] }
      ] as const
      const names = new Set<string>()
      for (const other of others) {
        const entry = yield* entryOf(other)
        names.add(entry.name)
        assert.isTrue(Option.isNone(open(entry, bytes)), JSON.stringify(other))
      }
      assert.strictEqual(names.size, others.length)
      assert.isFalse(names.has((yield* entryOf({})).name))
    }))

  it.effect("does not open at another place", () =>
    Effect.gen(function*() {
      const entry = yield* entryOf({})
      const bytes = Envelope.sealed(entry, fence, content)
      assert.isTrue(Option.isNone(open(entry, bytes, 8)))
      assert.isTrue(Option.isNone(open({ ...entry, name: "a".repeat(64) }, bytes)))
    }))

  it.effect("a secret of fewer than 32 characters has no key", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(entryOf({ secret: "s".repeat(31) }))
      assert.match(String(error), /credentials.*clientSecret.*Expected at least 32 characters/)
      yield* entryOf({ secret: "s".repeat(32) })
    }))
})

// Processes of several versions share a store while a fleet is updated, so these values must not change without another
// version of the format.
const name = "dddc6ee0a037de38c47ca251ea873d583a7f5b2b52df58b442d0933b89e80085"
const envelope =
  "0373cd842aba865f910a3eec557c86ecd945dc2bc94541f6d171b5a6caa84afb7dea09269cf7d7efdab84076cef2e5da5eab75665b262283182c5c6b8a2b9fb" +
  "fe0aceefdf58137c4a9a4aa1cf3763754649c6a3403946f1a317a5635f41304004451a2eb874df7c548814d7a3cf63be4fc0fed76e9f4eb31a3a5f85761d28cc006b1bd"

describe("the format of the store", () => {
  it.effect("has a name of an entry and an envelope that all versions open, and nothing that was changed", () =>
    Effect.gen(function*() {
      const entry = yield* entryOf({})
      assert.strictEqual(entry.name, name)
      const bytes = Uint8Array.from(Buffer.from(envelope, "hex"))
      assert.deepStrictEqual(
        open(entry, bytes),
        Option.some({ token: { secret: "a token", scopes: [], expiresAt: 1, endsAt: 2, lifetimeMillis: 3 } })
      )
      for (let index = 0; index < bytes.length; index++) {
        const changed = bytes.with(index, (bytes[index] ?? 0) ^ 1)
        assert.isTrue(Option.isNone(open(entry, changed)), `byte ${index}`)
        assert.isTrue(Option.isNone(open(entry, bytes.slice(0, index))), `${index} bytes`)
      }
    }))

  it.effect("has a new salt and a new nonce in each envelope", () =>
    Effect.gen(function*() {
      const entry = yield* entryOf({})
      const headers = [1, 2, 3].map(() => {
        const bytes = Envelope.sealed(entry, fence, content)
        return [bytes.slice(1, 17).join(), bytes.slice(17, 29).join()]
      })
      assert.strictEqual(new Set(headers.flat()).size, 6)
    }))
})

describe("a stored failure", () => {
  const failed = (error: Envelope.SharedFailure, token?: Envelope.Content["token"]) =>
    Envelope.contentOfFailure(error, 500_000, token)
  const found = (error: Envelope.SharedFailure, passed: number) =>
    Envelope.failureOf(failed(error), 500_000 + passed, at(passed))

  it.effect("is the same failure for a process that takes it, with the time until which it is shared", () =>
    Effect.gen(function*() {
      const response = { endpointStatus: 401, error: "invalid_client", description: "Unknown.", hint: "Ask." }
      const entry = yield* entryOf({})
      const refusal = new TokenError.InvalidClient({ ...where, ...response, nextTryAt: at(30_000) })
      const opened = Option.getOrThrow(
        open(entry, Envelope.sealed(entry, fence, failed(refusal, content.token)))
      )
      assert.deepStrictEqual(opened.token, content.token)
      const { error, until } = Envelope.failureOf(opened, 500_300, at(300)) ?? assert.fail()
      assert.deepStrictEqual(until, at(1_000))
      assert.deepInclude(error, {
        _tag: "InvalidClient",
        ...where,
        ...response,
        sharedUntil: at(1_000),
        nextTryAt: undefined
      })
      const server = found(new TokenError.ServerError({ ...where, endpointStatus: 500 }), 300)
      assert.deepInclude(server?.error, { _tag: "ServerError", ...where, endpointStatus: 500, sharedUntil: at(1_000) })
    }))

  it("is kept for a second, or for the duration of Retry-After, which partly passes", () => {
    const wait = (requested: number | undefined, passed: number) => {
      const retryAfter = requested === undefined ? undefined : Duration.millis(requested)
      const error = found(new TokenError.ServerError({ ...where, endpointStatus: 503, retryAfter }), passed)?.error
      return error?._tag !== "ServerError" ? "none" : error.retryAfter && Duration.toMillis(error.retryAfter)
    }
    assert.deepStrictEqual(wait(undefined, 999), undefined)
    assert.deepStrictEqual(wait(undefined, 1_000), "none")
    assert.deepStrictEqual(wait(0, 500), undefined)
    assert.deepStrictEqual([wait(400, 999), wait(400, 1_000)], [1, "none"])
    assert.deepStrictEqual([wait(30_000, 18_000), wait(30_000, 30_000)], [12_000, "none"])
  })

  it("counts as absent when the store's clock shows that it has ended, or was set back", () => {
    const error = new TokenError.ServerError({ ...where, endpointStatus: 503 })
    assert.isDefined(found(error, 999))
    assert.isUndefined(found(error, 1_000))
    assert.isDefined(found(error, -1_000))
    assert.isUndefined(found(error, -1_001))
  })

  it("ends in the store with the later of its parts", () => {
    const error = new TokenError.ServerError({ ...where, endpointStatus: 503 })
    assert.strictEqual(Envelope.endOf(content), 60_000)
    assert.strictEqual(Envelope.endOf(failed(error)), 501_000)
    assert.strictEqual(Envelope.endOf(failed(error, Envelope.contentOfToken(token, 600_000).token)), 600_000)
  })

  it("is only a response that all processes would get", () => {
    const shared = [
      new TokenError.InvalidClient({ ...where, endpointStatus: 401 }),
      new TokenError.ServerError({ ...where, endpointStatus: 500 }),
      new TokenError.InvalidResponse({ ...where, endpointStatus: 200, rule: "Json" }),
      new TokenError.TransportError({ ...where, reason: "Refused" })
    ].map(Envelope.isShared)
    assert.deepStrictEqual(shared, [true, true, false, false])
  })
})

describe("a stored token", () => {
  /** The token as it is this long before its end by the store's clock. */
  const found = (left: number, wall: number) => Envelope.tokenOf(content, 60_000 - left, at(wall))

  it("has the remaining life that the store counts, on the clock of the process that takes it", () => {
    const taken = found(20_000, 50_000) ?? assert.fail()
    assert.strictEqual(Redacted.value(taken.secret), "a token")
    assert.deepStrictEqual(taken.scopes, token.scopes)
    assert.deepStrictEqual(taken.covered, token.covered)
    assert.strictEqual(DateTime.toEpochMillis(taken.expiresAt), 70_000)
    assert.strictEqual(DateTime.toEpochMillis(taken.requestedAt), 10_000)
  })

  it("ends when it ends by the clock of the process that published it, whatever the store counts", () => {
    const taken = found(20_000, 150_000) ?? assert.fail()
    assert.strictEqual(DateTime.toEpochMillis(taken.expiresAt), 160_000)
    assert.isUndefined(found(20_000, 160_000))
    assert.isUndefined(found(0, 50_000))
  })

  it("counts as absent when it is to live longer than it was issued for", () => {
    assert.isDefined(found(61_000, 0))
    assert.isUndefined(found(61_001, 0))
  })

  it.effect("is stored in a form that other versions of this package read", () =>
    Effect.gen(function*() {
      const entry = yield* entryOf({})
      const textOf = (content: Envelope.Content) =>
        Sealing.open(
          { secret: Redacted.value(entry.secret), name: entry.name, fence },
          Envelope.sealed(entry, fence, content)
        )
      const text =
        "{\"token\":{\"secret\":\"a token\",\"scopes\":[\"data-access:all\"],\"covered\":[\"data-access:all\"]," +
        "\"lifetimeMillis\":60000,\"expiresAt\":160000,\"endsAt\":60000}}"
      assert.strictEqual(textOf(content), text)
      const { covered: _, ...uncovered } = token
      assert.strictEqual(
        textOf(Envelope.contentOfToken(new AccessToken.AccessToken(uncovered), 60_000)),
        text.replace(/"covered":.*?],/, "")
      )
    }))

  it.effect("of a newer version has what this version knows", () =>
    Effect.gen(function*() {
      const entry = yield* entryOf({})
      const stored = {
        token: { ...content.token, covered: ["data-access:all", "newer:all"], newer: true }
      }
      const bytes = Sealing.seal(
        { secret: Redacted.value(entry.secret), name: entry.name, fence },
        JSON.stringify(stored)
      )
      const taken = Envelope.tokenOf(Option.getOrThrow(open(entry, bytes)), 0, at(100_000))
      assert.deepStrictEqual(taken?.covered, ["data-access:all"])
    }))

  it("covers the same scopes as where it was obtained", () => {
    const covered = Envelope.contentOfToken(
      new AccessToken.AccessToken({ ...token, scopes: ["read:consumers"], covered: ["data-access:all"] }),
      60_000
    )
    const taken = Envelope.tokenOf(covered, 0, at(0))
    assert.deepStrictEqual([taken?.covers("data-access:all"), taken?.covers("furnishment:all")], [true, false])
  })
})
