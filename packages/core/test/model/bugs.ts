/** A bug, as an edit of one file of the supply. */
export interface Bug {
  readonly name: string
  readonly file: "supply" | "tokenState"
  readonly find: string
  readonly put: string
}

/** The bugs that the model-based test must find, one at a time. */
export const bugs: ReadonlyArray<Bug> = [
  {
    name: "a failed renewal is tried again without a pause",
    file: "tokenState",
    find: "  if (failure !== undefined) return held.use\n",
    put: ""
  },
  {
    name: "a failure without a token isn't remembered",
    file: "tokenState",
    find: "return failure?.decision ?? wait",
    put: "return wait"
  },
  {
    name: "a token is returned a second longer than it lives",
    file: "tokenState",
    find: "expiresAt: Instant.atWallTime(sentAt, to)",
    put: "expiresAt: Instant.atWallTime(sentAt, to + 1000)"
  },
  {
    name: "the life of a token counts from its arrival",
    file: "tokenState",
    find:
      "  const from = DateTime.toEpochMillis(token.requestedAt)\n  const to = DateTime.toEpochMillis(token.expiresAt)\n",
    put:
      "  const from = sentAt.wallMillis + 107\n  const to = from + DateTime.toEpochMillis(token.expiresAt) - DateTime.toEpochMillis(token.requestedAt)\n"
  },
  {
    name: "no caller waits for the renewal of a token that is about to expire",
    file: "tokenState",
    find: "return Instant.reached(now, held.expiringAt)\n    ?",
    put: "return false\n    ?"
  },
  {
    name: "every caller waits for a renewal",
    file: "tokenState",
    find: "return Instant.reached(now, held.expiringAt)\n    ?",
    put: "return true\n    ?"
  },
  {
    name: "the rejection of any token counts as a rejection of the current token",
    file: "tokenState",
    find: "held.rejectedAt !== undefined || !isSame(held.token, token)) return state\n  const isHeld",
    put: "held.rejectedAt !== undefined) return state\n  const isHeld"
  },
  {
    name: "forced renewals have no limit",
    file: "tokenState",
    find: "const isHeld = holdUntil !== undefined && !Instant.reached(now, holdUntil)",
    put: "const isHeld = false"
  },
  {
    name: "a rejection within 30 s of a replacement replaces the token after these 30 s",
    file: "tokenState",
    find: "rejectedAt: isHeld ? undefined : now",
    put: "rejectedAt: isHeld ? holdUntil : now"
  },
  {
    name: "a proven token counts as a rejection in a row",
    file: "tokenState",
    find: "const counts = !held.isProven && !held.isCounted",
    put: "const counts = !held.isCounted"
  },
  {
    name: "a token counts with each of its rejections",
    file: "tokenState",
    find: "const counts = !held.isProven && !held.isCounted",
    put: "const counts = !held.isProven"
  },
  {
    name: "a call that succeeds does not end the count",
    file: "tokenState",
    find: "{ ...state, rejections: 0, held:",
    put: "{ ...state, held:"
  },
  {
    name: "a token that works is replaced because an earlier call was rejected",
    file: "tokenState",
    find: "isProven: true, rejectedAt: undefined } }",
    put: "isProven: true } }"
  },
  {
    name: "the success of any token proves the current token",
    file: "tokenState",
    find: "unproven(state) === undefined || !isSame(held.token, token)\n",
    put: "unproven(state) === undefined\n"
  },
  {
    name: "every caller begins a flight",
    file: "supply",
    find: "if (state.isClosed || isUnderWay(at)) return",
    put: "if (state.isClosed) return"
  },
  {
    name: "a flight is replaced before its deadline",
    file: "supply",
    find: "Instant.later(at, limitMillis + graceMillis)",
    put: "Instant.later(at, 10_000)"
  },
  {
    name: "a retry goes beyond the deadline",
    file: "tokenState",
    find: "isRetried: mayRetry && Instant.millisBetween(at, deadlineAt) > pause",
    put: "isRetried: mayRetry"
  },
  {
    name: "a flight retries a request once too often",
    file: "tokenState",
    find: "export const retries = 2",
    put: "export const retries = 3"
  },
  {
    name: "a refusal is retried",
    file: "tokenState",
    find: "=== undefined && error.retryable && retriesLeft > 0",
    put: "=== undefined && retriesLeft > 0"
  },
  {
    name: "a failed renewal is retried at once while there is a valid token",
    file: "tokenState",
    find: "const mayRetry = validToken(state, at) === undefined && error",
    put: "const mayRetry = error"
  },
  {
    name: "a failure drops the token",
    file: "tokenState",
    find: "{ ...state, failure: remember(error, nextTryAt) }",
    put: "{ ...state, held: undefined, failure: remember(error, nextTryAt) }"
  },
  {
    name: "a success doesn't end a streak",
    file: "tokenState",
    find: "    failure: undefined,\n    streak: undefined,\n    // counts",
    put: "    failure: undefined,\n    // counts"
  },
  {
    name: "waiting callers get the flight's failure instead of the valid token",
    file: "supply",
    find: "usableOr(() => ended?.failure ?? again)",
    put: "ended?.failure ?? usableOr(() => again)"
  },
  {
    name: "a caller that gives up ends the flight",
    file: "supply",
    find: "Effect.as(joined.waiters.wait, joined)",
    put:
      "Effect.onInterrupt(Effect.as(joined.waiters.wait, joined), () => joined.fiber === undefined ? Effect.void : Fiber.interrupt(joined.fiber))"
  },
  {
    name: "callers that could have the valid token wait until a renewal ends",
    file: "tokenState",
    find: "? { _tag: \"Wait\", patience }",
    put: "? wait"
  },
  {
    name: "a retry has no deadline",
    file: "supply",
    find: "request(retriesLeft - 1, deadlineAt, error)",
    put: "request(retriesLeft - 1, Instant.later(deadlineAt, 60_000), error)"
  },
  {
    name: "the timeout of a retry hides the failure before it",
    file: "supply",
    find: "return before ?? timedOut",
    put: "return timedOut"
  },
  {
    name: "a connection that was reset is retried after the pause only",
    file: "tokenState",
    find: "if (mayRetry && retriesLeft === retries &&",
    put: "if (false &&"
  },
  {
    name: "every retry after a reset is made at once",
    file: "tokenState",
    find: "if (mayRetry && retriesLeft === retries &&",
    put: "if (mayRetry &&"
  },
  {
    name: "an expired token is taken",
    file: "supply",
    find: "if (held === undefined) return Effect.fail(new InvalidResponse(",
    put: "if (held === undefined && false) return Effect.fail(new InvalidResponse("
  },
  {
    name: "a rejected token is returned while its renewal is under way",
    file: "tokenState",
    find: "if (held.rejectedAt !== undefined) return { _tag: \"Wait\", patience: Math.min(patience, longestPatience) }",
    put: "if (held.rejectedAt !== undefined) return { _tag: \"UseAndRenew\", token: held.use.token }"
  },
  {
    name: "callers wait for the replacement of a rejected token until half of its life is over",
    file: "tokenState",
    find: "Math.min(patience, longestPatience)",
    put: "patience"
  },
  {
    name: "a rejection starts no renewal",
    file: "supply",
    find: "&& TokenState.remembered(state, at) === undefined) begin(at)",
    put: "&& false) begin(at)"
  },
  {
    name: "a rejection sends a request while a failure is remembered",
    file: "supply",
    find: "&& TokenState.remembered(state, at) === undefined) begin(at)",
    put: ") begin(at)"
  },
  {
    name: "replace gives the rejected token back when its renewal failed",
    file: "tokenState",
    find: "return remembered(state, now)?.decision ?? wait",
    put: "return remembered(state, now) === undefined ? wait : held.use"
  },
  {
    name: "replace returns what get would return",
    file: "supply",
    find: "() => TokenState.otherToken(state, token, now())",
    put: "valid"
  },
  {
    name: "a missing scope is requested at every call",
    file: "supply",
    find: "&& Instant.reached(at, nextTryAt)) {",
    put: ") {"
  },
  {
    name: "a scope that was granted is requested again",
    file: "supply",
    find: "!token.covers(scope) && ",
    put: ""
  },
  {
    name: "a missing scope is requested while a failure is remembered",
    file: "tokenState",
    find: "remembered(state, now)?.nextTryAt ?? state.held?.scopeDueAt ?? now",
    put: "state.held?.scopeDueAt ?? now"
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
    find: "        state = TokenState.forgotten(state)\n        begin",
    put: "        if (TokenState.remembered(state, at) === undefined) begin"
  },
  {
    name: "a refusal is remembered for 3 s",
    file: "tokenState",
    find: "const refusalPause = 30_000",
    put: "const refusalPause = 3_000"
  }
]
