import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"

export const simulator = Command.make("simulator", {}, () =>
  // a program of its own, with the signals and messages of its own
  Effect.zipRight(Effect.promise(() => import("@credit-data/simulator/bin")), Effect.never)).pipe(
    Command.withDescription("Run an imitation of the service on this machine. SIMULATOR_PORT is the first of its ports")
  )
