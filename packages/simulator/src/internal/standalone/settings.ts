import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { StartError } from "./startError.ts"
import { isKey } from "../admin/key.ts"

const fail = (message: string) => Effect.fail(new StartError({ message }))

/** The first of three or four ports, from an option or a variable. */
export const readPort = (name: string, port: number): Effect.Effect<number, StartError> =>
  Number.isInteger(port) && port >= 1 && port <= 65_533
    ? Effect.succeed(port)
    : fail(`${name}: expected a port from 1 to 65533`)

/** The address or the name on which the servers listen. */
export const readHost = (host: string): Effect.Effect<string, StartError> =>
  /^[\w.:-]+$/.test(host) ? Effect.succeed(host) : fail("--host: expected an address or a name of this machine")

/** The key that the user chose. An empty variable counts as none. */
export const readKey = (key: Redacted.Redacted): Effect.Effect<Redacted.Redacted | undefined, StartError> => {
  const text = Redacted.value(key)
  if (text.trim() === "") return Effect.succeed(undefined)
  return isKey(text) ? Effect.succeed(key) : fail("SIMULATOR_KEY: expected up to 200 letters, digits, _ and -")
}

const units: Readonly<Record<string, (count: number) => Duration.Duration>> = {
  s: Duration.seconds,
  m: Duration.minutes,
  h: Duration.hours,
  d: Duration.days
}

/** A lifetime such as `90s`, `10m`, `24h` or `1d`. */
export const readLifetime = (name: string, text: string): Effect.Effect<Duration.Duration, StartError> => {
  const [, count = "", unit = ""] = /^([1-9]\d{0,6})([smhd])$/.exec(text) ?? []
  const make = units[unit]
  return make === undefined
    ? fail(`${name}: expected a time such as 90s, 10m or 24h`)
    : Effect.succeed(make(Number(count)))
}
