// What the packages promise, and bugs that the tests must find. `plantedBugs.nightly.test.ts` plants one after another.

/** A text of a source file, and what it becomes. */
export interface Bug {
  /** What the program does because of it. */
  readonly fault: string
  readonly file: string
  /** A part of one statement. The file has it once. */
  readonly from: string
  readonly to: string
  /** The tests that find it, whose names say which behaviour is broken: file, then name. */
  readonly foundBy: ReadonlyArray<string>
}

/** Bugs in this module. */
const bugsOf =
  (module: string) => (fault: string, from: string, to: string, ...foundBy: ReadonlyArray<string>): Bug => ({
    fault,
    file: `packages/${module}.ts`,
    from,
    to,
    foundBy
  })

const accessTokens = bugsOf("core/src/AccessTokens")
const adapter = bugsOf("core/src/Adapter")
const tokenStatus = bugsOf("core/src/TokenStatus")
const announcements = bugsOf("core/src/internal/announcements")
const printable = bugsOf("core/src/internal/printable")
const restrictedClient = bugsOf("core/src/internal/restrictedClient")
const sharedLayer = bugsOf("core/src/internal/sharedLayer")
const framing = bugsOf("core/src/internal/framing")
const silence = bugsOf("core/src/internal/silence")
const supply = bugsOf("core/src/internal/supply")
const tokenRequest = bugsOf("core/src/internal/tokenRequest")
const tokenState = bugsOf("core/src/internal/tokenState")
const validation = bugsOf("core/src/internal/validation")
const within = bugsOf("core/src/internal/within")
const access = bugsOf("fleet/src/internal/access")
const protocol = bugsOf("fleet/src/internal/protocol")
const groupClient = bugsOf("http-client/src/GroupClient")
const callerView = bugsOf("http-client/src/internal/callerView")
const span = bugsOf("http-client/src/internal/span")
const target = bugsOf("http-client/src/internal/target")
const currentPlan = bugsOf("migration/src/internal/currentPlan")
const fallback = bugsOf("migration/src/internal/fallback")
const migration = bugsOf("migration/src/internal/migration")
const healthCheck = bugsOf("telemetry/src/HealthCheck")
const gauges = bugsOf("telemetry/src/internal/gauges")
const metrics = bugsOf("telemetry/src/internal/metrics")

