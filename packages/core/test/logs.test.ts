import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Logger, LogLevel, TestClock } from "effect"
import { failures } from "./support/fakeEndpoint.ts"
import * as Supply from "./support/supply.ts"

describe("the log of the supply", () => {
  const where = "from https://v2.example/oauth2/token (test)"
  const refused = "The token endpoint https://v2.example/oauth2/token (test) refused the client"
  const logging = Effect.gen(function*() {
    const lines: Array<string> = []
    const logger = Logger.make(({ logLevel, message }) => {
      const line = `${logLevel.label} ${String(message)}`
      // Effect logs the failures of forked callers
      if (!line.startsWith("DEBUG Fiber terminated")) lines.push(line)
    })
    const logged = Layer.merge(
      Logger.replace(Logger.defaultLogger, logger),
      Logger.minimumLogLevel(LogLevel.Debug)
    )
    const { endpoint, tokens } = yield* Effect.provide(Supply.make(), logged)
    const get = Effect.zipRight(Effect.fork(Effect.exit(tokens.get)), TestClock.adjust("100 millis"))
    return { endpoint, get, lines, tokens }
  })

  it.scoped("has one line for each token, and none for a call", () =>
    Effect.gen(function*() {
      const { get, lines } = yield* logging
      yield* Effect.replicateEffect(get, 5)
      yield* TestClock.adjust("48 minutes")
      yield* Effect.replicateEffect(get, 5)
      assert.deepStrictEqual(lines, [
        `DEBUG An access token was obtained ${where}. It expires at 1970-01-01T01:00:00.000Z.`,
        `DEBUG An access token was renewed ${where}. It expires at 1970-01-01T01:48:00.500Z.`
      ])
    }))

  it.scoped("reports after how many failures a token was obtained, and since when they happened", () =>
    Effect.gen(function*() {
      const { endpoint, get, lines } = yield* logging
      yield* endpoint.fail(failures.unavailable)
      yield* get
      yield* TestClock.adjust("10 seconds")
      yield* endpoint.recover
      yield* TestClock.adjust("1 minute")
      yield* get
      assert.strictEqual(lines.length, 2)
      assert.include(
        lines[0],
        "ERROR There is no valid access token, and calls fail. The token endpoint https://v2.example/"
      )
      assert.deepStrictEqual(lines.slice(1), [
        `INFO An access token was obtained ${where}, after 3 failed requests since 1970-01-01T00:00:00.100Z. ` +
        "It expires at 1970-01-01T01:01:10.100Z."
      ])
    }))

  it.scoped("reports once that the token has expired while its renewal fails", () =>
    Effect.gen(function*() {
      const { endpoint, get, lines } = yield* logging
      yield* get
      yield* TestClock.adjust("50 minutes")
      yield* endpoint.fail(failures.unavailable)
      for (let minute = 0; minute < 20; minute++) {
        yield* get
        yield* TestClock.adjust("1 minute")
      }
      assert.deepStrictEqual(lines.map((line) => line.replace(/ (The token endpoint|from) .*/, "")), [
        "DEBUG An access token was obtained",
        "WARN An access token could not be renewed; the current token remains in use.",
        "ERROR There is no valid access token, and calls fail."
      ])
    }))

  it.scoped("has one line for a refusal, until a token is obtained or another failure is remembered", () =>
    Effect.gen(function*() {
      const { endpoint, get, lines } = yield* logging
      yield* endpoint.fail(failures.refused)
      for (let minute = 0; minute < 5; minute++) {
        yield* Effect.replicateEffect(get, 3)
        yield* TestClock.adjust("1 minute")
      }
      assert.strictEqual(lines.length, 1)
      assert.include(lines[0], `ERROR There is no valid access token, and calls fail. ${refused}`)
      yield* endpoint.fail(failures.outside)
      yield* get
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(lines.length, 2)
      assert.include(lines[1], "ERROR There is no valid access token, and calls fail. The token endpoint")
      yield* endpoint.recover
      yield* get
      assert.strictEqual(lines.length, 3)
      yield* TestClock.adjust("50 minutes")
      yield* endpoint.fail(failures.refused)
      yield* get
      assert.include(lines[3], `ERROR Token requests are refused; the current token remains in use. ${refused}`)
    }))

  it.scoped("warns once when no call succeeds with a token and its replacement, and reports once that the API accepts tokens again", () =>
    Effect.gen(function*() {
      const { get, lines, tokens } = yield* logging
      yield* get
      yield* tokens.invalidate(yield* tokens.get)
      const replaced = yield* Effect.fork(tokens.get)
      yield* TestClock.adjust("100 millis")
      const second = yield* Fiber.join(replaced)
      // by a caller whose loggers are others
      yield* Effect.replicateEffect(tokens.invalidate(second), 5)
      const warnings = lines.filter((line) => line.startsWith("WARN"))
      assert.deepStrictEqual(warnings, [
        `WARN The API rejected 2 access tokens ${where} in a row, so calls fail with 401. ` +
        "Next token request not before 1970-01-01T00:00:30.100Z. " +
        "If this persists, ask the operator why the API rejects new tokens."
      ])
      yield* Effect.replicateEffect(tokens.reports?.accepted(second) ?? Effect.void, 3)
      assert.deepStrictEqual(lines.filter((line) => line.startsWith("INFO")), [
        `INFO The API accepts an access token ${where} again, after it had rejected 2 in a row.`
      ])
    }))

  it.scoped("does not call a rejected token current when its renewal fails", () =>
    Effect.gen(function*() {
      const { endpoint, get, lines, tokens } = yield* logging
      yield* get
      yield* endpoint.fail(failures.unavailable)
      yield* tokens.invalidate(yield* tokens.get)
      yield* TestClock.adjust("100 millis")
      assert.include(
        lines.at(-1),
        "WARN An access token could not be renewed; the token that the API rejected remains in use. The token endpoint"
      )
    }))
})

describe("calls that begin to fail", () => {
  const lines: Array<string> = []
  const logger = Logger.make(({ logLevel, message }) => {
    if (logLevel.label === "ERROR" || logLevel.label === "WARN") lines.push(`${logLevel.label} ${String(message)}`)
  })
  for (const name of ["refused", "outside", "tls", "unavailable"] as const) {
    it.scoped(`have a line within a minute after the valid token has expired, when its renewal was ${name}`, () =>
      Effect.gen(function*() {
        lines.length = 0
        const { endpoint, tokens } = yield* Supply.make()
        const get = Effect.zipRight(Effect.fork(Effect.exit(tokens.get)), TestClock.adjust("10 seconds"))
        yield* get
        yield* TestClock.adjust("50 minutes")
        yield* endpoint.fail(failures[name])
        for (let call = 0; call < 50; call++) yield* get
        const atRenewal = lines.splice(0)
        assert.strictEqual(atRenewal.length, 1, atRenewal.join("\n"))
        assert.match(
          String(atRenewal),
          name === "refused"
            ? /^ERROR Token requests are refused; the current token remains in use\./
            : /^(ERROR|WARN) An access token could not be renewed; the current token remains in use\./
        )
        yield* TestClock.adjust("2 minutes")
        for (let call = 0; call < 60; call++) yield* get
        assert.strictEqual(lines.length, 1, lines.join("\n"))
        assert.match(String(lines), /^ERROR There is no valid access token, and calls fail\./)
      }).pipe(Effect.provide(Logger.replace(Logger.defaultLogger, logger))))
  }
})
