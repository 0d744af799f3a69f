import { AccessTokens } from "@credit-data/core"
import { Migration, Plan } from "@credit-data/migration"
import { HttpClient, HttpClientResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, Layer, Option, Scope, Stream, TestClock } from "effect"
import { shadow, v1, v2 } from "./support/plans.ts"
import {
  authV2,
  get,
  log,
  plan,
  refresh,
  replace,
  report,
  requests,
  served,
  shown,
  type Step,
  timeline,
  tokensServed,
  waiting
} from "./support/timeline.ts"
import { environment, setUp, textOf } from "./support/versions.ts"

/** Calls at the end of each of these intervals. */
const calls = (count: number, from: number, interval: number): ReadonlyArray<Step> =>
  Array.from({ length: count }, (_, call) => [from + call * interval, get, "V1-1"])

/** The last failure of each version. */
const failures = report(({ v1, v2 }) =>
  [v1, v2].map(({ lastFailure }) => Option.getOrUndefined(Option.map(lastFailure, ({ _tag }) => _tag)))
)

const missing = report(({ v2 }) => v2.missingScopes)

describe("the stages of a migration", () => {
  it.scoped("v1 returns V1 tokens and sends nothing to Auth V2", () =>
    timeline(v1, [
      [0, get, "V1-1"],
      [2, requests, [1, 0]],
      [2, shown, "V1"]
    ]))

  it.scoped("shadow returns V1 tokens, and obtains one token from Auth V2 in the background", () =>
    timeline(shadow, [
      ...calls(10, 0, 2),
      [20, requests, [1, 1]],
      [20, report(({ v1, v2 }) => [v1.phase, v2.phase]), ["Valid", "Valid"]],
      [20, served, [10, 0]]
    ]))

  it.scoped("shadow asks Auth V2 again for a missing scope, and shows when it was granted", () =>
    timeline(shadow, [
      [0, authV2("grants too little")],
      ...calls(10, 0, 60),
      [600, missing, ["furnishment:all"]],
      [600, requests, [1, 2]], // at most every five minutes
      [600, authV2("grants")],
      ...calls(6, 600, 60),
      [960, missing, []]
    ]))

  it.scoped("shadow warns once of a scope that Auth V2 does not grant", () =>
    timeline(shadow, [
      [0, authV2("grants too little")],
      ...calls(3, 0, 2),
      [6, log("did not grant"), [
        "WARN The token endpoint https://v2.example/token (test) did not grant: furnishment:all. Calls that need a missing scope " +
        "fail. Ask the operator to grant it to this client."
      ]]
    ]))

  it.scoped("shadow warns of no scope that Auth V2 grants", () =>
    timeline(shadow, [
      ...calls(3, 0, 2),
      [6, log("did not grant"), []]
    ]))

  it.scoped("shadow has one request to Auth V2 under way, and starts one at most every second", () =>
    timeline(shadow, [
      [0, get],
      [7_200, authV2("hangs")],
      ...[7_200, 7_200, 7_200].map((second): Step => [second, get]),
      [7_202, waiting, 1],
      ...[7_202, 7_202, 7_202].map((second): Step => [second, get]),
      [7_204, waiting, 1]
    ]))

  it.scoped("shadow hides from callers that Auth V2 refuses or hangs", () =>
    timeline(shadow, [
      [0, authV2("refuses")],
      [0, get, "V1-1"],
      [31, authV2("hangs")],
      ...calls(5, 31, 2),
      [41, requests, [1, 2]],
      [41, failures, [undefined, "InvalidClient"]]
    ]))

  it.scoped("v2 returns V2 tokens, and the failures of Auth V2", () =>
    timeline(v2, [
      [0, get, "V2-1"],
      [0, authV2("refuses")],
      [7_200, get, "V2 InvalidClient"],
      [7_200, requests, [0, 2]],
      [7_200, shown, "V2"]
    ]))
})

describe("a rejected token", () => {
  it.scoped("is replaced by the version in use", () =>
    timeline(v1, [
      [0, get, "V1-1"],
      [0, replace("V1-1"), "V1-2"],
      [0, plan(v2)],
      [10, get, "V2-1"],
      [10, replace("V2-1"), "V2-2"],
      [10, requests, [2, 2]]
    ]))

  it.scoped("of unknown origin belongs to the version in use", () =>
    Effect.gen(function*() {
      const world = yield* setUp(v1)
      const known = yield* world.tokens.get
      const other = yield* setUp(v1)
      yield* other.tokens.get
      assert.strictEqual(textOf(yield* other.tokens.replace(known)), "V1-2")
    }))
})

describe("the state of a migration", () => {
  it.scoped("counts the tokens of both versions, so that no count ever falls", () =>
    timeline(v1, [
      ...calls(3, 0, 1),
      [3, tokensServed, 3],
      [3, plan(v2)],
      [13, get],
      [13, tokensServed, 4],
      [13, served, [3, 1]]
    ]))

  it.scoped("shows the scopes and the last failure of each version", () =>
    timeline(shadow, [
      [0, authV2("grants too little")],
      [0, get],
      [1, report(({ v1 }) => [v1.scopes, v1.missingScopes]), [["read:consumers"], []]],
      [1, report(({ v2 }) => [v2.scopes, v2.missingScopes]), [["data-access:all"], ["furnishment:all"]]],
      [1, failures, [undefined, undefined]],
      [1, authV2("refuses")],
      [1, refresh],
      [2, failures, [undefined, "InvalidClient"]]
    ]))

  it.scoped("can be compared without another HttpClient", () =>
    Effect.gen(function*() {
      const client = HttpClient.make((request) =>
        Effect.succeed(HttpClientResponse.fromWeb(request, new Response("{}")))
      )
      const world = yield* setUp(v1, { client })
      const { verdict } = yield* world.migration.compare([{ method: "GET", path: "/data-access/ping" }])
      assert.strictEqual(verdict, "Ready")
    }))
})

