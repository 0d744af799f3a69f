import { Simulator } from "@credit-data/simulator"
import { assert, it } from "@effect/vitest"
import { Config, ConfigProvider, Effect, Layer } from "effect"

it.effect("layerConfigProvider sets its own variables and leaves all others as they are", () =>
  Effect.gen(function*() {
    assert.strictEqual(yield* Config.string("CREDIT_DATA_ENVIRONMENT"), "simulator")
    assert.strictEqual(yield* Config.string("DATABASE_URL"), "mine")
  }).pipe(Effect.provide(
    Simulator.layerConfigProvider.pipe(
      Layer.provide(Simulator.layer()),
      Layer.provide(Layer.setConfigProvider(ConfigProvider.fromMap(new Map([["DATABASE_URL", "mine"]]))))
    )
  )))