/** The promises, each with bugs that break it. */
export const promises: Readonly<Record<string, ReadonlyArray<Bug>>> = {
  "any number of callers cause one token request, and interrupting one disturbs no other": [
    supply(
      "every caller begins a token request of its own",
      "if (flight !== undefined) return flight",
      "",
      "core/test/flight: callers during a renewal get the valid token, or join the renewal when the token has expired",
      "core/test/flight: the first steps of a flight may request a token, and join the flight"
    ),
    supply(
      "a caller that gives up ends the wait of the others",
      "patiently(landing(begin(at)), decision.patience),",
      "Effect.onInterrupt(patiently(landing(begin(at)), decision.patience), () => Effect.sync(() => flight?.waiters.done(Exit.die(1)))),",
      "core/test/flight: a caller that is interrupted does not affect the others"
    )
  ],
  "a token is renewed in the background, no caller waits for it while the token is good, and no expired token is sent":
    [
      supply(
        "every token is renewed at the same share of its life",
        "Random.nextRange(options.renewalWindow.from, options.renewalWindow.to)",
        "Effect.succeed(options.renewalWindow.to)",
        "core/test/renewal: the point of renewal is drawn once for each token, from Effect's Random: 75 % for 0"
      ),
      tokenState(
        "a token is renewed when half of its life is over",
        "lifetime * dueShare",
        "lifetime * 0.5",
        "core/test/renewal: a token is reused until its renewal is due"
      ),
      tokenState(
        "a renewal may be due so late that callers wait for it",
        "Math.min(lifetime * dueShare, lifetime - margin * 1.5)",
        "lifetime * dueShare",
        "core/test/renewal: callers wait only in the last tenth of the lifetime, and renewal is due before that",
        "core/test/observation: status reports that a renewal is due before callers have to wait, whatever the window"
      ),
      tokenState(
        "every caller waits for a renewal",
        `{ _tag: "UseAndRenew", token: used.use.token }`,
        "wait",
        "core/test/renewal: a due token is renewed in the background when a caller requests a token, and callers keep the valid token"
      ),
      tokenState(
        "no caller waits for the renewal of a token that is about to expire",
        "return Instant.reached(now, used.expiringAt)",
        "return false",
        "core/test/renewal: callers wait for the renewal of a token with at most 5 s left"
      ),
      tokenState(
        "an expired token is returned",
        "newer !== undefined && !Instant.reached(now, newer.expiresAt)",
        "newer !== undefined",
        "core/test/renewal: when the renewal of an expiring token fails, callers get the valid token until its last millisecond",
        "core/test/renewal: a process that was suspended past the expiry does not send the expired token"
      ),
      tokenState(
        "a call is sent again with the expired token",
        "if (held(state, now).length === 0) return decide(state, now)",
        "",
        "core/test/invalidation: returns the first token when there was none, and another one when the rejected one has expired"
      ),
      tokenRequest(
        "the lifetime in the response is ignored",
        "usableFor(expiresInSeconds)",
        "Duration.hours(24)",
        "core/test/tokenResponse: expires_in may be text, and is limited to a week",
        "integration/test/oneToken: tokens of 10 s never get a 401, although the server rounds their instants down to whole seconds"
      ),
      tokenRequest(
        "the life of a token counts from its arrival",
        "requestedAt, Duration.toMillis(took))",
        "yield* DateTime.now, 0)",
        "integration/test/oneToken: expiry counts from the instant of the request, even when the response takes 9 s"
      )
    ],
  "a failed renewal leaves the valid token in use, and a dead endpoint gets a bounded number of requests": [
    tokenState(
      "a failed renewal drops the valid token",
      "failure: remember(error, nextTryAt, outcome),",
      "newer: undefined, failure: remember(error, nextTryAt, outcome),",
      "core/test/renewal: when the renewal of an expiring token fails, callers get the valid token until its last millisecond"
    ),
    tokenState(
      "a failure starts no pause",
      "remember(error, nextTryAt, outcome)",
      "remember(error, { wallMillis: 0, monotonicNanos: 0n }, outcome)",
      "core/test/failure: a failed renewal keeps the valid token, and pauses for 1 s, doubling to 60 s, with equal jitter: 1",
      "core/test/failure: an endpoint that is dead for 3 minutes gets at most 20 requests under any load: 10 calls per second"
    ),
    tokenState(
      "the pauses do not grow",
      "shortestPause * 2 ** (failures - 1)",
      "shortestPause",
      "core/test/failure: a failed renewal keeps the valid token, and pauses for 1 s, doubling to 60 s, with equal jitter: 1"
    ),
    tokenState(
      "the pauses have no jitter",
      " * (0.5 + random / 2)",
      "",
      "core/test/failure: a failed renewal keeps the valid token, and pauses for 1 s, doubling to 60 s, with equal jitter: 0"
    ),
    tokenState(
      "Retry-After is ignored",
      "if (requested >= 1_000) return requested",
      "",
      "core/test/failure: a pause follows Retry-After, unless that is under a second",
      "core/test/failure: a flight does not wait for a pause that exceeds the deadline"
    ),
    tokenState(
      "a Retry-After of one second is ignored",
      "requested >= 1_000",
      "requested > 1_000",
      "core/test/failure: a pause follows Retry-After, unless that is under a second"
    ),
    tokenState(
      "a request is retried until the deadline",
      "error.retryable && retriesLeft > 0",
      "error.retryable",
      "core/test/failure: a flight retries a retryable failure up to twice, after pauses with a jitter of 0, and then fails"
    ),
    tokenState(
      "a refusal is retried",
      "const mayRetry = ",
      "if (!error.retryable) return { isRetried: retriesLeft > 0, pause: 1_000 }\nconst mayRetry = ",
      "core/test/failure: a failure that is not retryable is not retried"
    ),
    tokenState(
      "a failed renewal is retried without a caller",
      "inUse(state, at) === undefined && ",
      "",
      "core/test/failure: a failed renewal is not retried without a caller while there is a valid token"
    )
  ],
  "the newer token is in use until the API rejects it, then the older one, then the one whose rejection is longer ago":
    [
      tokenState(
        "the older token is in use although the newer one was not rejected",
        "return newer.use",
        "return (state.older ?? newer).use",
        "core/test/invalidation: is the newer one until the API rejects it, and then the older one"
      ),
      tokenState(
        "the newer token remains in use when the API rejects it",
        "if (second.rejectedAt === undefined) return second",
        "if (second.rejectedAt === undefined) return first",
        "core/test/invalidation: is the newer one until the API rejects it, and then the older one"
      ),
      tokenState(
        "of two rejected tokens, the newer one is in use",
        "Instant.millisBetween(first.rejectedAt, second.rejectedAt) < 0",
        "false",
        "core/test/invalidation: is the one whose rejection is longer ago if the API rejected both"
      ),
      tokenState(
        "of two rejected tokens, the last rejected one is in use",
        "Instant.millisBetween(first.rejectedAt, second.rejectedAt) < 0",
        "Instant.millisBetween(first.rejectedAt, second.rejectedAt) > 0",
        "core/test/invalidation: is the one whose rejection is longer ago if the API rejected both"
      ),
      tokenState(
        "only the first rejection of a token counts",
        "{ ...found, rejectedAt: now }",
        "{ ...found, rejectedAt: found.rejectedAt ?? now }",
        "core/test/invalidation: is the one whose rejection is longer ago if the API rejected both"
      ),
      tokenState(
        "the older token is used until it expires",
        "!Instant.reached(now, older.expiringAt)",
        "!Instant.reached(now, older.expiresAt)",
        "core/test/invalidation: is not the older one in its last seconds, when callers would have to wait for its renewal"
      ),
      tokenState(
        "the newer token is not used in its last seconds",
        "!Instant.reached(now, newer.expiresAt)",
        "!Instant.reached(now, newer.expiringAt)",
        "core/test/renewal: when the renewal of an expiring token fails, callers get the valid token until its last millisecond"
      ),
      tokenState(
        "the older token is renewed because it is due",
        "(newer !== undefined && !Instant.reached(now, newer.dueAt))",
        "!Instant.reached(now, used.dueAt)",
        "core/test/invalidation: is the newer one until the API rejects it, and then the older one"
      ),
      tokenState(
        "a 401 for a token that is not held rejects the newer one",
        "const found = held(state, now).find((each) => isSame(each.token, token))",
        "const found = held(state, now)[0]",
        "core/test/invalidation: is not affected by a rejection of a token that is not held",
        "core/test/invalidation: is one for 100 callers at once and late callers"
      )
    ],
  "a token that arrives makes the one in use the older one, unless the program or a scope requires the new one": [
    tokenState(
      "no older token is kept",
      "older: isWithoutOlder ?",
      "older: true ?",
      "core/test/invalidation: is the newer one until the API rejects it, and then the older one",
      "core/test/invalidation: is the newest but one"
    ),
    tokenState(
      "the newest but one becomes the older token, even if it was not in use",
      "const older = untried(state, [token], at)",
      "const older = state.newer",
      "core/test/invalidation: is the token that was in use, even if that was not the newest but one"
    ),
    tokenState(
      "a token that is issued again becomes its own older one",
      "const older = untried(state, [token], at)",
      "const older = inUse(state, at)",
      "core/test/invalidation: does not take the other token out of use"
    ),
    tokenState(
      "a rejection is remembered beyond a due renewal",
      `reason._tag === "Due" ? { ...older, rejectedAt: undefined } : older`,
      "older",
      "core/test/invalidation: is the one that was in use when the newer one arrived, without its rejection if the renewal was due"
    ),
    tokenState(
      "a rejection is forgotten after a forced renewal",
      `reason._tag === "Due" ? { ...older, rejectedAt: undefined } : older`,
      "{ ...older, rejectedAt: undefined }",
      "core/test/invalidation: keeps its rejection if the renewal was forced"
    ),
    tokenState(
      "an older token remains after a refresh",
      `reason._tag === "Refresh" || `,
      "",
      "core/test/invalidation: does not exist after a refresh"
    ),
    supply(
      "an older token remains after a refresh that joins a renewal",
      "joined.reason = reason",
      "void reason",
      "core/test/invalidation: does not exist after a renewal that a refresh has joined"
    ),
    tokenState(
      "an older token remains after a renewal for a missing scope",
      ` || reason._tag === "Insufficient"`,
      "",
      "core/test/invalidation: does not exist after a renewal for a missing scope"
    ),
    tokenState(
      "an older token remains that lacks a scope of the newer one",
      "token.covers(scope) && !older.token.covers(scope)",
      "false",
      "core/test/invalidation: does not exist if the newer one covers a requested scope that it lacks"
    ),
    tokenState(
      "no older token remains if both lack a scope",
      "token.covers(scope) && !older.token.covers(scope)",
      "!older.token.covers(scope)",
      "core/test/invalidation: exists if both lack a requested scope"
    ),
    tokenState(
      "a token that is issued again is not rejected any more",
      "[state.newer, state.older].find((each) => each !== undefined && isSame(each.token, token))?.rejectedAt",
      "undefined",
      "core/test/invalidation: gets one request every 30 s, and the token remains rejected"
    ),
    tokenState(
      "the older token is not rejected any more if it is issued again",
      "[state.newer, state.older].find(",
      "[state.newer].find(",
      "core/test/invalidation: keeps the older token's rejection too"
    )
  ],
  "a renewal is forced when the API has rejected every token that is held, and at most once in 30 s": [
    tokenState(
      "a renewal is forced although a token was not rejected",
      "tokens.every(",
      "tokens.some(",
      "core/test/invalidation: is the newer one until the API rejects it, and then the older one"
    ),
    supply(
      "no rejection forces a renewal",
      `begin(at, { _tag: "Rejected", token: replaced }, true)`,
      "",
      "core/test/invalidation: begins when the API has rejected every token that is held, even without another caller, and get does not wait"
    ),
    supply(
      "a 401 for a token that is not held forces a renewal",
      "if (state === before) return",
      "",
      "core/test/invalidation: begins at most once in 30 s, even if calls succeed in between"
    ),
    supply(
      "the end of the pause forces a renewal, without a 401",
      `case "Use":`,
      `case "Use":
        if (TokenState.allRejected(state, at) && TokenState.mayForce(state, at, forcedRenewalMillis)) begin(at, undefined, true)`,
      "core/test/invalidation: begins at most once in 30 s, even if calls succeed in between"
    ),
    tokenState(
      "every rejection forces a renewal",
      "forcedAt === undefined || Instant.reached(now, Instant.later(forcedAt, pauseMillis))",
      "true",
      "core/test/invalidation: begins at most once in 30 s, even if calls succeed in between"
    ),
    tokenState(
      "only one renewal is ever forced",
      "forcedAt === undefined || Instant.reached(now, Instant.later(forcedAt, pauseMillis))",
      "forcedAt === undefined",
      "core/test/invalidation: begins at most once in 30 s, even if calls succeed in between"
    ),
    supply(
      "the pause counts from the 401, and not from the start of the renewal that it joins",
      "TokenState.forced(state, own.startedAt)",
      "TokenState.forced(state, at)",
      "core/test/invalidation: is the renewal that is under way, and its pause counts from there"
    ),
    supply(
      "a renewal that is under way does not count as a forced one",
      "if (isForced) {",
      "if (isForced && flight === undefined) {",
      "core/test/invalidation: is the renewal that is under way, and its pause counts from there"
    ),
    supply(
      "a renewal that failed and was not begun by a 401 does not free the pause",
      "own.isForced = true",
      "void own",
      "core/test/invalidation: frees its pause when the renewal fails that counts as it"
    ),
    tokenState(
      "a forced renewal that fails does not free its pause",
      "forcedAt: isForced ? undefined : state.forcedAt",
      "forcedAt: state.forcedAt",
      "core/test/invalidation: frees its pause when it fails, and then the pause after failures applies"
    ),
    tokenState(
      "every renewal that fails frees the pause",
      "forcedAt: isForced ? undefined : state.forcedAt",
      "forcedAt: undefined",
      "core/test/invalidation: keeps its pause when another renewal fails"
    ),
    supply(
      "a renewal is forced in the pause after a failure",
      "TokenState.remembered(state, at) !== undefined || !TokenState.mayForce",
      "!TokenState.mayForce",
      "core/test/invalidation: does not begin while a failure is remembered"
    ),
    tokenState(
      "callers of get wait for a forced renewal",
      "if (used === undefined) return failure?.decision ?? wait",
      "if (used?.rejectedAt !== undefined || used === undefined) return failure?.decision ?? wait",
      "core/test/invalidation: begins when the API has rejected every token that is held, even without another caller, and get does not wait",
      "core/test/invalidation: that hangs keeps replace until the deadline, and no caller of get"
    )
  ],
  "a call that gets a 401 reports its token and is sent again with one that it has not tried, at most three times": [
    supply(
      "the supply ignores the token that a call reports",
      "invalidate(rejected),",
      "Effect.void,",
      "core/test/invalidation: returns the token in use, or else the other one, unless the call has tried it"
    ),
    supply(
      "a call is sent again with a token that it has tried before the last one",
      "const tried = [rejected, ...others] as const",
      "const tried = [rejected] as const",
      "core/test/invalidation: waits for the token request that is under way if the call has tried every token"
    ),
    tokenState(
      "a call is sent again with the older token first",
      "best(held(state, now).filter(",
      "best(held(state, now).toReversed().filter(",
      "core/test/invalidation: returns the token in use, or else the other one, unless the call has tried it"
    ),
    tokenState(
      "a call that has tried every token does not wait for a renewal that is under way",
      "if (isRequested) return wait",
      "",
      "core/test/invalidation: waits for the token request that is under way if the call has tried every token"
    ),
    tokenState(
      "a call that has tried every token causes a token request",
      `?? { _tag: "Settle", outcome: Exit.succeed(tried[0]) }`,
      "?? wait",
      "core/test/invalidation: returns the rejected token if the call has tried every token and none is requested"
    ),
    tokenState(
      "replace returns the rejected token when its renewal has failed",
      `remembered(state, now)?.decision ?? { _tag: "Settle"`,
      `{ _tag: "Settle"`,
      "core/test/invalidation: frees its pause when it fails, and then the pause after failures applies",
      "core/test/invalidation: does not begin while a failure is remembered"
    ),
    supply(
      "a call that has waited in vain is sent again with a token that it has tried",
      "(at) => TokenState.untried(state, tried, at)",
      "(at) => TokenState.inUse(state, at)",
      "core/test/invalidation: frees its pause when it fails, and then the pause after failures applies"
    ),
    groupClient(
      "a call that was sent again after a reset reports the token that was sent first",
      "token === undefined ? send(call, token) : sendWithToken(call, true)",
      "Effect.map(token === undefined ? send(call, token) : sendWithToken(call, true), (sent) => ({ ...sent, token }))",
      "http-client/test/closedConnection: after which the API rejects another token of the same call: that token is reported, and not the one before"
    ),
    groupClient(
      "a rejected call is not sent again",
      "tried.length === mostTokens - 1 ||",
      "true ||",
      "http-client/test/client: reports the token, and the request is sent again with another one"
    ),
    groupClient(
      "a stream is sent again",
      "!canBeSentAgain(call.request.body)",
      "false",
      "http-client/test/client: does not send a request with a stream again, and the next call gets a new token"
    ),
    groupClient(
      "a call is sent at most twice",
      "const mostTokens = 3",
      "const mostTokens = 2",
      "http-client/test/client: is returned with its body after three tokens, each of which was reported"
    ),
    groupClient(
      "a call is sent a fourth time",
      "const mostTokens = 3",
      "const mostTokens = 4",
      "http-client/test/client: is returned with its body after three tokens, each of which was reported"
    ),
    groupClient(
      "the last 401 of a call is not reported",
      "yield* tokens.invalidate(token)",
      "",
      "http-client/test/client: is returned with its body after three tokens, each of which was reported"
    ),
    groupClient(
      "the client does not say which tokens a call has tried",
      "tokens.replace(token, ...tried)",
      "tokens.replace(token)",
      "http-client/test/client: is returned with its body after three tokens, each of which was reported"
    ),
    groupClient(
      "the client sends a call again with a token that it has tried",
      "if (tried.some(({ secret }) => Equal.equals(secret, next.secret))) return yield* end(body)",
      "",
      "http-client/test/client: is returned if the only other token is one that the call has tried"
    ),
    groupClient(
      "a 401 is returned without its body",
      "return yield* end(body)",
      "return yield* end()",
      "http-client/test/client: is returned with its body when there is no replacement for the token"
    ),
    groupClient(
      "a replacement is sent although it does not cover the scope of the call",
      "if (failure !== undefined) return yield* failure",
      "",
      "http-client/test/insufficientScope: fails with an error that reports that the request had been sent",
      "http-client/test/realSupply: sends no replacement that does not cover the scope of the call, and the supply reports the missing scope"
    )
  ],
  "a migration with a fallback sends a call with at most two tokens of Auth V2, and with one of Auth V1 at last": [
    migration(
      "a call is sent with three tokens of Auth V2",
      `if (tried.some((token) => issuerOf(token) === "v2")) {`,
      "if (false) {",
      "migration/test/fallback: gets V2 tokens at most twice for a call, and then a V1 token, with the fallback"
    ),
    migration(
      "no call is sent again with a token of Auth V1",
      "own.needed()\n            return getInsteadOfV2",
      "own.needed()\n            return getV2",
      "migration/test/fallback: gets V2 tokens at most twice for a call, and then a V1 token, with the fallback"
    ),
    migration(
      "the second token of Auth V2 that a call tries is not reported",
      "Effect.zipRight(v2.invalidate(rejected), lastOfCall)",
      "lastOfCall",
      "migration/test/fallback: moves no endpoint group: the next call begins with a V2 token, and the report has no reason"
    ),
    migration(
      "a call is sent again with the same token of Auth V2",
      "Equal.equals(other.secret, rejected.secret) ? lastOfCall : use(other)",
      "use(other)",
      "migration/test/fallback: gets a V1 token for a call if Auth V2 has no other token and may not request one"
    ),
    migration(
      "a rejected call waits for Auth V2 as long as its token request takes",
      "patiently(replacement)",
      `Effect.mapError(replacement, (error) => ({ _tag: "Failed", error }))`,
      "migration/test/fallback: gets a V1 token for a call if Auth V2 has no other token, fails, or takes longer than two seconds"
    ),
    migration(
      "a 401 moves an endpoint group to Auth V1",
      "own.needed()",
      `outage.begin({ _tag: "Slow" })`,
      "migration/test/fallback: moves no endpoint group: the next call begins with a V2 token, and the report has no reason"
    ),
    migration(
      "a rejected token of Auth V1 is reported to Auth V2",
      "issuers.get(token) ?? planned()",
      "planned()",
      "migration/test/fallback: gets another V1 token after a V1 token"
    ),
    migration(
      "a call goes on with the version with which it began, even after the plan has changed",
      `version !== planned() && !(isFallback && version === "v1")`,
      "false",
      "migration/test/fallback: gets a V1 token for a call that began with a V2 token before the stage v1",
      "migration/test/fallback: gets a V2 token for a call that began with a V1 token before the stage v2"
    ),
    currentPlan(
      "a fallback that was left on sends tokens of Auth V2 in the stages before v2",
      `stage === "v2" && fallback`,
      "fallback",
      "migration/test/fallback: gets no V2 token in the stage v1, even with the fallback left on",
      "migration/test/fallback: gets no V2 token in the stage shadow, even with the fallback left on"
    ),
    fallback(
      "every call that needs a token of Auth V1 is logged",
      "if (isNews) {",
      "if (true) {",
      "migration/test/fallback: has one line in the log for a group, and another one when it happens again after five quiet minutes"
    ),
    fallback(
      "a group is logged every five minutes, quiet or not",
      "neededAt = at\n",
      "if (isNews) neededAt = at\n",
      "migration/test/fallback: has one line in the log for a group, and another one when it happens again after five quiet minutes"
    ),
    migration(
      "the endpoint groups share one line in the log, and one fallback",
      "const own = fallbackOf(scope)",
      "const own = outage",
      "migration/test/fallback: has one line in the log for a group, and another one when it happens again after five quiet minutes",
      "migration/test/fallback: returns a V1 token when the V2 token lacks a scope, and a V2 token to the groups whose scope it covers"
    )
  ],
  "the secret goes only to the authorization server, over TLS, and the token only to the origin of the base URL": [
    restrictedClient(
      "a request may be sent to any address",
      "if (!isAllowed(request.url)) {",
      "if (false) {",
      "core/test/transport: a client that rewrites URLs by mapRequest does not send the secret to another server",
      "http-client/test/client: within transformClient sends the token to no other origin"
    ),
    groupClient(
      "the token may be sent to a host whose name begins with the API's",
      "const anyPath = `${origin}/`",
      "const anyPath = origin",
      "http-client/test/transport: with mapRequest to a host whose name begins with the API's sends the token to no other origin"
    ),
    restrictedClient(
      "the host of the caller's own request is sent",
      `"host",`,
      "",
      "core/test/connectionHeaders: lose host",
      "integration/test/connectionHeaders.transports: does not choose the server whose certificate is accepted"
    ),
    restrictedClient(
      "a length that is not the body's is sent",
      `if (length !== undefined && headers["content-length"] !== String(length)) {`,
      `if (length !== undefined && !("content-length" in headers)) {`,
      "core/test/connectionHeaders: lose a length without a body, and get the length of the body in place of another"
    ),
    silence(
      "redirects are followed",
      `redirect: "manual"`,
      `redirect: "follow"`,
      "core/test/transport: a client with its own tracing does not trace a token request, and follows no redirects"
    ),
    target(
      "a path may leave the base URL",
      `if (segmentsOf(url).includes("..")) {`,
      "if (false) {",
      "http-client/test/target: that leaves the base path is refused with the reason"
    ),
    validation(
      "the secret may be sent in clear text",
      `url.protocol === "http:" && isLoopback(url.hostname)`,
      `url.protocol === "http:"`,
      "core/test/tokenEndpointOptions: an authorization server at \"http://v2.example\" is refused: https (http only for localhost, 127.0.0.0/8 and [::1])"
    )
  ],
  "no secret and no token in any text, and data is never altered for it": [
    framing(
      "a stream loses the type that its caller has set",
      "request.headers[\"content-type\"] ?? body.contentType",
      "body.contentType",
      "core/test/connectionHeaders: that is a form keeps the type with its own boundary, and raw content or a stream the caller's type"
    ),
    printable(
      "the text of a server is shown with the secret",
      "replacedIn(current)",
      "current",
      "core/test/printable: never shows a secret of the request, whether plain, URL-encoded, in Base64 or in a form"
    ),
    printable(
      "only the plain form of a secret is replaced",
      ".flatMap(formsOf)",
      "",
      "core/test/printable: never shows a secret of the request, whether plain, URL-encoded, in Base64 or in a form"
    ),
    printable(
      "the text of a server is not escaped",
      ".replace(unprintable, escaped)",
      "",
      "core/test/printable: is printed on one line, without control and bidirectional characters, and with at most 300 characters"
    ),
    tokenRequest(
      "long names of scopes are cut",
      `.filter((name) => name !== "")`,
      ".map((name) => name.slice(0, 20))",
      "core/test/tokenResponse: scope names of any form are kept as they came, even where they repeat letters of the token"
    ),
    callerView(
      "a response refers to the request with the token",
      "this.request = sent.request",
      "this.request = response.request",
      "http-client/test/response: prints its status and the caller's request"
    ),
    callerView(
      "an error refers to the request with the token",
      "Cause.map(cause, (error) => errorFor(sent, error))",
      "cause",
      "http-client/test/callerError: is shown without the token: the request itself"
    )
  ],
  "every token request and every wait for a token has a deadline, and nothing begins after the scope has closed": [
    within(
      "nothing has a deadline",
      "Effect.timeoutFail(disconnected(self), { duration: time, onTimeout: () => onTimeout() })",
      "self",
      "core/test/failure: when a retry gets no response before the deadline, callers get the failure before it"
    ),
    within(
      "an uninterruptible region has no deadline",
      "Effect.timeoutFail(disconnected(self), { duration: time, onTimeout: () => onTimeout() })",
      "Effect.raceFirst(self, Effect.zipRight(Effect.sleep(time), Effect.failSync(onTimeout)))",
      "core/test/uninterruptible: an uninterruptible token request keeps its deadline"
    ),
    tokenState(
      "a closed supply goes on",
      "failure: remember(error, at),\n  isClosed: true",
      "",
      "core/test/flight: after the scope has closed, callers fail with Closed, even if a token was valid, and no request is sent"
    )
  ],
  "clock and randomness come from the layer's environment": [
    supply(
      "the supply has a clock of its own",
      "const clock = yield* Effect.clock",
      `const clock = Object.assign(Object.create(yield* Effect.clock), {
        unsafeCurrentTimeMillis: () => Date.now(),
        unsafeCurrentTimeNanos: () => process.hrtime.bigint()
      })`,
      "core/test/renewal: a due token is renewed in the background when a caller requests a token, and callers keep the valid token"
    ),
    supply(
      "the supply draws its own random numbers",
      "Random.nextRange(options.renewalWindow.from, options.renewalWindow.to)",
      "Effect.sync(() => options.renewalWindow.from + Math.random() * 0.1)",
      "core/test/renewal: the point of renewal is drawn once for each token, from Effect's Random: 75 % for 0"
    )
  ],
  "each setting has a documented default, and applies": [
    accessTokens(
      "by default, a renewal is forced at most once a minute",
      `forcedRenewalPause = "30 seconds"`,
      `forcedRenewalPause = "1 minute"`,
      "core/test/invalidation: begins at most once in 30 s, even if calls succeed in between"
    ),
    supply(
      "the program's forcedRenewalPause is ignored",
      "Duration.toMillis(options.forcedRenewalPause)",
      "30_000",
      "core/test/invalidation: begins at most once in forcedRenewalPause"
    )
  ],
  "a state in which calls fail is visible, and so is its end": [
    announcements(
      "a success is logged at INFO",
      "(streak === undefined ? Effect.logDebug : Effect.logInfo)(",
      "Effect.logInfo(",
      "core/test/logs: has one line for each token, and none for a call"
    ),
    announcements(
      "every failed renewal is logged",
      "if (previous !== undefined && !isOfAnotherKind) return Effect.void",
      "",
      "core/test/logs: has one line for each streak of failed renewals"
    ),
    announcements(
      "nothing is logged when calls begin to fail",
      "if (held === undefined) {",
      "if (held === undefined) {\nreturn Effect.void",
      "core/test/logs: has one line when the renewal is refused, and one when the token has expired"
    ),
    announcements(
      "nothing is logged when calls fail for the second time",
      "saidNoToken = undefined",
      "void 0",
      "core/test/logs: has one line for each time in which there is no token"
    ),
    announcements(
      "nothing is logged when calls succeed again",
      "(streak === undefined ? Effect.logDebug : Effect.logInfo)(",
      "Effect.logDebug(",
      "core/test/logs: reports after how many failures a token was obtained, and since when they happened"
    ),
    supply(
      "a forced renewal is not logged",
      "if (flight === undefined) report(announcements.forced(at))",
      "",
      "core/test/logs: has one line when a renewal is forced, at most one in 30 s, and says whether it follows another within ten minutes"
    ),
    announcements(
      "each of the forced renewals that fail is logged",
      "forcedLoggedAt !== undefined && !Instant.reached(at, Instant.later(forcedLoggedAt, forcedLineMillis))",
      "false",
      "core/test/logs: has one line in 30 s for forced renewals that fail"
    ),
    announcements(
      "the log does not show that forced renewals do not help",
      "const recentMillis = 10 * 60_000",
      "const recentMillis = 60_000",
      "core/test/logs: has one line when a renewal is forced, at most one in 30 s, and says whether it follows another within ten minutes"
    ),
    supply(
      "a rejection during a renewal is logged as a forced one",
      "if (flight === undefined) report(announcements.forced(at))",
      "report(announcements.forced(at))",
      "core/test/logs: has no line for a rejection while a renewal is under way"
    ),
    supply(
      "a token is counted as rejected with each of its 401s",
      "if (!TokenState.isRejected(before, token, at)) report",
      "report",
      "core/test/observation: a token that many calls report is one event"
    ),
    tokenStatus(
      "a supply without a token counts as usable",
      `(Option.isNone(lastFailure) || (phase !== "None" && phase !== "Expired"))`,
      "true",
      "core/test/refresh: isUsable is true before the first call, false after a refusal, and true again after a success"
    ),
    tokenStatus(
      "one missing scope makes a supply unusable",
      "(missingScopes.length === 0 || missingScopes.length < requestedScopes.length)",
      "missingScopes.length === 0",
      "core/test/refresh: isUsable is true if 1 of 2 requested scopes are missing"
    ),
    tokenStatus(
      "401s of the API make a supply unusable",
      "{ lastFailure, missingScopes, phase, requestedScopes }: TokenStatus\n): boolean =>",
      "{ lastFailure, missingScopes, phase, rejected, requestedScopes }: TokenStatus\n): boolean => !rejected &&",
      "core/test/refresh: isUsable is true for Due, rejected",
      "http-client/test/realSupply: tries each token that the supply holds, and the supply does not become unusable"
    ),
    healthCheck(
      "401s of the API make a program unready",
      "const isReady = TokenStatus.isUsable(status) &&",
      "const isReady = TokenStatus.isUsable(status) && !rejected &&",
      "telemetry/test/HealthCheck: returns 200 with a valid token, and requests none"
    ),
    tokenState(
      "the status does not say when the next attempt is",
      "wallTime(state.failure?.nextTryAt ?? (isForcedFirst ? forcedFrom : dueAt))",
      "Option.none()",
      "core/test/observation: status reports the phase of the token"
    ),
    tokenState(
      "the status does not say when the next renewal may be forced",
      "isForcedFirst ? forcedFrom : dueAt",
      "dueAt",
      "core/test/invalidation: begins at most once in 30 s, even if calls succeed in between"
    ),
    tokenState(
      "the status says that the API rejected the token although the one in use is accepted",
      "const rejected = allRejected(state, now) !== undefined",
      "const rejected = state.newer?.rejectedAt !== undefined",
      "core/test/invalidation: is the newer one until the API rejects it, and then the older one"
    ),
    tokenState(
      "the status shows a newer token that has expired beside an older one that is in use",
      "held(state, now)[0] ?? state.newer",
      "state.newer",
      "core/test/invalidation: is the older one after the newer one has expired first, and its renewal is due"
    ),
    gauges(
      "the metrics say that a program has no token while its migration serves its calls otherwise",
      "hasFallback || TokenStatus.isUsable(status)",
      "TokenStatus.isUsable(status)",
      "telemetry/test/Telemetry: shows a supply without a token as usable while a migration serves its calls otherwise"
    ),
    metrics(
      "the metrics count no rejected tokens",
      "return countInvalidation(1)",
      "return Effect.void",
      "telemetry/test/Telemetry: counts what happens to token requests"
    ),
    span(
      "the duration of a call is in milliseconds",
      "startedAt) / 1_000",
      "startedAt)",
      "integration/test/callMetrics: is in seconds, by the clock of the layer that cannot be set"
    ),
    span(
      "an interrupted call is not measured",
      "Effect.onExit(ending, (exit) =>",
      "Effect.onExit(ending, (exit) => Exit.isInterrupted(exit) ? Effect.void :",
      "integration/test/callMetrics: is recorded for a call that is interrupted, with or without a span"
    ),
    span(
      "a call without a span is not measured",
      "return observed(call(undefined))",
      "return call(undefined)",
      "integration/test/callMetrics: is recorded for a call that is interrupted, with or without a span"
    )
  ],
  "a pause never keeps a process from a token that exists elsewhere, and that token must help it": [
    supply(
      "a supply that may not request a token does not look for one elsewhere",
      "look === undefined ? settle()",
      "true ? settle()",
      "core/test/sharing: takes what a search finds, and not what has expired",
      "core/test/sharing: searches too when a renewal was forced a short time ago, and replace waits for what it finds"
    ),
    supply(
      "what a search finds is taken beside a token request that is under way",
      " || flight !== undefined) return",
      ") return",
      "core/test/sharing: does not take what a search finds while a token request is under way"
    ),
    supply(
      "a rejection in the pause after a forced renewal does not start a search",
      "if (look !== undefined) run(look)",
      "",
      "core/test/sharing: searches too when a renewal was forced a short time ago, and replace waits for what it finds"
    ),
    supply(
      "a search does not say that the tokens were rejected",
      "const reason: RequestReason = rejected === undefined",
      "const reason: RequestReason = true",
      "core/test/sharing: searches too when a renewal was forced a short time ago, and replace waits for what it finds"
    ),
    tokenState(
      "a refusal of another process lasts as long as an own one",
      "if (sharedUntil === undefined) return refusalPause",
      "return refusalPause",
      "core/test/failure: the pause after a refusal of another process lasts only as long as it is shared"
    ),
    protocol(
      "a rejected token is taken from the store again",
      "if (isSame(reason.token)) return false",
      "",
      "fleet/test/protocol: does not replace itself"
    ),
    protocol(
      "the clocks of the processes decide which token is newer",
      "return replaced === undefined",
      "return true",
      "fleet/test/protocol: replaces a token that this process took under a lower fence, whatever their times show"
    ),
    protocol(
      "a refresh takes a token from the store",
      `if (reason._tag === "Refresh") return false`,
      `if (reason._tag === "Refresh") return true`,
      "fleet/test/protocol: is not taken for a refresh, which reads the credentials again and sends a request"
    ),
    protocol(
      "the next secret is not read to find its tokens",
      `if (failure?._tag === "InvalidClient") yield* credentials.reread`,
      "",
      "fleet/test/protocol: is looked for under the next credentials after a refusal, and after no other failure"
    ),
    access(
      "single faults add up to a pause of the store",
      "if (consecutive >= faultsToPause)",
      "if (counts.faults >= faultsToPause)",
      "fleet/test/access: for the third time in a row leaves the store alone for ten seconds, and not with successes in between"
    ),
    protocol(
      "the wait for another process takes the time of the own token request",
      "timeLimit: Duration.times(endpoint.deadline, 2)",
      "timeLimit: endpoint.deadline",
      "fleet/test/sharedTokens: wait for another process for one deadline, and then as long for their own token request"
    ),
    access(
      "a slow store delays a caller for six seconds",
      "const budgetMillis = 600",
      "const budgetMillis = 6_000",
      "fleet/test/access: is 0.6 seconds for all operations for which a caller waits"
    )
  ],
  "one client's token is never another's": [
    sharedLayer(
      "a layer is shared by its reference alone",
      "shared([provider, clock, ...services.map(({ key }) => context.unsafeMap.get(key))], make)",
      "shared([], make)",
      "integration/test/layerReuse: is built again over another supply, and so calls its API"
    ),
    adapter(
      "a layer is shared although it has read another client",
      "read.url, clientId, clientSecret, scopes",
      "read.url, scopes",
      "integration/test/layerReuse: has two supplies with another secret manager under the same ConfigProvider"
    ),
    adapter(
      "a layer is shared only where all services are the same",
      "scopes, client, clock],",
      "scopes, client, clock, {}],",
      "integration/test/layerReuse: has one supply, although a part of the program has an unrelated service or an equal ConfigProvider"
    ),
    sharedLayer(
      "a use fails if another use is interrupted whose build it waits for",
      "Effect.forkIn(Effect.intoDeferred(build, context), own.scope)",
      "Effect.intoDeferred(build, context)",
      "core/test/sharedLayer: a use that waits for the build of another use is built although the other one is interrupted"
    ),
    sharedLayer(
      "what is built ends with any of its uses",
      "if (shared.users > 0) return Effect.void",
      "",
      "core/test/sharedLayer: what is built remains until its last use has ended, also if the use that built it ended first"
    ),
    sharedLayer(
      "a failure is kept",
      "() => Effect.sync(() => forget(key, own))",
      "() => Effect.void",
      "integration/test/layerReuse: is built again after a failure, even while the use that failed keeps its scope"
    )
  ]
}
