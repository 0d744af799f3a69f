import { AuthV2 } from "@credit-data/auth-v2"
import { AccessTokens, TokenEndpoint, type TokenError } from "@credit-data/core"
import { type Fault, Simulator } from "@credit-data/simulator"
import type { HttpClient } from "@effect/platform"
import { assert } from "@effect/vitest"
import {
  Cause,
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
  TestClock,
  TestServices
} from "effect"
import { assertNothingShows } from "./printers.ts"

/** The failure that a token request must have. */
export interface Expected {
  readonly error: Partial<TokenError.TokenError> & Pick<TokenError.TokenError, "_tag">
  /** The number of token requests when there is no token: one, or three if the failure is retried. */
  readonly requests: 1 | 3
}

/** A row of the fault catalogue: a fault of a token request, and the failure that it must cause. */
export interface FaultRow extends Expected {
  readonly name: string
  readonly fault: Fault.Fault
}

/** The authorization server of a row: the simulator, or one in memory. */
export type TokenServer = Pick<
  Simulator.Service,
  "environment" | "credentials" | "failTokenRequests" | "tokenRequests"
>

export const invalidClient = (status: number): Expected => ({ error: { _tag: "InvalidClient", status }, requests: 1 })

export const serverError = (status: number, error?: string): Expected => ({
  error: { _tag: "ServerError", status, error },
  requests: 1
})

/** A failure of the server that is usually temporary. */
export const passingServerError = (status: number, error?: string): Expected => ({
  ...serverError(status, error),
  requests: 3
})

export const invalidResponse = (rule: TokenError.ResponseRule, status = 200): Expected => ({
  error: { _tag: "InvalidResponse", status, rule },
  requests: 1
})

/** A response outside the contract that is usually temporary. */
export const passingInvalidResponse = (rule: TokenError.ResponseRule): Expected => ({
  ...invalidResponse(rule),
  requests: 3
})

export const transportError = (reason: TokenError.TransportReason): Expected => ({
  error: { _tag: "TransportError", reason },
  // there is no retry after the deadline, and no retry to a server that is not trusted
  requests: reason === "Timeout" || reason === "Tls" ? 1 : 3
})

const live = (millis: number) => TestServices.provideLive(Effect.sleep(millis))

/** Advances the test clock until a fiber ends, slowly enough for sockets, and returns the virtual time that it took. */
const finish = Effect.fnUntraced(function*<A, E>(fiber: Fiber.RuntimeFiber<A, E>, stepMillis = 10) {
  let millis = 0
  while (fiber.unsafePoll() === null) {
    yield* live(stepMillis)
    yield* TestClock.adjust("100 millis")
    millis += 100
  }
  return { millis, value: yield* Fiber.join(fiber) }
})

/**
 * Checks five of the six requirements in README.md for a row: the call ends by its deadline; all callers get the same typed
 * failure; no printer shows a secret or a token; a valid token remains in use; the next call succeeds. `nothingLeft` checks
 * the sixth. A server in memory needs no real time for each step.
 */
