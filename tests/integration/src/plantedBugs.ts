import { AccessToken, AccessTokens, TokenError } from "@credit-data/core"
import { Instant } from "@credit-data/core/Internal"
import { withConstantRandom } from "@credit-data/test-support/constantRandom"
import * as VirtualClock from "@credit-data/test-support/virtualClock"
import { HttpClient, HttpClientRequest } from "@effect/platform"
import { ConfigProvider, DateTime, Deferred, Duration, Effect, Either, Option } from "effect"
import type * as Announcements from "../../../packages/core/src/internal/announcements.ts"
import type * as Printable from "../../../packages/core/src/internal/printable.ts"
import type * as RestrictedClient from "../../../packages/core/src/internal/restrictedClient.ts"
import type * as SharedLayer from "../../../packages/core/src/internal/sharedLayer.ts"
import type * as Silence from "../../../packages/core/src/internal/silence.ts"
import type * as Supply from "../../../packages/core/src/internal/supply.ts"
import type * as TokenRequest from "../../../packages/core/src/internal/tokenRequest.ts"
import type * as TokenState from "../../../packages/core/src/internal/tokenState.ts"
import type * as Validation from "../../../packages/core/src/internal/validation.ts"
import type * as Within from "../../../packages/core/src/internal/within.ts"
import type * as TokenStatus from "../../../packages/core/src/TokenStatus.ts"
import type * as GroupClient from "../../../packages/http-client/src/GroupClient.ts"
import type * as CallerView from "../../../packages/http-client/src/internal/callerView.ts"
import type * as Resend from "../../../packages/http-client/src/internal/resend.ts"
import type * as Target from "../../../packages/http-client/src/internal/target.ts"

// What the packages promise, and bugs that the tests must find. `plantedBugs.nightly.test.ts` plants one after another.

/** The modules in which bugs are planted. */
interface Modules {
  readonly "core/src/internal/announcements": typeof Announcements
  readonly "core/src/internal/printable": typeof Printable
  readonly "core/src/internal/restrictedClient": typeof RestrictedClient
  readonly "core/src/internal/sharedLayer": typeof SharedLayer
  readonly "core/src/internal/silence": typeof Silence
  readonly "core/src/internal/supply": typeof Supply
  readonly "core/src/internal/tokenRequest": typeof TokenRequest
  readonly "core/src/internal/tokenState": typeof TokenState
  readonly "core/src/internal/validation": typeof Validation
  readonly "core/src/internal/within": typeof Within
  readonly "core/src/TokenStatus": typeof TokenStatus
  readonly "http-client/src/GroupClient": typeof GroupClient
  readonly "http-client/src/internal/callerView": typeof CallerView
  readonly "http-client/src/internal/resend": typeof Resend
  readonly "http-client/src/internal/target": typeof Target
}

/** A fault of one function of a module. */
export interface Bug {
  /** What the program does because of it. */
  readonly fault: string
  /** The tests that find it, whose names say which behaviour is broken: file, then name. */
  readonly foundBy: ReadonlyArray<string>
  readonly module: keyof Modules
  readonly changed: string
  readonly change: (original: never) => unknown
}

/** Bugs of this function. */
const bugsOf =
  <Module extends keyof Modules, Name extends keyof Modules[Module] & string>(module: Module, changed: Name) =>
  (
    fault: string,
    change: (original: Modules[Module][Name]) => Modules[Module][Name],
    ...foundBy: ReadonlyArray<string>
  ): Bug => ({ fault, foundBy, module, changed, change })

