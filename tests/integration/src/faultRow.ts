import { AuthV2 } from "@credit-data/auth-v2"
import { AccessTokens, TokenEndpoint, type TokenError } from "@credit-data/core"
import { type Fault, Simulator } from "@credit-data/simulator"
import { whileTimePasses } from "@credit-data/test-support/whileTimePasses"
import { assert } from "@effect/vitest"
import {
  Cause,
  Duration,
  Effect,
  Exit,
  Fiber,
  FiberRef,
  HashSet,
  Layer,
  Logger,
  Option,
  Schedule,
  Stream,
  TestClock
} from "effect"
import { credentials } from "./clients.ts"
import { assertShowsNothing } from "./canaries.ts"
import type { Transport } from "./transports.ts"

/** The failure that a token request must have. */
export interface Expected {
  readonly error: Partial<TokenError.TokenError> & Pick<TokenError.TokenError, "_tag">
  /** The number of token requests when there is no token: one, or three if the failure is retried. */
  readonly requests: 1 | 3
}

export const invalidClient = (status: number): Expected => ({
  error: { _tag: "InvalidClient", endpointStatus: status },
  requests: 1
})

export const serverError = (status: number, error?: string): Expected => ({
  error: { _tag: "ServerError", endpointStatus: status, error },
  requests: 1
})

/** A failure of the server that is usually temporary. */
export const passingServerError = (status: number, error?: string): Expected => ({
  ...serverError(status, error),
  requests: 3
})

export const invalidResponse = (rule: TokenError.ResponseRule, status = 200): Expected => ({
  error: { _tag: "InvalidResponse", endpointStatus: status, rule },
  // only the response with an expired token is usually temporary
  requests: rule === "Expired" ? 3 : 1
})

export const transportError = (reason: TokenError.TransportReason): Expected => ({
  error: { _tag: "TransportError", reason },
  // there is no retry after the deadline, and no retry to a server that is not trusted
  requests: reason === "Timeout" || reason === "Tls" ? 1 : 3
})

/** The simulator of a row. */
export const simulator = Simulator.layer({ credentials })

/** Advances the test clock until an effect ends, slowly enough for sockets. */
const finish = <A, E, R>(effect: Effect.Effect<A, E, R>, { error }: Expected) =>
  whileTimePasses(effect, { realMillis: error._tag === "TransportError" && error.reason === "Timeout" ? 1 : 10 })

/** The options of a supply or a token endpoint over the simulator of a row. */
const options = Effect.map(
  Simulator.Simulator,
  ({ environment }) => ({ environment, credentials, scopes: ["data-access:all"] }) as const
)

/**
 * Checks five of the six requirements in README.md for a fault: the call ends by its deadline; all callers get the same typed
 * failure; no printer shows a secret or a token; a valid token remains in use; the next call succeeds. `nothingLeft` checks
 * the sixth.
 */
export const holds = Effect.fnUntraced(function*(fault: Fault.Fault, expected: Expected, transport: Transport) {
  const simulator = yield* Simulator.Simulator
  const logs: Array<unknown> = []
  const logger = Logger.make((options) => {
    logs.push(options.message, options.cause, options.annotations)
  })

  yield* Effect.gen(function*() {
    const tokens = yield* AccessTokens.AccessTokens
    const event = (tag: string) =>
      Stream.runDrain(Stream.takeUntil(tokens.events, ({ _tag }) => _tag === tag)).pipe(
        Effect.forkScoped,
        Effect.tap(() => Effect.yieldNow())
      )

    // three callers without a token get the same typed failure by the deadline
    yield* simulator.failTokenRequests(fault, { times: expected.requests })
    const callers = Effect.forEach([tokens.get, tokens.get, tokens.get], Effect.exit, { concurrency: "unbounded" })
    const [took, exits] = yield* finish(Effect.timed(callers), expected)
    assert.isAtMost(Duration.toMillis(took), 10_000, "the callers wait until the deadline at most")
    const failures = exits.map((exit) => Exit.isFailure(exit) ? Cause.failureOption(exit.cause) : Option.none())
    const [failure, ...others] = failures.map(Option.getOrUndefined)
    assert.deepInclude<object>({ ...failure }, expected.error, "the failure of a caller")
    for (const other of others) assert.strictEqual(other, failure, "the failure of another caller")
    assert.strictEqual(yield* simulator.tokenRequests, expected.requests)
    assertShowsNothing([exits[0], failure, yield* tokens.status])

    // the next request succeeds
    yield* TestClock.adjust("1 minute")
    const token = yield* finish(tokens.get, expected)

    // the same fault during a renewal: callers still get the valid token
    yield* TestClock.adjust("22 hours")
    yield* simulator.failTokenRequests(fault)
    const failed = yield* event("Failed")
    const before = yield* simulator.tokenRequests
    assert.strictEqual(yield* tokens.get, token)
    yield* finish(Fiber.join(failed), expected)
    assert.strictEqual(yield* simulator.tokenRequests, before + 1)

    // after the pause, the next caller starts a renewal, which succeeds
    const renewed = yield* event("Renewed")
    assert.strictEqual(yield* tokens.get, token)
    yield* TestClock.adjust("1 minute")
    yield* tokens.get
    yield* finish(Fiber.join(renewed), expected)
    assert.notStrictEqual(yield* tokens.get, token)

    // the failed renewal was logged
    assert.isNotEmpty(logs)
    assertShowsNothing(logs)
  }).pipe(
    Effect.scoped,
    Effect.provide(Layer.provide(AuthV2.layer(yield* options), transport)),
    Effect.locally(FiberRef.currentLoggers, HashSet.make(logger))
  )
})

/** Checks the class of a failure: one token request fails as expected, and its failure shows no secret. */
export const isClassified = Effect.fnUntraced(
  function*(fault: Fault.Fault, expected: Expected, transport: Transport) {
    yield* Effect.flatMap(Simulator.Simulator, ({ failTokenRequests }) => failTokenRequests(fault))
    const endpoint = Layer.provide(AuthV2.layerTokenEndpoint(yield* options), transport)
    const request = Effect.flatMap(TokenEndpoint.TokenEndpoint, (port) => port.requestToken({ _tag: "Nothing" }))
    const failure = yield* finish(Effect.provide(Effect.flip(request), endpoint), expected)
    assert.deepInclude<object>({ ...failure }, expected.error)
    assert.strictEqual(failure.name, expected.error._tag)
    assertShowsNothing(failure)
  }
)

/** Waits in real time until no more connections are open than the idle ones that the transport may keep for the next request. */
export const nothingLeft = (idle: 0 | 1) =>
  Effect.flatMap(Simulator.Simulator, (simulator) =>
    simulator.openConnections.pipe(
      Effect.repeat({ until: (open) => open <= idle, schedule: Schedule.spaced("10 millis") }),
      Effect.timeout("20 seconds")
    ))
