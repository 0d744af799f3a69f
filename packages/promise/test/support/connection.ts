import { connect, type Connection, type Options } from "@credit-data/promise"
import { Simulator } from "@credit-data/simulator"
import { Effect } from "effect"

interface World {
  readonly api: Connection
  readonly simulator: Simulator.Service
  /** Runs an effect of the simulator in the middle of a program with Promises. */
  readonly run: <A>(effect: Effect.Effect<A>) => Promise<A>
}

/** A program with Promises over a connection to a simulator. */
export const connected = (program: (world: World) => Promise<void>, options: Options = {}) =>
  Effect.gen(function*() {
    const simulator = yield* Simulator.Simulator
    const variables = { ...yield* Simulator.variables, ...options.variables }
    const api = yield* Effect.acquireRelease(
      Effect.promise(() => connect({ log: silent, ...options, variables })),
      (api) => Effect.promise(() => api.close())
    )
    yield* Effect.promise(() => program({ api, simulator, run: Effect.runPromise }))
  }).pipe(Effect.scoped, Effect.provide(Simulator.layer()))

/** A log that nobody reads. */
export const silent = { debug() {}, info() {}, warn() {}, error() {} }

/** A log, and what it got, each with its level. */
export const recording = () => {
  const lines: Array<string> = []
  const at = (level: string) => (message: string) => void lines.push(`${level} ${message}`)
  return { lines, log: { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") } }
}

/** What a promise rejects with. */
export const rejection = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => {
      throw new Error("It did not reject")
    },
    (error: unknown) => error
  )
