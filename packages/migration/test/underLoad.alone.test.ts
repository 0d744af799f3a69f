import { AuthV1 } from "@credit-data/auth-v1"
import { AuthV2 } from "@credit-data/auth-v2"
import { DataAccess, Furnishment } from "@credit-data/http-client"
import { Migration, type MigrationReport, Plan } from "@credit-data/migration"
import { Simulator } from "@credit-data/simulator"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Fiber, Layer, Logger, Ref } from "effect"
import { startGate } from "./support/gate.ts"

// the time is real, so tokens and stages are short
const lifetime = "3 seconds"
const stageTime = "3500 millis"

describe("a program that migrates under load, over real sockets", () => {
  it.live(
    "moves from v1 to v2 and back without a failed call, although Auth V2 refuses and dies meanwhile",
    () =>
      Effect.gen(function*() {
        const simulator = yield* Simulator.Simulator
        const variables = yield* Simulator.variables
        const gate = yield* startGate(simulator.environment.authV2Url)
        const provider = ConfigProvider.fromMap(
          new Map(Object.entries({ ...variables, CREDIT_DATA_AUTH_V2_URL: gate.url }))
        )
        const plan = yield* Ref.make<Plan.Plan>({ stage: "v1" })

        const V1 = AuthV1.layerConfig()
        const Auth = Migration.layer({
          v1: V1,
          v2: AuthV2.layerConfig(),
          plan: Ref.get(plan),
          // instead of ten seconds for each stage
          planInterval: "100 millis"
        })
        const Clients = Layer.merge(
          DataAccess.layer().pipe(Layer.provide(V1)),
          Furnishment.layer().pipe(Layer.provideMerge(Auth))
        ).pipe(Layer.provide(NodeHttpClient.layer))

        yield* Effect.gen(function*() {
          const migration = yield* Migration.Migration
          const dataAccess = yield* DataAccess.DataAccess
          const furnishment = yield* Furnishment.Furnishment
          const failed: Array<string> = []
          const made = { calls: 0 }
          const call = Effect.gen(function*() {
            for (
              const sent of [furnishment.get("/furnishment/submissions/7"), dataAccess.get("/data-access/consumers/42")]
            ) {
              const outcome = yield* Effect.exit(sent)
              made.calls++
              if (outcome._tag === "Failure" || outcome.value.status !== 200) failed.push(String(outcome))
            }
            yield* Effect.sleep("20 millis")
          })
          const load = yield* Effect.forEach([1, 2, 3, 4], () => Effect.fork(Effect.forever(call)))
          const reports: Array<MigrationReport.MigrationReport> = []
          const stage = Effect.fnUntraced(function*(next: Plan.Plan) {
            yield* Ref.set(plan, next)
            // waits until the plan was read again
            while ((yield* migration.plan).stage !== next.stage) {
              yield* Effect.sleep("100 millis")
            }
            yield* Effect.sleep(stageTime)
            reports.push(yield* migration.report)
          })

          yield* stage({ stage: "v1" })
          yield* stage({ stage: "shadow" })
          yield* stage({ stage: "v2" })
          // Auth V2 refuses, and the plan goes back while its last token is valid
          gate.mode = "refuse"
          yield* stage({ stage: "v1" })
          // callers of V1 never see that Auth V2 dies
          gate.mode = "dead"
          yield* stage({ stage: "shadow" })
          gate.mode = "open"
          yield* stage({ stage: "v1" })
          while (made.calls <= 1_000) yield* Effect.sleep("100 millis")
          yield* Effect.forEach(load, Fiber.interrupt)

          assert.strictEqual(failed.join("\n"), "")
          const [first, shadowed, onV2, back] = reports
          assert.isDefined(first)
          assert.isDefined(shadowed)
          assert.isDefined(onV2)
          assert.isDefined(back)
          assert.deepStrictEqual([first.v2.phase, first.v2.tokensServed], ["None", 0])
          assert.notStrictEqual(shadowed.v2.phase, "None")
          assert.strictEqual(shadowed.v2.tokensServed, 0)
          assert.isAbove(onV2.v2.tokensServed, 0)
          assert.strictEqual(back.plan.stage, "v1")
          assert.isAbove(gate.failed, 0)
        }).pipe(Effect.provide(Clients), Effect.withConfigProvider(provider))
      }).pipe(
        Effect.scoped,
        Effect.provide([Simulator.layer({ tokenLifetime: lifetime }), Logger.remove(Logger.defaultLogger)])
      ),
    120_000
  )
})
