// The simulator in a separate process, with tokens of ten seconds and a new fault every few seconds. Its message is its variables.

import { Fault, Simulator } from "@credit-data/simulator"
import { Effect, Random } from "effect"

const simulator = Effect.flatMap(Simulator.Simulator, Effect.succeed)

/** Calls get 401 until their token is replaced. */
const revocation = Effect.flatMap(simulator, ({ revokeTokens }) => revokeTokens)

const noFaults = Effect.flatMap(simulator, ({ clearFaults }) => clearFaults)

/** What else goes wrong, one at a time. */
const faults = [
  Effect.flatMap(simulator, ({ failCalls }) => failCalls(Fault.Reset(), { times: 5 })),
  Effect.flatMap(simulator, ({ failCalls }) => failCalls(Fault.Delay({ duration: "200 millis" }), { times: 20 })),
  Effect.flatMap(
    simulator,
    ({ failTokenRequests }) => failTokenRequests(Fault.Delay({ duration: "1 second" }), { times: 1 })
  ),
  Effect.flatMap(simulator, ({ failTokenRequests }) => failTokenRequests(Fault.Response({ status: 503 }), { times: 1 }))
]

Effect.gen(function*() {
  process.send?.(yield* Simulator.variables)
  process.once("disconnect", () => process.exit())
  yield* Effect.forkScoped(Effect.forever(Effect.delay(revocation, "1 minute")))
  return yield* Random.nextIntBetween(0, faults.length).pipe(
    // a fault that no request has met must not add up with the next one
    Effect.flatMap((index) => Effect.zipRight(noFaults, faults[index] ?? Effect.void)),
    Effect.delay("4 seconds"),
    Effect.forever
  )
}).pipe(
  Effect.scoped,
  Effect.withRandom(Random.make("sustained")),
  Effect.provide(Simulator.layer({ tokenLifetime: "10 seconds" })),
  Effect.runFork
)
