// A whole migration under load: v1, shadow, a comparison, v2, and back to v1. Data Access
// remains on V1 all the time. The plan is a Ref here; a program reads it from variables or from a feature flag.

import { AuthV1 } from "@credit-data/auth-v1"
import { AuthV2 } from "@credit-data/auth-v2"
import { DataAccess, Furnishment } from "@credit-data/http-client"
import { Migration, type Plan } from "@credit-data/migration"
import { Simulator } from "@credit-data/simulator"
import { NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Fiber, Layer, Ref } from "effect"

/** Calls both groups again and again, and counts the calls that failed. */
const load = Effect.gen(function*() {
  const dataAccess = yield* DataAccess.DataAccess
  const furnishment = yield* Furnishment.Furnishment
  const failed = yield* Ref.make(0)
  const call = Effect.all([dataAccess.get("/data-access/consumers/42"), furnishment.get("/furnishment/submissions/7")])
  const counted = Effect.flatMap(
    Effect.exit(call),
    (exit) =>
      exit._tag === "Success" && exit.value.every(({ status }) => status === 200)
        ? Effect.void
        : Ref.update(failed, (count) => count + 1)
  )
  const fiber = yield* Effect.fork(Effect.forever(Effect.delay(counted, "10 millis")))
  return { failed, stop: Fiber.interrupt(fiber) }
})

const program = Effect.fnUntraced(function*(plan: Ref.Ref<Plan.Plan>) {
  const { compare, report } = yield* Migration.Migration
  const { failed, stop } = yield* load

  /** Lets the load continue for a while, and prints which version's tokens were used. */
  const watch = Effect.fnUntraced(function*(what: string) {
    const before = yield* report
    yield* Effect.sleep("1 second")
    const after = yield* report
    const serving = (["v1", "v2"] as const).filter((version) =>
      after[version].tokensServed > before[version].tokensServed
    )
    yield* Console.log(`${what}: ${serving.join(" and ")}`)
  })
  const stage = (stage: Plan.Stage) => Effect.zipRight(Ref.set(plan, { stage }), Effect.sleep("500 millis"))

  yield* watch("v1")
  yield* stage("shadow")
  yield* watch("shadow")
  const { verdict } = yield* compare([{ method: "GET", path: "/furnishment/submissions/7" }])
  yield* Console.log(`compare: ${verdict}`)

  yield* stage("v2")
  yield* watch("v2")
  yield* stage("v1")
  yield* watch("back on v1")

  yield* stop
  yield* Console.log(`failed calls: ${yield* Ref.get(failed)}`)
})

const V1 = AuthV1.layerConfig()

Effect.gen(function*() {
  const plan = yield* Ref.make<Plan.Plan>({ stage: "v1" })
  const Auth = Migration.layer({ v1: V1, v2: AuthV2.layerConfig(), plan: Ref.get(plan), planInterval: "100 millis" })
  const Clients = Layer.merge(
    DataAccess.layer().pipe(Layer.provide(V1)),
    Furnishment.layer().pipe(Layer.provideMerge(Auth))
  )
  yield* Effect.provide(program(plan), Clients)
}).pipe(
  Effect.provide(
    Layer.merge(NodeHttpClient.layer, Layer.provideMerge(Simulator.layerConfigProvider, Simulator.layer()))
  ),
  NodeRuntime.runMain
)
