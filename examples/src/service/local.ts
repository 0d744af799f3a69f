// The service and a simulator of the credit-data API in one process, so that it runs without an account. main.ts never uses the simulator.

import { Simulator } from "@credit-data/simulator"
import { NodeRuntime } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { Service } from "./service.ts"

Service.pipe(
  Layer.tap(() => Effect.log("The API is simulated. Try /consumers/42, /health/ready and /metrics.")),
  Layer.provide(Simulator.layerConfigProvider),
  Layer.provide(Simulator.layer()),
  Layer.launch,
  NodeRuntime.runMain
)
