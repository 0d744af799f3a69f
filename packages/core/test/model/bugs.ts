/** A mistake, as an edit of one file of the supply. */
export interface Bug {
  readonly name: string
  readonly file: "supply" | "tokenLife" | "pause"
  readonly find: string
  readonly put: string
}

/** Mistakes that the model-based test has to find, each by itself. */
export const bugs: ReadonlyArray<Bug> = [
  {
    name: "a failed renewal is tried again without a pause",
    file: "tokenLife",
    find: "if (tooEarly) return on.serve(held.exit)",
    put: ""
  },
  {
    name: "a failure without a token isn't remembered",
    file: "tokenLife",
    find: "return tooEarly ? on.fail(failure.exit) : on.await()",
    put: "return on.await()"
  },
  {
    name: "a token is served a second longer than it lives",
    file: "tokenLife",
    find: "expiresAt: later(sentAt, lifetime)",
    put: "expiresAt: later(sentAt, lifetime + 1000)"
  },
  {
    name: "the life of a token counts from its arrival",
    file: "supply",
    find: "state = Life.obtained(state, token, sentAt, dueShare)",
    put: "state = Life.obtained(state, token, Instant.now(clock), dueShare)"
  },
  {
    name: "nobody waits for the renewal of a token that is about to expire",
    file: "tokenLife",
    find: "return reached(now, held.expiringAt)\n",
    put: "return false\n"
  },
  {
    name: "everybody waits for a renewal",
    file: "tokenLife",
    find: "return reached(now, held.expiringAt)\n",
    put: "return true\n"
  },
  {
    name: "the rejection of any token drops the one that is held",
    file: "tokenLife",
    find: "isSame(state.held?.token, token) &&",
    put: "state.held !== undefined &&"
  },
  {
    name: "forced renewals have no limit",
    file: "tokenLife",
    find: "(state.holdUntil === undefined || reached(now, state.holdUntil))",
    put: "true"
  },
  {
    name: "every caller begins a flight",
    file: "supply",
    find: "if (Option.isNone(FiberHandle.unsafeGet(flights))) {",
    put: "{"
  },
  { name: "a repeat goes beyond the deadline", file: "supply", find: " && timeLeft > 0", put: "" },
  {
    name: "a flight repeats a request once too often",
    file: "supply",
    find: "const repeats = 2",
    put: "const repeats = 3"
  },
  { name: "a refusal is repeated", file: "supply", find: "&& error.retryable && repeatsLeft", put: "&& repeatsLeft" },
  {
    name: "a failed renewal is repeated while there is a valid token",
    file: "supply",
    find: "if (token === undefined && error.retryable",
    put: "if (error.retryable"
  },
  {
    name: "a failure drops the token",
    file: "tokenLife",
    find: "failure: { error, exit: Exit.fail(error), nextTryAt }",
    put: "failure: { error, exit: Exit.fail(error), nextTryAt }, held: undefined"
  },
  { name: "a success doesn't end a streak", file: "supply", find: "pauses.reset()", put: "" },
  {
    name: "a token that was rejected on its way is taken",
    file: "supply",
    find: "if (Life.isRejected(state, token)) return yield* requestAgain(endsAt)",
    put: ""
  },
  {
    name: "a rejection before the request spoils its answer",
    file: "supply",
    find: "state = Life.requested(state)",
    put: ""
  },
  {
    name: "those who wait get the failure of the flight in place of the valid token",
    file: "supply",
    find: "return Life.servable(state, Instant.now(clock)) ?? (Exit.isFailure(exit) ? exit : get)",
    put: "return Exit.isFailure(exit) ? exit : Life.servable(state, Instant.now(clock)) ?? get"
  },
  {
    name: "a caller who gives up ends the flight",
    file: "supply",
    find: "Effect.flatMap(join(), read)",
    put: "Effect.flatMap(Effect.onInterrupt(join(), () => FiberHandle.clear(flights)), read)"
  },
  {
    name: "those who could have the valid token wait for a renewal to the end",
    file: "tokenLife",
    find: "? on.awaitFor(millisBetween(now, held.expiresAt) / 2)",
    put: "? on.await()"
  },
  {
    name: "a repeat has no deadline",
    file: "supply",
    find: "Effect.catchAll(requestAgain(endsAt), (next)",
    put: "Effect.catchAll(request(endsAt), (next)"
  },
  {
    name: "a refusal is remembered for 3 s",
    file: "pause",
    find: "const refusalPause = Duration.seconds(30)",
    put: "const refusalPause = Duration.seconds(3)"
  }
]
