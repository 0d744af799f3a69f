import { AccessTokens, TokenEndpoint, TokenError, TokenEvent } from "@credit-data/core"
import { Prometheus, Telemetry } from "@credit-data/telemetry"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Exit, Layer, Logger, Option, Scope, TestClock } from "effect"
import * as FakeSupply from "./support/fakeSupply.ts"

const tokenEndpoint = FakeSupply.initial.tokenEndpoint
const at = DateTime.unsafeMake(0)
const failure = new TokenError.InvalidClient({
  environment: "test",
  tokenEndpoint,
  endpointStatus: 401,
  nextTryAt: DateTime.unsafeMake(30_000)
})
const requested = { at, tokenEndpoint, duration: Duration.millis(60) }
const succeeded = {
  ...requested,
  scopes: ["data-access:all"],
  expiresAt: DateTime.unsafeMake(3_600_500),
  dueAt: DateTime.unsafeMake(2_880_000)
}

let runs = 0

/** The name of an environment that no test has used, because Effect keeps the metrics of a whole process together. */
const fresh = (name: string): string => `${name} ${++runs}`

/** Metrics of a supply in this environment. */
const metrics = Effect.fnUntraced(function*(
  environment: string,
  options: { readonly before?: Parameters<typeof FakeSupply.make>[0]; readonly settings?: Telemetry.Settings } = {}
) {
  const supply = yield* FakeSupply.make({ ...options.before, environment })
  const scope = yield* Effect.acquireRelease(Scope.make(), (scope) => Scope.close(scope, Exit.void))
  yield* Scope.extend(
    Layer.build(Telemetry.layer(options.settings).pipe(Layer.provide(supply.layer))),
    scope
  )
  /** The series of this environment without the common labels. */
  const read = Effect.map(Prometheus.text, (text) =>
    Object.fromEntries(
      text.split("\n")
        .filter((line) => line.includes(`credit_data_environment="${environment}"`))
        .map((line) => {
          const [, series = "", value] = /^(.*) (\S+)$/.exec(line) ?? []
          const name = series.replace("credit_data_token_", "")
            .replace(`credit_data_environment="${environment}"`, "")
            .replace("credit_data_client_id=\"acme\"", "")
            .replace("credit_data_version=\"V2\"", "")
            .replace("server_address=\"v2.example\"", "")
            .replace(/\{,*/, "{").replace(/,*\}/, "}").replace(/,,+/g, ",").replace("{}", "")
          return [name, Number(value)] as const
        })
    ))
  const publish = (event: TokenEvent.TokenEvent) => Effect.zipRight(supply.publish(event), TestClock.adjust("0 millis"))
  return { ...supply, close: Scope.close(scope, Exit.void), publish, read }
})

