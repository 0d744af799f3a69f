import * as Effect from "effect/Effect"
import { StartError } from "../../StartError.ts"

/** The first of three ports, from an option or a variable. */
export const readPort = (name: string, text: string): Effect.Effect<number, StartError> =>
  /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_533
    ? Effect.succeed(Number(text))
    : Effect.fail(new StartError({ message: `${name}: expected a port from 1 to 65533` }))
