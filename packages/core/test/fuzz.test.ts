import { AccessToken, TokenError } from "@credit-data/core"
import { runs } from "@credit-data/test-support/searches"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, FastCheck, Option, Redacted } from "effect"
import { inspect } from "node:util"
import { granted, raw } from "./support/fakeTransport.ts"
import { credentials, make } from "./support/tokenEndpoint.ts"

const canary = "canary-of-the-client-secret"

/** For any response, the outcome is a token or one of the four failures, and shows no secret. */
const assertTyped = Effect.fnUntraced(function*(status: number, body: Uint8Array | string) {
  const endpoint = yield* make(
    { credentials: { ...credentials, clientSecret: Redacted.make(canary) } },
    raw(typeof body === "string" ? body : new Uint8Array(body), { status })
  )
  const exit = yield* Effect.exit(endpoint.requestToken({ _tag: "Nothing" }))
  if (Exit.isSuccess(exit)) assert.instanceOf(exit.value, AccessToken.AccessToken)
  else {
    assert.isTrue(Option.isSome(Cause.failureOption(exit.cause)))
    const error = Cause.squash(exit.cause)
    assert.isTrue(TokenError.isTokenError(error))
    if (TokenError.isTokenError(error)) assert.isAtMost(error.message.length, 1_500)
  }
  // the names of granted scopes are data, and kept as they came
  const shown = Exit.isSuccess(exit) ? { ...exit.value, scopes: [] } : exit
  for (const text of [inspect(shown, { depth: Infinity, showHidden: true }), JSON.stringify(shown), String(shown)]) {
    assert.notInclude(text, canary)
  }
})

// A Response cannot be made with other statuses, or cannot have a body with them.
const status = FastCheck.oneof(
  FastCheck.constant(200),
  FastCheck.integer({ min: 201, max: 599 }).filter((status) => ![204, 205, 304].includes(status))
)

// the unit "binary" of fast-check takes a second to begin
const anyText = FastCheck.array(FastCheck.oneof(FastCheck.nat(0x7f), FastCheck.nat(0xffff)), { maxLength: 20 })
  .map((units) => String.fromCharCode(...units))

const text = FastCheck.oneof(
  anyText,
  FastCheck.string().map((text) => `${text}${canary}`),
  FastCheck.constantFrom("Bearer", "__proto__", "constructor", "invalid_client", "\u001b[31m", "1e400", "\ud800")
)

const json = FastCheck.letrec((tie) => ({
  value: FastCheck.oneof(
    { depthSize: "small", withCrossShrink: true },
    text,
    FastCheck.double(),
    FastCheck.integer(),
    FastCheck.constantFrom(null, true, false, 2 ** 53, -0),
    FastCheck.array(tie("value")),
    FastCheck.dictionary(text, tie("value"))
  )
})).value

const names = [
  "access_token",
  "token_type",
  "expires_in",
  "scope",
  "error",
  "error_description",
  "__proto__",
  "toString"
]

/** A good response with some of its fields changed, and others added. */
const mutated = FastCheck.dictionary(FastCheck.constantFrom(...names), json).map((fields) => ({
  ...granted,
  ...fields
}))

/** Checks the outcome for random responses. */
const takes = <A>(title: string, response: FastCheck.Arbitrary<A>, bodyOf: (response: A) => Uint8Array | string) =>
  it(title, () =>
    FastCheck.assert(
      FastCheck.asyncProperty(
        status,
        response,
        (status, response) => Effect.runPromise(assertTyped(status, bodyOf(response)))
      ),
      runs(150)
    ), 30_000)

describe("random token responses", () => {
  takes("decoder and classifier take any bytes", FastCheck.uint8Array({ maxLength: 300 }), (bytes) => bytes)
  takes("decoder and classifier take any JSON", json, (value) => JSON.stringify(value))
  takes("decoder and classifier take any object with fields of the contract", mutated, (value) => JSON.stringify(value))
  takes(
    "decoder and classifier take a good response in which bytes were changed, added or lost",
    FastCheck.array(FastCheck.tuple(FastCheck.nat(150), FastCheck.nat(255), FastCheck.nat(2)), { maxLength: 5 }),
    (changes) => {
      const bytes = [...new TextEncoder().encode(JSON.stringify(granted))]
      for (const [at, byte, lost] of changes) bytes.splice(at, lost, byte)
      return Uint8Array.from(bytes)
    }
  )
})
