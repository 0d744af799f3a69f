import { type Fault, Simulator } from "@credit-data/simulator"
import { it } from "@effect/vitest"
import { Effect, Schema } from "effect"

/** The client secret of the simulator. */
export const secret = "simulated-secret-0123456789abcdefghijklm"

/** A simulated token of Auth V2. */
export const token = /simulated\.V2\.\d+\.\w+/

/** The character that starts a control sequence of a terminal. */
export const escape = String.fromCharCode(27)

/** A test with its own simulator. */
export const test = <A, E>(name: string, effect: Effect.Effect<A, E, Simulator.Simulator>) =>
  it.live(name, () => Effect.provide(effect, Simulator.layer()), 120_000)

/** The JSON that a command has printed. Fails if a field is missing or not documented. */
export const decoded = <A, I>(schema: Schema.Schema<A, I>, stdout: string): A =>
  Schema.decodeUnknownSync(Schema.parseJson(schema))(stdout, { onExcessProperty: "error" })

export const sunset = /^warning: Auth V1 was retired .*\n$/

/** Effects that do not depend on each other. Each starts a process. */
export const together = <const Effects extends ReadonlyArray<Effect.Effect<unknown, unknown, unknown>>>(
  ...effects: Effects
) => Effect.all(effects, { concurrency: 4 })

export const failTokenRequests = (fault: Fault.Fault, times = 10) =>
  Effect.flatMap(Simulator.Simulator, ({ failTokenRequests }) => failTokenRequests(fault, { times }))

export const tokenRequests = Effect.flatMap(Simulator.Simulator, ({ tokenRequests }) => tokenRequests)

export const calls = Effect.map(
  Effect.flatMap(Simulator.Simulator, ({ received }) => received),
  (received) => received.filter(({ server }) => server === "Api")
)
