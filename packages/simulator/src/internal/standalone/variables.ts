import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { SimulatorConsole } from "../../SimulatorConsole.ts"
import * as Simulator from "../../Simulator.ts"

/** The variables of a program that controls the simulator, if it has an admin server. */
export const control = Effect.map(
  Effect.serviceOption(SimulatorConsole),
  Option.map(({ key, url }) => ({ SIMULATOR_URL: url, SIMULATOR_KEY: Redacted.value(key) }))
)

/** All variables that the program prints. */
export const all = Effect.map(
  Effect.all([Simulator.variables, control]),
  ([variables, admin]) => ({ ...variables, ...Option.getOrElse(admin, () => ({})) })
)
