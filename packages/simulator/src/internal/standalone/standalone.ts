// The simulator as its own program, for the command `credit-data-simulator`.

import * as NodeContext from "@effect/platform-node/NodeContext"
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as SimulatorConsole from "../../SimulatorConsole.ts"
import * as Fixture from "../../Fixture.ts"
import type { FixtureError } from "../../FixtureError.ts"
import { Transport, Validation } from "@credit-data/core/Internal"
import * as EnvironmentFile from "./environmentFile.ts"
import { instructions } from "./instructions.ts"
import { requestLog } from "./requestLog.ts"
import { readHost, readKey, readLifetime, readPort } from "./settings.ts"
import * as Simulator from "../../Simulator.ts"
import { StartError } from "./startError.ts"

/**
 * The settings of the program. Each has a default.
 */
export interface Options {
  /**
   * The port of the business API. Auth V1, Auth V2 and the console use the next three ports. Default: the variable
   * `SIMULATOR_PORT`, or 7400.
   */
  readonly port?: number | undefined
  /** The address on which it listens. Default: `127.0.0.1`. */
  readonly host?: string | undefined
  /** Such as `90s`, `10m`, `24h` or `1d`. Default: `24h`. */
  readonly tokenLifetime?: string | undefined
  /** Serves the console and the admin API. Default: false. Its key is the variable `SIMULATOR_KEY`, or new at each start. */
  readonly console?: boolean | undefined
  /** Prints a line for each request. Default: false. */
  readonly log?: boolean | undefined
  /** A folder of fixtures. Default: none. */
  readonly fixtures?: string | undefined
  /** A new file for the variables. Default: none. */
  readonly writeEnv?: string | undefined
}

const portVariable = Effect.flatMap(
  Config.option(Config.string("SIMULATOR_PORT")),
  Option.match({ onNone: () => Effect.succeed(7400), onSome: (text) => readPort("SIMULATOR_PORT", Number(text)) })
)

const isUnknownAddress = (cause: unknown) =>
  ["EADDRNOTAVAIL", "ENOTFOUND", "EAI_AGAIN"].includes(Transport.textIn(cause, "code"))

const keyVariable = Config.withDefault(Config.redacted("SIMULATOR_KEY"), Redacted.make(""))

/**
 * Runs the simulator until it is interrupted.
 */
export const run = (
  options: Options = {}
): Effect.Effect<never, StartError | ConfigError.ConfigError | FixtureError> =>
  Effect.gen(function*() {
    const port = yield* (options.port === undefined ? portVariable : readPort("--port", options.port))
    const tokenLifetime = yield* readLifetime("--token-lifetime", options.tokenLifetime ?? "24h")
    const host = yield* readHost(options.host ?? "127.0.0.1")
    const last = options.console === true ? port + 3 : port + 2
    if (last > 65_535) {
      return yield* Effect.fail(
        new StartError({ message: `The port is too high: ${port} leaves no room for the other ports` })
      )
    }
    if (options.writeEnv !== undefined) yield* EnvironmentFile.check(options.writeEnv)
    const fixtures = options.fixtures === undefined ? [] : yield* Fixture.load(options.fixtures)
    const key = yield* Effect.flatMap(keyVariable, readKey)
    const simulator = Simulator.layer({
      tokenLifetime,
      fixtures,
      host,
      ports: { Api: port, AuthV1: port + 1, AuthV2: port + 2 }
    })
    const admin = SimulatorConsole.layer({ host, port: port + 3, key })
    const context = yield* Effect.catchTag(
      Layer.build(options.console === true ? Layer.provideMerge(admin, simulator) : simulator),
      "ServeError",
      ({ cause }) =>
        Effect.fail(
          new StartError({
            message: isUnknownAddress(cause) ?
              "--host: this machine does not have the address" :
              `One of the ports ${port} to ${last} is taken or not permitted. ` +
              "Choose another starting port with --port."
          })
        )
    )
    if (!Validation.isLoopback(host)) {
      yield* Console.error(
        `Warning: other machines can use the simulator, because it listens on ${host}. Send it no real secret. ` +
          "The console and the admin API need the key for every request."
      )
    }
    if (options.writeEnv !== undefined) yield* Effect.provide(EnvironmentFile.write(options.writeEnv), context)
    yield* Effect.flatMap(instructions(options.writeEnv), Console.log).pipe(Effect.provide(context))
    return yield* (options.log === true ? requestLog : Effect.never).pipe(Effect.provide(context))
  }).pipe(Effect.scoped, Effect.provide(NodeContext.layer))