describe("refresh of a migration", () => {
  it.scoped("requests a token from the version in use", () =>
    timeline(v1, [
      [0, refresh, "V1-1"],
      [0, plan(shadow)],
      [10, refresh, "V1-2"],
      [10, requests, [2, 1]],
      [10, plan(v2)],
      [20, refresh, "V2-2"],
      [20, requests, [2, 2]]
    ]))
})

describe("the supplies of a migration", () => {
  it.scoped("must belong to one API", () =>
    Effect.gen(function*() {
      for (const other of [{ baseUrl: "https://other.example" }, { audience: "another" }]) {
        const error = yield* Effect.flip(setUp(v1, { environmentOfV1: { ...environment, ...other } }))
        assert.match(String(error), /v1.*environment.*Expected the base URL and the audience of v2/)
        assert.notInclude(String(error), "other.example")
      }
    }))

  it.scoped("publish their events together", () =>
    Effect.gen(function*() {
      const world = yield* setUp(shadow)
      const events = yield* Effect.fork(Stream.runCollect(Stream.take(world.tokens.events, 4)))
      for (let turn = 0; turn < 5; turn++) yield* Effect.yieldNow()
      yield* world.tokens.get
      yield* TestClock.adjust("0 millis")
      const heard = Array.from(yield* Fiber.join(events), ({ _tag }) => _tag)
      assert.deepStrictEqual(heard.toSorted(), ["Obtained", "Obtained", "Requested", "Requested"])
    }))

  it.effect("fail with Closed when the migration's scope has closed, in every stage and from a listener of its events too", () =>
    Effect.gen(function*() {
      for (const plan of [v1, shadow, v2]) {
        const scope = yield* Scope.make()
        const { tokens, ...versions } = yield* Scope.extend(setUp(plan), scope)
        const held = yield* tokens.get
        const last = yield* Effect.fork(Stream.runDrain(tokens.events).pipe(Effect.zipRight(Effect.exit(tokens.get))))
        yield* TestClock.adjust("2 seconds")
        const requests = versions.v1.requests + versions.v2.requests
        yield* Scope.close(scope, Exit.void)
        const late = [yield* Fiber.join(last)]
        for (const use of [tokens.get, tokens.refresh, tokens.replace(held)]) late.push(yield* Effect.exit(use))
        for (const outcome of late) {
          const error = yield* Effect.flip(outcome)
          assert.deepInclude({ ...error }, { _tag: "TransportError", reason: "Closed" })
        }
        yield* TestClock.adjust("1 hour")
        assert.strictEqual(versions.v1.requests + versions.v2.requests, requests, "no request after the end")
      }
    }))

  it.scoped("report a missing scope to Auth V2", () =>
    Effect.gen(function*() {
      const world = yield* setUp(v2)
      yield* world.tokens.get
      yield* TestClock.adjust("5 minutes")
      yield* world.tokens.scopeMissing?.("serviceplus:all") ?? Effect.void
      yield* TestClock.adjust("0 millis")
      assert.deepStrictEqual([world.v1.requests, world.v2.requests], [0, 2])
    }))
})

describe("one const of a migration", () => {
  class Unrelated extends Context.Tag("Unrelated")<Unrelated, object>() {}

  it.scoped("is one migration in all parts of a program, whatever other services they have", () =>
    Effect.gen(function*() {
      const { layer, migration, reads, setPlan } = yield* setUp(v1)
      const again = Effect.map(Layer.build(layer), Context.get(Migration.Migration))
      assert.strictEqual(yield* Effect.provideService(again, Unrelated, {}), migration)
      setPlan(v2)
      assert.strictEqual(yield* again, migration, "its plan is read again by itself")
      assert.strictEqual(reads.count, 1)
    }))

  class Flags extends Context.Tag("Flags")<Flags, { readonly stage: Plan.Stage }>() {}

  it.scoped("is another migration for another service that its plan is read with", () =>
    Effect.gen(function*() {
      const supply = AccessTokens.layerTest({ environment })
      const layer = Migration.layer({
        v1: supply,
        v2: AccessTokens.layerTest({ environment }),
        plan: Plan.from(Flags, ({ stage }) => Effect.succeed({ stage }))
      }).pipe(Layer.provide(Layer.succeed(HttpClient.HttpClient, HttpClient.make(() => Effect.never))))
      const stageOf = (flags: { readonly stage: Plan.Stage }) =>
        Layer.build(layer).pipe(
          Effect.flatMap((context) => Context.get(context, Migration.Migration).plan),
          Effect.provideService(Flags, flags)
        )
      assert.deepStrictEqual(yield* stageOf({ stage: "v1" }), v1)
      assert.deepStrictEqual(yield* stageOf({ stage: "shadow" }), shadow)
    }))
})