const isUsable = bugsOf("core/src/TokenStatus", "isUsable")
const announcing = bugsOf("core/src/internal/announcements", "make")
const printable = bugsOf("core/src/internal/printable", "printable")
const withoutSecrets = bugsOf("core/src/internal/printable", "withoutSecrets")
const restrictedClient = bugsOf("core/src/internal/restrictedClient", "restrictedClient")
const sharedLayer = bugsOf("core/src/internal/sharedLayer", "sharedLayer")
const silence = bugsOf("core/src/internal/silence", "silence")
const makeSupply = bugsOf("core/src/internal/supply", "make")
const tokenRequest = bugsOf("core/src/internal/tokenRequest", "tokenRequest")
const accepted = bugsOf("core/src/internal/tokenState", "accepted")
const afterFailure = bugsOf("core/src/internal/tokenState", "afterFailure")
const closed = bugsOf("core/src/internal/tokenState", "closed")
const decide = bugsOf("core/src/internal/tokenState", "decide")
const decideReplacement = bugsOf("core/src/internal/tokenState", "decideReplacement")
const gaveUp = bugsOf("core/src/internal/tokenState", "gaveUp")
const obtained = bugsOf("core/src/internal/tokenState", "obtained")
const rejected = bugsOf("core/src/internal/tokenState", "rejected")
const withoutPath = bugsOf("core/src/internal/validation", "withoutPath")
const within = bugsOf("core/src/internal/within", "within")
const makeClient = bugsOf("http-client/src/GroupClient", "make")
const causeFor = bugsOf("http-client/src/internal/callerView", "causeFor")
const responseFor = bugsOf("http-client/src/internal/callerView", "responseFor")
const canBeSentAgain = bugsOf("http-client/src/internal/resend", "canBeSentAgain")
const makeTarget = bugsOf("http-client/src/internal/target", "makeTarget")

type MakeSupply = typeof Supply.make
type Made = Effect.Effect.Success<ReturnType<MakeSupply>>

/** A supply of which some members do something else. */
const supplyWith = (change: (supply: Made) => Partial<Made>) => (make: MakeSupply): MakeSupply => (endpoint, options) =>
  Effect.map(make(endpoint, options), (supply) => ({ ...supply, ...change(supply) }))

const tokenWith =
  (change: (token: AccessToken.AccessToken) => Partial<AccessToken.AccessToken>) => (token: AccessToken.AccessToken) =>
    new AccessToken.AccessToken({ ...token, ...change(token) })

type Request = typeof TokenRequest.tokenRequest

/** A token request that makes this of its token. */
const requestWith =
  (change: (token: AccessToken.AccessToken) => Effect.Effect<AccessToken.AccessToken>) =>
  (tokenRequest: Request): Request =>
  (options) => {
    const request = tokenRequest(options)
    return (credentials, time) => Effect.flatMap(request(credentials, time), change)
  }

/** A client of a group over tokens of which some members do something else. */
const clientWith =
  (change: (tokens: AccessTokens.Service) => Partial<AccessTokens.Service>) =>
  (make: typeof GroupClient.make): typeof GroupClient.make =>
  (options) =>
    Effect.flatMap(
      AccessTokens.AccessTokens,
      (tokens) => Effect.provideService(make(options), AccessTokens.AccessTokens, { ...tokens, ...change(tokens) })
    )

/** A restricted client that sends this header as its caller set it. */
const keeping =
  (header: string) => (restricted: typeof RestrictedClient.restrictedClient): typeof restricted => (client, options) =>
    HttpClient.make((request) => {
      const value = request.headers[header]
      const sending = HttpClient.make((sent) =>
        client.execute(value === undefined ? sent : HttpClientRequest.setHeader(sent, header, value))
      )
      return restricted(sending, options).execute(request)
    })

type AfterFailure = typeof TokenState.afterFailure

/** What follows a failure, of which the supply sees something else. */
const failingWith =
  (change: (...seen: Parameters<AfterFailure>) => Parameters<AfterFailure>) =>
  (afterFailure: AfterFailure): AfterFailure =>
  (...seen) => afterFailure(...change(...seen))

const withoutRetryAfter = (error: TokenError.TokenError, isIgnored: (millis: number) => boolean) =>
  error._tag === "ServerError" && error.retryAfter !== undefined && isIgnored(Duration.toMillis(error.retryAfter))
    ? new TokenError.ServerError({ ...error, retryAfter: undefined })
    : error

type Rejected = typeof TokenState.rejected

/** A rejection of which the supply sees another state. */
const rejectedIn =
  (change: (state: TokenState.State) => TokenState.State) => (rejected: Rejected): Rejected => (state, token, now) => {
    const seen = change(state)
    const next = rejected(seen, token, now)
    return next === seen ? state : next
  }

const heldWith = (state: TokenState.State, held: Partial<NonNullable<TokenState.State["held"]>>): TokenState.State =>
  state.held === undefined ? state : { ...state, held: { ...state.held, ...held } }