export const holds = Effect.fnUntraced(function*(
  { error, fault, requests }: FaultRow,
  server: TokenServer,
  transport: Layer.Layer<HttpClient.HttpClient>,
  stepMillis = 10
) {
  const isTimeout = error._tag === "TransportError" && error.reason === "Timeout"
  const finishFault = <A, E>(fiber: Fiber.RuntimeFiber<A, E>) => finish(fiber, isTimeout ? 1 : stepMillis)

  const logs: Array<unknown> = []
  const logger = Logger.make((options) => {
    logs.push(options.message, options.cause, options.annotations)
  })
  const auth = AuthV2.layer({
    environment: server.environment,
    credentials: server.credentials,
    scopes: ["data-access:all"]
  }).pipe(Layer.provide(transport))

  yield* Effect.gen(function*() {
    const tokens = yield* AccessTokens.AccessTokens
    const event = (tag: string) =>
      Effect.forkScoped(Stream.runDrain(Stream.takeUntil(tokens.events, ({ _tag }) => _tag === tag)))

    // three callers without a token get the same typed failure by the deadline
    yield* server.failTokenRequests(fault, { times: requests })
    const callers = yield* Effect.fork(Effect.forEach([tokens.get, tokens.get, tokens.get], Effect.exit, {
      concurrency: "unbounded"
    }))
    const { millis, value: exits } = yield* finishFault(callers)
    assert.isAtMost(millis, 10_000)
    for (const exit of exits) {
      const failure = Exit.isFailure(exit) ? Cause.failureOption(exit.cause) : Option.none()
      assert(Option.isSome(failure), `Expected a typed failure, but got ${exit}`)
      assert.deepInclude<object>({ ...failure.value }, error)
    }
    assert.strictEqual(yield* server.tokenRequests, requests)

    // all of them got the same object, and no secret is shown
    const [exit, ...others] = exits.map((exit) => Exit.isFailure(exit) ? Cause.squash(exit.cause) : exit)
    for (const other of others) assert.strictEqual(other, exit, "the failure of another caller")
    yield* assertNothingShows({ exit: exits[0], error: exit, status: yield* tokens.status })

    // the next request succeeds
    yield* TestClock.adjust("1 minute")
    const recovered = yield* Effect.fork(tokens.get)
    const { value: token } = yield* finish(recovered, stepMillis)

    // the same fault during a renewal: callers still get the valid token
    yield* TestClock.adjust("22 hours")
    yield* server.failTokenRequests(fault)
    const failed = yield* event("Failed")
    yield* Effect.yieldNow()
    const before = yield* server.tokenRequests
    assert.strictEqual(yield* tokens.get, token)
    yield* finishFault(failed)
    assert.strictEqual(yield* server.tokenRequests, before + 1)

    // after the pause, the next caller starts a renewal, which succeeds
    const renewed = yield* event("Renewed")
    yield* Effect.yieldNow()
    assert.strictEqual(yield* tokens.get, token)
    yield* TestClock.adjust("1 minute")
    yield* tokens.get
    yield* finish(renewed, stepMillis)
    assert.notStrictEqual(yield* tokens.get, token)

    // the failed renewal was logged
    assert.isNotEmpty(logs)
    yield* assertNothingShows({ logs })
  }).pipe(Effect.scoped, Effect.provide(auth), Effect.locally(FiberRef.currentLoggers, HashSet.make(logger)))
})

/** Checks the class of a row's failure: one token request fails as expected, and its failure shows no secret. */
export const isClassified = Effect.fnUntraced(function*(
  { error, fault }: FaultRow,
  server: TokenServer,
  transport: Layer.Layer<HttpClient.HttpClient>
) {
  yield* server.failTokenRequests(fault)
  const endpoint = AuthV2.layerTokenEndpoint({
    environment: server.environment,
    credentials: server.credentials,
    scopes: ["data-access:all"]
  })
  const request = yield* Effect.flatMap(TokenEndpoint.TokenEndpoint, (port) => port.requestToken({ _tag: "Nothing" }))
    .pipe(Effect.flip, Effect.provide(Layer.provide(endpoint, transport)), Effect.fork)
  const isTimeout = error._tag === "TransportError" && error.reason === "Timeout"
  const { value } = yield* finish(request, isTimeout ? 1 : 10)
  assert.deepInclude<object>({ ...value }, error)
  yield* assertNothingShows({ value })
})

/** Waits in real time until no more connections are open than the idle ones that the transport may keep for the next request. */
export const nothingLeft = (idle: 0 | 1) =>
  Effect.flatMap(Simulator.Simulator, (simulator) =>
    simulator.openConnections.pipe(
      Effect.repeat({ until: (open) => open <= idle, schedule: Schedule.spaced("10 millis") }),
      Effect.timeout("20 seconds")
    ))
