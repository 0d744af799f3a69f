/** A bug, as an edit of one file of the supply. */
export interface Bug {
  readonly name: string
  readonly file: "supply" | "flights" | "singleFlight" | "tokenLife" | "pause" | "recovery"
  readonly find: string
  readonly put: string
}

/** The bugs that the model-based test must find, one at a time. */
export const bugs: ReadonlyArray<Bug> = [
  {
    name: "a failed renewal is tried again without a pause",
    file: "tokenLife",
    find: "if (failure !== undefined) return on.returnToken(held.exit)",
    put: ""
  },
  {
    name: "a failure without a token isn't remembered",
    file: "tokenLife",
    find: "return failure !== undefined ? on.fail(failure.exit) : on.await(now)",
    put: "return on.await(now)"
  },
  {
    name: "a token is returned a second longer than it lives",
    file: "tokenLife",
    find: "expiresAt: Instant.atWallTime(sentAt, to)",
    put: "expiresAt: Instant.atWallTime(sentAt, to + 1000)"
  },
  {
    name: "the life of a token counts from its arrival",
    file: "tokenLife",
    find:
      "  const from = DateTime.toEpochMillis(token.requestedAt)\n  const to = DateTime.toEpochMillis(token.expiresAt)\n",
    put: "  const from = sentAt.wallMillis + 107\n" +
      "  const to = from + DateTime.toEpochMillis(token.expiresAt) - DateTime.toEpochMillis(token.requestedAt)\n"
  },
  {
    name: "no caller waits for the renewal of a token that is about to expire",
    file: "tokenLife",
    find: "return Instant.reached(now, held.expiringAt) ?",
    put: "return false ?"
  },
  {
    name: "every caller waits for a renewal",
    file: "tokenLife",
    find: "return Instant.reached(now, held.expiringAt) ?",
    put: "return true ?"
  },
  {
    name: "the rejection of any token counts as a rejection of the current token",
    file: "tokenLife",
    find: "held === undefined || !isSame(held.token, token) || held.rejected",
    put: "held === undefined || held.rejected"
  },
  {
    name: "forced renewals have no limit",
    file: "tokenLife",
    find: "holdUntil === undefined || Instant.reached(now, holdUntil)",
    put: "true"
  },
  {
    name: "every caller begins a flight",
    file: "flights",
    find: "begin: (at, replaces, prepare) =>\n",
    put: "begin: (at, replaces, prepare) => flights.isUnderWay(at) ? " +
      "void Effect.runFork(Effect.withClock(flight(replaces ?? (() => Life.replaces(cell.life, at)), prepare), clock)) :\n"
  },
  {
    name: "a flight is replaced before its deadline",
    file: "singleFlight",
    find: "Instant.later(now, overdueAfterMillis)",
    put: "Instant.later(now, 10_000)"
  },
  {
    name: "a retry goes beyond the deadline",
    file: "recovery",
    find: " &&\n    Instant.millisBetween(nextTryAt, deadlineAt) > 0",
    put: ""
  },
  {
    name: "a flight retries a request once too often",
    file: "recovery",
    find: "const retries = 2",
    put: "const retries = 3"
  },
  { name: "a refusal is retried", file: "recovery", find: "&& error.retryable && retriesLeft", put: "&& retriesLeft" },
  {
    name: "a failed renewal is retried at once while there is a valid token",
    file: "recovery",
    find: "const isRetried = Life.validToken(state, at) === undefined && error.retryable",
    put: "const isRetried = error.retryable"
  },
  {
    name: "a failure drops the token",
    file: "tokenLife",
    find: "failure: { error, exit: Exit.fail(error), nextTryAt }",
    put: "failure: { error, exit: Exit.fail(error), nextTryAt }, held: undefined"
  },
  { name: "a success doesn't end a streak", file: "flights", find: "pauses.reset()", put: "" },
  {
    name: "a token that was rejected on its way counts as good",
    file: "tokenLife",
    find: "const rejected = isSame(state.rejected, token)",
    put: "const rejected = false"
  },
  {
    name: "a rejection before the request counts against its token",
    file: "flights",
    find: "cell.life = Life.requested(cell.life, now(), forcedRenewalMillis)",
    put: ""
  },
  {
    name: "waiting callers get the flight's failure instead of the valid token",
    file: "supply",
    find: "validOr(() => after(exit, () => get))",
    put: "after(exit, () => get)"
  },
  {
    name: "a caller that gives up ends the flight",
    file: "singleFlight",
    find: "last?.outcome ?? Effect.never",
    put:
      "Effect.onInterrupt(last?.outcome ?? Effect.never, () => last?.fiber === undefined ? Effect.void : Fiber.interrupt(last.fiber))"
  },
  {
    name: "callers that could have the valid token wait until a renewal ends",
    file: "tokenLife",
    find: "? on.awaitFor(now, patience) : on.returnAndRenew",
    put: "? on.await(now) : on.returnAndRenew"
  },
  {
    name: "a retry has no deadline",
    file: "flights",
    find: "{ at: flight.deadlineAt, failure:",
    put: "{ at: Instant.later(flight.deadlineAt, 60_000), failure:"
  },
  {
    name: "the time-out of a retry hides the failure before it",
    file: "flights",
    find: "amend(error, { deadlineEnded: true })",
    put: "timedOut"
  },
  {
    name: "a connection that was reset is retried after the pause only",
    file: "recovery",
    find: "Life.validToken(state, at) === undefined && retriesLeft === retries",
    put: "false"
  },
  {
    name: "every retry after a reset is made at once",
    file: "recovery",
    find: "retriesLeft === retries && error._tag",
    put: "error._tag"
  },
  {
    name: "an expired token is taken",
    file: "flights",
    find: "return Life.validToken(next, now()) === undefined ? undefined : next",
    put: "return next"
  },
  {
    name: "a rejected token is dropped at once",
    file: "tokenLife",
    find: "held: { ...held, rejected: true, dueAt: now },",
    put: "held: undefined,"
  },
  {
    name: "a rejected token is returned while its renewal is under way",
    file: "tokenLife",
    find: "if (held.rejected) return on.awaitFor(now, Math.min(patience, longestPatience))",
    put: "if (held.rejected) return on.returnAndRenew(now, held.exit)"
  },
  {
    name: "callers wait for the replacement of a rejected token until half of its life is over",
    file: "tokenLife",
    find: "Math.min(patience, longestPatience)",
    put: "patience"
  },
  {
    name: "a rejection starts no renewal",
    file: "supply",
    find: "if (Life.remembered(cell.life, present) === undefined) flights.begin(present)",
    put: ""
  },
  {
    name: "a rejection sends a request while a failure is remembered",
    file: "supply",
    find: "if (Life.remembered(cell.life, present) === undefined) flights.begin(present)",
    put: "flights.begin(present)"
  },
  {
    name: "replace gives the rejected token back when its renewal failed",
    file: "tokenLife",
    find: "if (!isReplaced(state, now)) return on.returnToken(held.exit)\n  const failure",
    put:
      "if (!isReplaced(state, now) || remembered(state, now) !== undefined) return on.returnToken(held.exit)\n  const failure"
  },
  {
    name: "replace returns what get would return",
    file: "supply",
    find: "(exit) => after(exit, () => replacement(rejected))",
    put: "validAfter"
  },
  {
    name: "a missing scope is requested at every call",
    file: "tokenLife",
    find: "if (missingScope !== undefined && !Instant.reached(now, missingScope.nextTryAt)) return state",
    put: ""
  },
  {
    name: "the pauses for a missing scope don't grow",
    file: "tokenLife",
    find: "missingScope.pauseMillis * 2",
    put: "missingScope.pauseMillis"
  },
  {
    name: "a scope that was granted doesn't end its pauses",
    file: "tokenLife",
    find: "options.missesScope ? state.missingScope : undefined",
    put: "state.missingScope"
  },
  {
    name: "a missing scope is requested while a failure is remembered",
    file: "tokenLife",
    find: "if (remembered(state, now) !== undefined) return state\n",
    put: ""
  },
  {
    name: "refresh has no limit",
    file: "supply",
    find:
      "if (refreshedAt !== undefined && !Instant.reached(at, Instant.later(refreshedAt, refreshMillis))) return get",
    put: ""
  },
  {
    name: "refresh waits for the pause after a failure",
    file: "supply",
    find: "cell.life = Life.forgotten(cell.life)\n        flights.begin",
    put: "if (Life.remembered(cell.life, at) === undefined) flights.begin"
  },
  {
    name: "a refusal is remembered for 3 s",
    file: "pause",
    find: "const refusalPause = Duration.seconds(30)",
    put: "const refusalPause = Duration.seconds(3)"
  }
]