const never: Instant.Instant = { wallMillis: Infinity, monotonicNanos: 10n ** 30n }

const model = "core/test/model/supply.model: outcomes and token requests of the supply equal its model's"

/** The promises, each with bugs that break it. */
export const promises: Readonly<Record<string, ReadonlyArray<Bug>>> = {
  "any number of callers cause one token request, and interrupting one disturbs no other": [
    makeSupply(
      "every second caller has a supply of its own",
      (make) => (endpoint, options) =>
        Effect.zipWith(make(endpoint, options), make(endpoint, options), (one, other) => {
          let callers = 0
          return { ...one, get: Effect.suspend(() => callers++ % 2 === 0 ? one.get : other.get) }
        }),
      "core/test/flight: 10 000 cold callers cause one request and get its token"
    ),
    makeSupply(
      "a caller that gives up ends the token request",
      (make) => (endpoint, options) =>
        Effect.flatMap(Deferred.make<never>(), (abandoned) => {
          const requestToken: typeof endpoint.requestToken = (reason) =>
            Effect.raceFirst(endpoint.requestToken(reason), Deferred.await(abandoned))
          return Effect.map(make({ ...endpoint, requestToken }, options), (supply) => ({
            ...supply,
            get: Effect.onInterrupt(supply.get, () => Deferred.interrupt(abandoned))
          }))
        }),
      "core/test/flight: a caller that is interrupted does not affect the others"
    )
  ],
  "a token is renewed in the background, no caller waits for it while the token is good, and no expired token is sent":
    [
      makeSupply(
        "every token is renewed at the same share of its life",
        (make) => (endpoint, { renewalWindow: { to }, ...options }) =>
          make(endpoint, { ...options, renewalWindow: { from: to, to } }),
        "core/test/renewal: the point of renewal is drawn once for each token, from Effect's Random: 75 % for 0"
      ),
      obtained(
        "a token is renewed when half of its life is over",
        (obtained) => (state, token, sentAt, options) => obtained(state, token, sentAt, { ...options, dueShare: 0.5 }),
        "core/test/renewal: a token is reused until its renewal is due"
      ),
      obtained(
        "a renewal may be due so late that callers wait for it",
        (obtained) => (state, token, sentAt, options) => {
          const next = obtained(state, token, sentAt, options)
          const from = DateTime.toEpochMillis(token.requestedAt)
          const life = DateTime.toEpochMillis(token.expiresAt) - from
          return heldWith(next, { dueAt: Instant.atWallTime(sentAt, from + life * options.dueShare) })
        },
        "core/test/renewal: callers wait only in the last tenth of the lifetime, and renewal is due before that",
        "core/test/observation: status reports that a renewal is due before callers have to wait, whatever the window"
      ),
      decide(
        "every caller waits for a renewal",
        (decide) => (state, now) => {
          const decision = decide(state, now)
          return decision._tag === "UseAndRenew" ? { _tag: "Wait", patience: 60_000 } : decision
        },
        "core/test/renewal: a due token is renewed in the background when a caller requests a token, and callers keep the valid token"
      ),
      decide(
        "no caller waits for the renewal of a token that is about to expire",
        (decide) => (state, now) => {
          const decision = decide(state, now)
          const { held } = state
          return decision._tag === "Wait" && decision.patience !== undefined && held !== undefined &&
              held.rejectedAt === undefined
            ? { _tag: "UseAndRenew", token: held.use.token }
            : decision
        },
        "core/test/renewal: callers wait for the renewal of a token with at most 5 s left"
      ),
      decide(
        "an expired token is returned",
        (decide) => (state, now) =>
          state.held !== undefined && Instant.reached(now, state.held.expiresAt) ? state.held.use : decide(state, now),
        "core/test/renewal: when the renewal of an expiring token fails, callers get the valid token until its last millisecond",
        "core/test/renewal: a process that was suspended past the expiry does not send the expired token"
      ),
      decideReplacement(
        "a call is sent again with the expired token",
        (decide) => (state, rejected, now) =>
          state.held !== undefined && Instant.reached(now, state.held.expiresAt)
            ? state.held.use
            : decide(state, rejected, now),
        "core/test/invalidation: replace returns the first token when there was none, and another token when the rejected one has expired"
      ),
      tokenRequest(
        "the lifetime in the response is ignored",
        requestWith((token) =>
          Effect.succeed(
            tokenWith(({ requestedAt }) => ({ expiresAt: DateTime.add(requestedAt, { hours: 24 }) }))(token)
          )
        ),
        "core/test/tokenResponse: expires_in may be text, and is limited to a week",
        "integration/test/oneToken: tokens of 10 s never get a 401, although the server rounds their instants down to whole seconds"
      ),
      tokenRequest(
        "the life of a token counts from its arrival",
        requestWith((token) =>
          Effect.map(DateTime.now, (now) =>
            tokenWith(({ expiresAt, requestedAt }) => ({
              requestedAt: now,
              expiresAt: DateTime.addDuration(expiresAt, DateTime.distance(requestedAt, now))
            }))(token))
        ),
        "integration/test/oneToken: expiry counts from the instant of the request, even when the response takes 9 s"
      )
    ],
  "a failed renewal leaves the valid token in use, and a dead endpoint gets a bounded number of requests": [
    gaveUp(
      "a failed renewal drops the valid token",
      (gaveUp) => (state, error, nextTryAt) => ({ ...gaveUp(state, error, nextTryAt), held: undefined }),
      "core/test/renewal: when the renewal of an expiring token fails, callers get the valid token until its last millisecond"
    ),
    gaveUp(
      "a failure starts no pause",
      (gaveUp) => (state, error) => gaveUp(state, error, { wallMillis: 0, monotonicNanos: 0n }),
      "core/test/failure: a failed renewal keeps the valid token, and pauses for 1 s, doubling to 60 s, with equal jitter: 1",
      "core/test/failure: an endpoint that is dead for 3 minutes gets at most 20 requests under any load: 10 calls per second"
    ),
    afterFailure(
      "the pauses do not grow",
      failingWith((state, failure) => [
        { ...state, streak: state.streak && { ...state.streak, failures: 1 } },
        failure
      ]),
      "core/test/failure: a failed renewal keeps the valid token, and pauses for 1 s, doubling to 60 s, with equal jitter: 1"
    ),
    afterFailure(
      "the pauses have no jitter",
      failingWith((state, failure) => [state, { ...failure, random: 1 }]),
      "core/test/failure: a failed renewal keeps the valid token, and pauses for 1 s, doubling to 60 s, with equal jitter: 0"
    ),
    afterFailure(
      "Retry-After is ignored",
      failingWith((state, failure) => [state, { ...failure, error: withoutRetryAfter(failure.error, () => true) }]),
      "core/test/failure: a pause follows Retry-After, unless that is under a second",
      "core/test/failure: a flight does not wait for a pause that exceeds the deadline"
    ),
    afterFailure(
      "a Retry-After of one second is ignored",
      failingWith((state, failure) => [
        state,
        { ...failure, error: withoutRetryAfter(failure.error, (millis) => millis === 1_000) }
      ]),
      "core/test/failure: a pause follows Retry-After, unless that is under a second"
    ),
    afterFailure(
      "a request is retried until the deadline",
      failingWith((state, failure) => [state, { ...failure, retriesLeft: 1 }]),
      "core/test/failure: a flight retries a retryable failure up to twice, after pauses with a jitter of 0, and then fails"
    ),
    afterFailure(
      "a refusal is retried",
      (afterFailure) => (state, failure) =>
        failure.error.retryable
          ? afterFailure(state, failure)
          : { isRetried: failure.retriesLeft > 0, pause: 1_000 },
      "core/test/failure: a failure that is not retryable is not retried"
    ),
    afterFailure(
      "a failed renewal is retried without a caller",
      failingWith((state, failure) => [{ ...state, held: undefined }, failure]),
      "core/test/failure: a failed renewal is not retried without a caller while there is a valid token"
    )
  ],
  "a 401 replaces exactly the rejected token, and the call is sent again once": [
    rejected(
      "the rejection of any token rejects the current one",
      (rejected) => (state, token, now) => rejected(state, state.held?.token ?? token, now),
      "core/test/invalidation: invalidate does nothing when another token has replaced the rejected one",
      model
    ),
    makeSupply(
      "a late rejection replaces the replacement",
      supplyWith(({ refresh }) => ({ replace: () => refresh })),
      "core/test/invalidation: rejections by 100 callers at once, and by late callers, cause one renewal",
      model
    ),
    canBeSentAgain(
      "a rejected call is not sent again",
      () => () => false,
      "http-client/test/client: replaces the token and sends the request again once"
    ),
    makeClient(
      "a call that is rejected twice is sent a third time",
      (make) => (options) =>
        Effect.map(make(options), (client) =>
          Object.assign(
            HttpClient.transform(client, (calling) =>
              Effect.flatMap(calling, (response) => response.status === 401 ? calling : Effect.succeed(response))),
            { group: client.group }
          )),
      "http-client/test/client: that the second request gets too is returned with its body, and no third request is sent"
    ),
    makeClient(
      "the second 401 of a call rejects no token",
      clientWith(({ reports }) => ({ reports: reports && { ...reports, rejectionStands: () => Effect.void } })),
      "http-client/test/client: that the second request gets too invalidates the replacement, and another status does not",
      "http-client/test/realSupply: reports the rejection of a token and of its replacement, and the first success"
    ),
    makeClient(
      "a replacement is sent although it does not cover the scope of the call",
      clientWith(({ replace, requestedScopes }) => ({
        replace: (token) => Effect.map(replace(token), tokenWith(() => ({ covered: [...requestedScopes] })))
      })),
      "http-client/test/insufficientScope: fails with an error that reports that the request was sent once",
      "http-client/test/realSupply: sends no replacement that does not cover the scope of the call, and the supply reports the missing scope"
    ),
    decide(
      "callers get the rejected token while it is replaced",
      (decide) => (state, now) => {
        const decision = decide(state, now)
        return decision._tag === "Wait" && state.held?.rejectedAt !== undefined && decision.patience !== undefined
          ? { _tag: "UseAndRenew", token: state.held.use.token }
          : decision
      },
      "core/test/invalidation: invalidate starts one renewal even without another caller, and the next caller waits for the new token",
      model
    ),
    decideReplacement(
      "replace returns the rejected token when its renewal has failed",
      (decide) => (state, rejected, now) => {
        const decision = decide(state, rejected, now)
        return decision._tag === "Fail" && state.held !== undefined ? state.held.use : decision
      },
      "core/test/invalidation: a rejected token whose renewal fails remains in use, and replace fails with the failure",
      model
    ),
    rejected(
      "a rejection within 30 s of a replacement replaces the token at once",
      rejectedIn((state) => ({ ...state, holdUntil: undefined })),
      "core/test/invalidation: a rejection within 30 s of a replacement replaces nothing, and the next one after that does",
      model
    ),
    decide(
      "a rejection within 30 s of a replacement replaces the token when they are over",
      (decide) => (state, now) => {
        const { held, holdUntil } = state
        return held?.isCounted === true && !held.isProven && held.rejectedAt === undefined && holdUntil !== undefined &&
            Instant.reached(now, holdUntil)
          ? { _tag: "Wait", patience: 2_500 }
          : decide(state, now)
      },
      "core/test/invalidation: a rejection within 30 s of a replacement replaces nothing, and the next one after that does",
      model
    ),
    rejected(
      "after a replacement, no rejection replaces anything",
      rejectedIn((state) => ({ ...state, holdUntil: state.holdUntil && never })),
      "core/test/invalidation: a rejection within 30 s of a replacement replaces nothing, and the next one after that does",
      model
    ),
    rejected(
      "a proven token is in the count of rejections",
      rejectedIn((state) => heldWith(state, { isProven: false })),
      "core/test/invalidation: does not count a token with which a call has succeeded",
      model
    ),
    rejected(
      "a token is counted with each of its rejections",
      rejectedIn((state) => heldWith(state, { isCounted: false })),
      "core/test/invalidation: counts a token once if it is rejected before any call has succeeded with it, and is unusable from the second on",
      model
    ),
    accepted(
      "a success does not end the count of rejections",
      (accepted) => (state, token) => ({ ...accepted(state, token), rejections: state.rejections }),
      "core/test/invalidation: is usable again with the first call that succeeds",
      model
    ),
    accepted(
      "the success of any token proves the current one",
      (accepted) => (state, token) => accepted(state, state.held?.token ?? token),
      "core/test/invalidation: is usable again with the first call that succeeds"
    ),
    accepted(
      "a token that works is replaced because an earlier call was rejected",
      (accepted) => (state, token) => heldWith(accepted(state, token), { rejectedAt: state.held?.rejectedAt }),
      "core/test/invalidation: does not replace a token that works because an earlier call was rejected",
      model
    ),
    makeClient(
      "the client does not report the first success of a token",
      clientWith(({ reports }) => ({ reports: reports && { ...reports, isUnproven: () => false } })),
      "http-client/test/realSupply: reports the rejection of a token and of its replacement, and the first success"
    )
  ],
  "the secret goes only to the authorization server, over TLS, and the token only to the origin of the base URL": [
    restrictedClient(
      "a request may be sent to any address",
      (restricted) => (client, options) => restricted(client, { ...options, isAllowed: () => true }),
      "core/test/transport: a client that rewrites URLs by mapRequest does not send the secret to another server",
      "http-client/test/client: within transformClient sends the token to no other origin"
    ),
    restrictedClient(
      "the host of the caller's own request is sent",
      keeping("host"),
      "core/test/connectionHeaders: lose host",
      "integration/test/connectionHeaders.transports: does not choose the server whose certificate is accepted"
    ),
    restrictedClient(
      "a length that is not the body's is sent",
      keeping("content-length"),
      "core/test/connectionHeaders: lose a length without a body, and get the length of the body in place of another"
    ),
    silence(
      "redirects are followed",
      () => () => Effect.void,
      "core/test/transport: a client with its own tracing does not trace a token request, and follows no redirects"
    ),
    makeTarget(
      "a path may leave the base URL",
      () => (baseUrl) => (url) => Either.right(new URL(url, `${baseUrl}/`).href),
      "http-client/test/target: that leaves the base path is refused with the reason"
    ),
    withoutPath(
      "the secret may be sent in clear text",
      () => () => (url) => Either.right(String(url)),
      "core/test/tokenEndpointOptions: an authorization server at \"http://v2.example\" is refused: https (http only for localhost, 127.0.0.0/8 and [::1])"
    )
  ],
  "no secret and no token in any text, and data is never altered for it": [
    withoutSecrets(
      "the text of a server is shown with the secret",
      () => (text) => text,
      "core/test/printable: never shows a secret of the request, whether plain, URL-encoded, in Base64 or in a form"
    ),
    withoutSecrets(
      "only the plain form of a secret is replaced",
      () => (text, secrets) => secrets.reduce((left, secret) => left.replaceAll(secret, "<redacted>"), text),
      "core/test/printable: never shows a secret of the request, whether plain, URL-encoded, in Base64 or in a form"
    ),
    printable(
      "the text of a server is not escaped",
      () => (text) => text,
      "core/test/printable: is printed on one line, without control and bidirectional characters, and with at most 300 characters"
    ),
    tokenRequest(
      "long names of scopes are cut",
      requestWith((token) =>
        Effect.succeed(tokenWith(({ scopes }) => ({ scopes: scopes.map((scope) => scope.slice(0, 20)) }))(token))
      ),
      "core/test/tokenResponse: scope names of any form are kept as they came, even where they repeat letters of the token"
    ),
    responseFor(
      "a response refers to the request with the token",
      () => (_, response) => response,
      "http-client/test/response: prints its status and the caller's request"
    ),
    causeFor(
      "an error refers to the request with the token",
      () => (_, cause) => cause,
      "http-client/test/callerError: is shown without the token: the request itself"
    )
  ],
  "every token request and every wait for a token has a deadline, and nothing begins after the scope has closed": [
    within(
      "nothing has a deadline",
      () => () => (self) => self,
      "core/test/failure: when a retry gets no response before the deadline, callers get the failure before it, with deadlineEnded"
    ),
    within(
      "an uninterruptible region has no deadline",
      () => (duration, onTimeout) => (self) =>
        Effect.raceFirst(self, Effect.zipRight(Effect.sleep(duration), Effect.failSync(onTimeout))),
      "core/test/uninterruptible: an uninterruptible token request keeps its deadline"
    ),
    closed(
      "a closed supply goes on",
      (closed) => (error, at) => ({ ...closed(error, at), failure: undefined, isClosed: false }),
      "core/test/flight: after the scope has closed, callers fail with Closed, even if a token was valid, and no request is sent"
    )
  ],
  "clock and randomness come from the layer's environment": [
    makeSupply(
      "the supply has a clock of its own",
      (make) => (endpoint, options) => make(endpoint, options).pipe(Effect.withClock(VirtualClock.make().clock)),
      "core/test/renewal: a due token is renewed in the background when a caller requests a token, and callers keep the valid token"
    ),
    makeSupply(
      "the supply draws its own random numbers",
      (make) => (endpoint, options) => make(endpoint, options).pipe(withConstantRandom(0.5)),
      "core/test/renewal: the point of renewal is drawn once for each token, from Effect's Random: 75 % for 0"
    )
  ],
  "each setting has a documented default": [
    makeSupply(
      "rejected tokens are replaced at most once a minute",
      (make) => (endpoint, options) => make(endpoint, { ...options, forcedRenewalPause: Duration.minutes(1) }),
      "core/test/invalidation: requests one token every 30 s if the API rejects every token"
    )
  ],
  "a state in which calls fail is visible, and so is its end": [
    announcing(
      "a success is logged at INFO",
      (make) => (...args) =>
        Effect.map(make(...args), (all) => ({
          ...all,
          obtained: (...what) => Effect.zipRight(Effect.logInfo("An access token was obtained."), all.obtained(...what))
        })),
      "core/test/logs: has one line for each token, and none for a call"
    ),
    announcing(
      "every failed renewal is logged",
      (make) => (...args) =>
        Effect.map(make(...args), (all) => ({ ...all, gaveUp: (error, held) => all.gaveUp(error, held, undefined) })),
      "core/test/logs: has one line for each streak of failed renewals"
    ),
    announcing(
      "nothing is logged when calls begin to fail",
      (make) => (...args) =>
        Effect.map(make(...args), (all) => ({
          ...all,
          gaveUp: (error, held, previous) => held === undefined ? Effect.void : all.gaveUp(error, held, previous)
        })),
      "core/test/logs: has one line when the renewal is refused, and one when the token has expired"
    ),
    announcing(
      "nothing is logged when calls succeed again",
      (make) => (...args) => Effect.map(make(...args), (all) => ({ ...all, accepted: () => Effect.void })),
      "core/test/logs: warns once when no call succeeds with a token and its replacement, and reports once that the API accepts tokens again"
    ),
    isUsable(
      "a supply without a token counts as usable",
      () => () => true,
      "core/test/refresh: isUsable is true before the first call, false after a refusal, and true again after a success"
    ),
    makeSupply(
      "the status does not say when the next attempt is",
      supplyWith(({ status }) => ({
        status: Effect.map(status, (status) => ({ ...status, nextRequestAt: Option.none() }))
      })),
      "core/test/observation: status reports the phase of the token"
    )
  ],
  "a pause never keeps a process from a token that exists elsewhere": [
    makeSupply(
      "a supply that remembers a failure does not look for a token elsewhere",
      (make) => (endpoint, options) =>
        make({ ...endpoint, sharing: endpoint.sharing && { ...endpoint.sharing, find: undefined } }, options),
      "core/test/sharing: takes what a search finds, and not what has expired"
    ),
    afterFailure(
      "a refusal of another process lasts as long as an own one",
      failingWith((state, failure) => [
        state,
        failure.error._tag === "InvalidClient"
          ? { ...failure, error: new TokenError.InvalidClient({ ...failure.error, sharedUntil: undefined }) }
          : failure
      ]),
      "core/test/failure: the pause after a refusal of another process lasts only as long as it is shared"
    )
  ],
  "the tests pass on any machine, whatever its variables are": [
    tokenRequest(
      "a token request reads the variables of the machine",
      (tokenRequest) => (options) => {
        const request = tokenRequest(options)
        return (...args) => request(...args).pipe(Effect.withConfigProvider(ConfigProvider.fromEnv()))
      },
      "core/test/transportFailure: a forward proxy with an unknown address gets the address in HTTPS_PROXY, without its credentials"
    )
  ],
  "one client's token is never another's": [
    sharedLayer(
      "a layer is shared by its reference alone",
      () => (make) => make(),
      "integration/test/layerReuse: gives each tenant its own token in a LayerMap whose lookup provides the variables of the tenant"
    )
  ]
}