describe("Telemetry.layer", () => {
  it.scoped("registers every outcome at 0, and no time that is not known yet", () =>
    Effect.gen(function*() {
      const { read } = yield* metrics(fresh("start"))
      const series = yield* read
      const requests = Object.entries(series).filter(([name]) => name.startsWith("requests_total"))
      assert.strictEqual(requests.length, 2 * 5 + 4 * 5)
      for (const [, value] of requests) assert.strictEqual(value, 0)
      for (const reason of ["Nothing", "Due", "Rejected", "Insufficient", "Refresh"]) {
        assert.property(series, `requests_total{outcome="obtained",reason="${reason}"}`)
        assert.property(series, `requests_total{outcome="renewed",reason="${reason}"}`)
        for (const error of ["InvalidClient", "InvalidResponse", "ServerError", "TransportError"]) {
          assert.property(series, `requests_total{error_type="${error}",outcome="failed",reason="${reason}"}`)
          assert.strictEqual(series[`failing{error_type="${error}"}`], 0)
        }
      }
      assert.strictEqual(series["invalidations_total"], 0)
      assert.strictEqual(series["served_total"], 0)
      assert.strictEqual(series["callers_waiting"], 0)
      assert.strictEqual(series["usable"], 1)
      assert.notProperty(series, "expiry_timestamp_seconds")
    }))

  it.scoped("shows a supply that had a token and a failure before", () =>
    Effect.gen(function*() {
      const { close, read } = yield* metrics(fresh("late"), {
        before: {
          expiresAt: Option.some(DateTime.unsafeMake(7_000)),
          lastFailure: Option.some(failure),
          tokensServed: 3,
          callersWaiting: 2
        }
      })
      assert.deepInclude(yield* read, {
        expiry_timestamp_seconds: 7,
        "failing{error_type=\"InvalidClient\"}": 1,
        "failing{error_type=\"ServerError\"}": 0,
        usable: 0,
        served_total: 3,
        callers_waiting: 2
      })
      yield* close
      assert.deepInclude(
        yield* read,
        { "failing{error_type=\"InvalidClient\"}": 0, usable: 1, callers_waiting: 0 },
        "no alert remains after the supply has ended"
      )
    }))

  it.scoped("counts what was taken from a shared store, and its faults, and no token requests for them", () =>
    Effect.gen(function*() {
      const { publish, read } = yield* metrics(fresh("shared"))
      const taken = "shared_total{outcome=\"token\"}"
      const failed = "shared_total{outcome=\"failed\"}"
      const faults = "store_faults_total{error_type=\"Timeout\"}"
      assert.deepInclude(yield* read, { [taken]: 0, [failed]: 0, [faults]: 0 })
      yield* publish(TokenEvent.Shared({ ...succeeded, reason: "Nothing" }))
      yield* publish(TokenEvent.Shared({ ...succeeded, reason: "Due" }))
      const shared = new TokenError.ServerError({
        environment: "test",
        tokenEndpoint,
        endpointStatus: 503,
        sharedUntil: at
      })
      yield* publish(TokenEvent.Failed({ ...requested, reason: "Due", error: shared }))
      yield* publish(TokenEvent.StoreFailed({ at, tokenEndpoint, reason: "Timeout" }))
      const series = yield* read
      assert.deepInclude(series, { [taken]: 2, [failed]: 1, [faults]: 1 })
      for (const [name, value] of Object.entries(series)) {
        if (name.startsWith("requests_total")) assert.strictEqual(value, 0, name)
      }
    }))

  it.scoped("counts what happens to token requests", () =>
    Effect.gen(function*() {
      const { publish, read, set } = yield* metrics(fresh("events"))
      yield* publish(TokenEvent.Requested({ ...requested, reason: "Nothing" }))
      yield* set({ lastFailure: Option.some(failure) })
      yield* publish(TokenEvent.Failed({ ...requested, reason: "Nothing", error: failure }))
      assert.deepInclude(yield* read, {
        "requests_total{error_type=\"InvalidClient\",outcome=\"failed\",reason=\"Nothing\"}": 1,
        "request_duration_seconds_count{error_type=\"InvalidClient\"}": 1,
        "request_duration_seconds_sum{error_type=\"InvalidClient\"}": 0.06,
        "failing{error_type=\"InvalidClient\"}": 1
      })
      yield* set({ lastFailure: Option.none(), expiresAt: Option.some(succeeded.expiresAt) })
      yield* publish(TokenEvent.Obtained({ ...succeeded, reason: "Nothing" }))
      yield* publish(TokenEvent.Invalidated({ at, tokenEndpoint }))
      yield* publish(TokenEvent.Renewed({ ...succeeded, reason: "Rejected", duration: Duration.seconds(3) }))
      const series = yield* read
      assert.deepInclude(series, {
        "requests_total{outcome=\"obtained\",reason=\"Nothing\"}": 1,
        "requests_total{outcome=\"renewed\",reason=\"Rejected\"}": 1,
        "requests_total{outcome=\"renewed\",reason=\"Nothing\"}": 0,
        request_duration_seconds_count: 2,
        request_duration_seconds_sum: 3.06,
        "request_duration_seconds_bucket{le=\"0.05\"}": 0,
        "request_duration_seconds_bucket{le=\"0.075\"}": 1,
        "request_duration_seconds_bucket{le=\"2.5\"}": 1,
        "request_duration_seconds_bucket{le=\"5\"}": 2,
        "request_duration_seconds_bucket{le=\"+Inf\"}": 2,
        "failing{error_type=\"InvalidClient\"}": 0,
        expiry_timestamp_seconds: 3_600.5,
        invalidations_total: 1
      })
      const buckets = Object.keys(series).flatMap((name) =>
        /^request_duration_seconds_bucket\{le="(.*)"\}$/.exec(name)?.[1] ?? []
      )
      assert.deepStrictEqual(
        buckets,
        "0.005 0.01 0.025 0.05 0.075 0.1 0.25 0.5 0.75 1 2.5 5 7.5 10 +Inf".split(" ")
      )
    }))

  it.scoped("shows no waiting callers a moment after their request has failed", () =>
    Effect.gen(function*() {
      const { publish, read, set } = yield* metrics(fresh("failed"))
      yield* set({ callersWaiting: 1 })
      yield* publish(TokenEvent.Failed({ ...requested, reason: "Refresh", error: failure }))
      assert.deepInclude(yield* read, { callers_waiting: 1 })
      yield* set({ callersWaiting: 0 })
      yield* TestClock.adjust("100 millis")
      assert.deepInclude(yield* read, { callers_waiting: 0 })
    }))

  it.scoped("reads the returned tokens and the waiting callers at intervals, and for the last time at the end", () =>
    Effect.gen(function*() {
      const { close, read, set } = yield* metrics(fresh("sampled"))
      yield* set({ tokensServed: 10, callersWaiting: 4 })
      yield* TestClock.adjust("4 seconds")
      assert.deepInclude(yield* read, { served_total: 0, callers_waiting: 0 })
      yield* TestClock.adjust("1 second")
      assert.deepInclude(yield* read, { served_total: 10, callers_waiting: 4 })
      yield* set({ tokensServed: 12, callersWaiting: 0 })
      yield* TestClock.adjust("5 seconds")
      assert.deepInclude(yield* read, { served_total: 12, callers_waiting: 0 })
      yield* set({ tokensServed: 13 })
      yield* close
      assert.deepInclude(yield* read, { served_total: 13 })
      yield* set({ tokensServed: 20 })
      yield* TestClock.adjust("1 minute")
      assert.deepInclude(yield* read, { served_total: 13 })
    }))

  it.scoped("reads them at the program's interval", () =>
    Effect.gen(function*() {
      const { read, set } = yield* metrics(fresh("often"), { settings: { sampleInterval: "1 second" } })
      yield* set({ tokensServed: 10 })
      yield* TestClock.adjust("1 second")
      assert.deepInclude(yield* read, { served_total: 10 })
    }))

  it.scoped("names the token endpoint by its whole text if it is not an address", () =>
    Effect.gen(function*() {
      yield* metrics("no address", { before: { tokenEndpoint: "a fake" } })
      assert.include(
        yield* Prometheus.text,
        "credit_data_client_id=\"acme\",credit_data_environment=\"no address\",credit_data_version=\"V2\",server_address=\"a fake\""
      )
    }))

  it.scoped("separates supplies by the attributes of the program, and leaves out a version and a client that are not known", () =>
    Effect.gen(function*() {
      yield* metrics("tenants", {
        before: { clientId: Option.none(), version: Option.none() },
        settings: { attributes: { tenant: "a" } }
      })
      assert.include(
        yield* Prometheus.text,
        "usable{credit_data_environment=\"tenants\",server_address=\"v2.example\",tenant=\"a\"} 1"
      )
    }))

  it.scoped("has the attributes of the supply, even if the program sets others with the same names", () =>
    Effect.gen(function*() {
      const names = ["credit_data.environment", "credit_data.client_id", "credit_data.version", "server.address"]
      const attributes = Object.fromEntries(names.map((name) => [name, "another"]))
      const { read } = yield* metrics(fresh("its own"), { settings: { attributes } })
      assert.deepInclude(yield* read, { usable: 1 })
    }))

  for (const sampleInterval of ["soon", "99 millis", -5] as const) {
    it.scoped(`is not built with the interval ${sampleInterval}`, () =>
      Effect.gen(function*() {
        // a program without types may pass any text
        const settings: object = { sampleInterval }
        const error = yield* Effect.flip(metrics("interval", { settings }))
        assert.include(String(error), "Expected a duration of at least 100 ms")
      }))
  }

  it.scoped("shows missing scopes until the supply has ended", () =>
    Effect.gen(function*() {
      const { close, publish, read, set } = yield* metrics(fresh("worse"), {
        before: { requestedScopes: ["data-access:all", "furnishment:all"] }
      })
      const good = {
        usable: 1,
        "scope_missing{scope=\"data-access:all\"}": 0,
        "scope_missing{scope=\"furnishment:all\"}": 0
      }
      assert.deepInclude(yield* read, good)
      yield* set({ missingScopes: ["furnishment:all"], lastFailure: Option.some(failure) })
      yield* publish(TokenEvent.Invalidated({ at, tokenEndpoint }))
      assert.deepInclude(yield* read, {
        usable: 0,
        "scope_missing{scope=\"data-access:all\"}": 0,
        "scope_missing{scope=\"furnishment:all\"}": 1
      })
      yield* close
      assert.deepInclude(yield* read, good)
    }))

  it.scoped("shows the supply that was built last of those with the same attributes, and an earlier one after it has ended", () =>
    Effect.gen(function*() {
      const environment = fresh("together")
      const first = yield* metrics(environment, {
        before: {
          callersWaiting: 2,
          lastFailure: Option.some(failure),
          expiresAt: Option.some(DateTime.unsafeMake(7_000))
        }
      })
      const second = yield* metrics(environment, {
        before: { callersWaiting: 3, expiresAt: Option.some(DateTime.unsafeMake(9_000)) }
      })
      const ofSecond = {
        usable: 1,
        callers_waiting: 3,
        expiry_timestamp_seconds: 9,
        "failing{error_type=\"InvalidClient\"}": 0
      }
      assert.deepInclude(yield* first.read, ofSecond)
      yield* first.publish(TokenEvent.Invalidated({ at, tokenEndpoint }))
      yield* TestClock.adjust("5 seconds")
      assert.deepInclude(yield* first.read, { ...ofSecond, invalidations_total: 1 })
      yield* second.close
      yield* TestClock.adjust("5 seconds")
      assert.deepInclude(yield* first.read, {
        usable: 0,
        callers_waiting: 2,
        expiry_timestamp_seconds: 7,
        "failing{error_type=\"InvalidClient\"}": 1
      })
    }))

  it.scoped("continues to show the supply that was built last when an earlier one with the same attributes ends", () =>
    Effect.gen(function*() {
      const environment = fresh("replaced")
      const first = yield* metrics(environment, { before: { tokensServed: 4 } })
      const second = yield* metrics(environment, {
        before: { tokensServed: 3, callersWaiting: 3, lastFailure: Option.some(failure) }
      })
      yield* first.close
      assert.deepInclude(yield* second.read, { usable: 0, callers_waiting: 3, served_total: 7 })
      yield* second.close
      assert.deepInclude(yield* second.read, { usable: 1, callers_waiting: 0 })
    }))

  it.scoped("shows no missing scope that only a replaced supply with the same attributes requested", () =>
    Effect.gen(function*() {
      const environment = fresh("fewer scopes")
      const requestedScopes = ["data-access:all", "furnishment:all"]
      const first = yield* metrics(environment, { before: { requestedScopes, missingScopes: ["furnishment:all"] } })
      const second = yield* metrics(environment, { before: { requestedScopes: ["data-access:all"] } })
      yield* first.close
      assert.deepInclude(yield* second.read, { "scope_missing{scope=\"furnishment:all\"}": 0, usable: 1 })
    }))

  for (const name of ["__name__", "", "a-b", "1st", "tenant name"]) {
    it.scoped(`is not built with an attribute whose name is ${JSON.stringify(name)}`, () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(metrics("named", { settings: { attributes: { [name]: "canary" } } }))
        assert.include(String(error), "Expected a name of letters, digits, dots and underscores")
        assert.notInclude(String(error), "canary")
      }))
  }

  it.scoped("continues after a status that could not be read", () =>
    Effect.gen(function*() {
      const { die, publish, read, set } = yield* metrics(fresh("broken"))
      yield* set({ tokensServed: 3 })
      yield* die
      yield* publish(TokenEvent.Invalidated({ at, tokenEndpoint }))
      assert.deepInclude(yield* read, { invalidations_total: 1, served_total: 0 })
      yield* publish(TokenEvent.Invalidated({ at, tokenEndpoint }))
      assert.deepInclude(yield* read, { invalidations_total: 2, served_total: 3 })
      yield* set({ tokensServed: 5 })
      yield* publish(TokenEvent.Invalidated({ at, tokenEndpoint }))
      assert.deepInclude(yield* read, { served_total: 5 }, "each is counted once")
    }).pipe(Effect.provide(Logger.remove(Logger.defaultLogger))))

  it.scoped("sees the first token request of a real supply", () =>
    Effect.gen(function*() {
      const name = fresh("real")
      const endpoint = Layer.succeed(TokenEndpoint.TokenEndpoint, {
        environment: { name, audience: "a", baseUrl: "https://api.example" },
        url: tokenEndpoint,
        requestedScopes: [],
        deadline: Duration.seconds(10),
        requestToken: () =>
          Effect.provide(Effect.flatMap(AccessTokens.AccessTokens, ({ get }) => get), AccessTokens.layerTest())
      })
      const context = yield* Layer.build(
        Telemetry.layer().pipe(Layer.provideMerge(AccessTokens.layer()), Layer.provide(endpoint))
      )
      yield* Effect.flatMap(AccessTokens.AccessTokens, ({ get }) => get).pipe(Effect.provide(context))
      yield* TestClock.adjust("0 millis")
      const series = (yield* Prometheus.text).split("\n").filter((line) => line.includes(`"${name}"`))
      assert.isTrue(series.some((line) => /requests_total.*outcome="obtained",reason="Nothing".* 1$/.test(line)))
    }).pipe(Effect.provide(Logger.remove(Logger.defaultLogger))))
})
