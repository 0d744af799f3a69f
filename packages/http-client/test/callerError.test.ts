import { HttpError, Transport } from "@credit-data/core/Internal"
import { isRequestError } from "@credit-data/test-support/httpErrors"
import { HttpClientRequest } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit } from "effect"
import { inspect } from "node:util"
import { callOver, failingWith, get } from "./support/calls.ts"

describe("the cause of a transport error", () => {
  const bearer = (request: HttpClientRequest.HttpClientRequest) => request.headers["authorization"] ?? ""
  const leaking: Record<string, (request: HttpClientRequest.HttpClientRequest) => unknown> = {
    "a parser's error with the raw bytes": (request) =>
      Object.assign(new Error("Parse Error"), { code: "HPE_INVALID_CONSTANT", data: bearer(request) }),
    "a packet in a buffer": (request) =>
      Object.assign(new Error("Parse Error"), { rawPacket: Buffer.from(bearer(request)) }),
    "an error that wraps the request": (request) => new Error("wrapped", { cause: request }),
    "an error that wraps a platform error": (request) =>
      new Error("wrapped", { cause: HttpError.requestError("Transport", { request }) }),
    "an AggregateError": (request) => new AggregateError([new Error("first", { cause: request })], "many"),
    "a Cause of Effect": (request) => Cause.fail(request),
    "the request itself": (request) => request,
    "a message that quotes the token": (request) => new Error(`failed: ${bearer(request)} was refused`),
    "a name that is the token": (request) => Object.assign(new Error("x"), { name: bearer(request) }),
    "a code that is the token": (request) => Object.assign(new Error("x"), { code: bearer(request) }),
    "a string that quotes the token in base64": (request) => Buffer.from(bearer(request)).toString("base64"),
    "an error that refers to itself": (request) => {
      const error: Error & { cause?: unknown; request?: unknown } = new Error("circular")
      error.cause = error
      error.request = request
      return error
    }
  }
  for (const [name, cause] of Object.entries(leaking)) {
    it.effect(`is shown without the token: ${name}`, () =>
      Effect.gen(function*() {
        const exit = yield* Effect.exit(get(failingWith(cause)))
        const shown = inspect(exit, { depth: Infinity, customInspect: false, showHidden: true }) + inspect(exit) +
          JSON.stringify(exit) + (Exit.isFailure(exit) ? Cause.pretty(exit.cause, { renderErrorCause: true }) : "")
        for (const text of ["token-1", "746f6b656e2d31", Buffer.from("Bearer token-1").toString("base64")]) {
          assert.notInclude(shown.toLowerCase(), text.toLowerCase())
        }
      }))
  }

  it.effect("keeps its name, message and code, and the names, messages and codes of its causes", () =>
    Effect.gen(function*() {
      const inner = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:1"), {
        code: "ECONNREFUSED",
        more: "hidden"
      })
      const error = yield* Effect.flip(get(failingWith(() => new TypeError("fetch failed", { cause: inner }))))
      assert(isRequestError(error) && error.cause instanceof Error)
      const { cause } = error
      assert.deepStrictEqual([cause.name, cause.message], ["TypeError", "fetch failed"])
      assert(cause.cause instanceof Error)
      assert.deepInclude<object>({ ...cause.cause }, { code: "ECONNREFUSED" })
      assert.strictEqual(cause.cause.message, "connect ECONNREFUSED 127.0.0.1:1")
      assert.notInclude(inspect(error, { depth: Infinity }), "hidden")
      assert.strictEqual(cause.stack, "TypeError: fetch failed")
    }))

  it.effect("has neither the caller's own header nor the credentials without their scheme", () =>
    Effect.gen(function*() {
      const client = failingWith(({ headers }) => new Error(`${headers["authorization"]}: bWluZQ== was refused`))
      const call = callOver(client, (client) => client.get("/a", { headers: { authorization: "Basic bWluZQ==" } }))
      const error = yield* Effect.flip(call)
      assert(isRequestError(error) && error.cause instanceof Error)
      assert.strictEqual(error.cause.message, "<redacted>: <redacted> was refused")
      const apart = callOver(
        failingWith(() => "it was my credentials"),
        (client) => client.get("/a", { headers: { authorization: "Basic  my credentials" } })
      )
      const other = yield* Effect.flip(apart)
      assert.strictEqual(isRequestError(other) && other.cause, "it was <redacted>")
    }))

  it.effect("is cut to at most 300 characters", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(get(failingWith(() => "not found ".repeat(1_000), "failed ".repeat(1_000))))
      assert(isRequestError(error))
      assert.isAtMost(String(error.cause).length, 320)
      assert.isBelow(error.message.length, 400)
    }))
})

describe("a request that got no response", () => {
  it.effect("fails with a message that names the reason and what to check", () =>
    Effect.gen(function*() {
      const cause = { code: "ECONNREFUSED", address: "10.0.0.1", port: 3128 }
      const failed = HttpError.requestError("Transport", {
        request: HttpClientRequest.get("https://api.example"),
        cause
      })
      const expected = Transport.describe(failed, { name: "the API", address: "CREDIT_DATA_BASE_URL" })
      const error = yield* Effect.flip(get(failingWith(() => cause)))
      assert.strictEqual(error.message, `Transport: ${expected} (GET https://api.example/v1/consumers/42?page=2)`)
      const described = yield* Effect.flip(get(failingWith(() => undefined, "The request was not allowed")))
      assert.include(described.message, "Transport: The request was not allowed")
    }))
})
