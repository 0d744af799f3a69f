import { Simulator } from "@credit-data/simulator"
import * as Service from "@credit-data/test-support/service"
import { files } from "@credit-data/tools/telemetry/files"
import { Effect } from "effect"

/** Starts the example service against the simulator. */
export const startService = (variables: Record<string, string> = {}) =>
  Effect.flatMap(
    Simulator.variables,
    (simulated) => Service.startService(files.service, { ...simulated, ...variables })
  )
