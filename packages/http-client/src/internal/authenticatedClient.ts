import type * as AccessScope from "@credit-data/core/AccessScope"
import type * as AccessToken from "@credit-data/core/AccessToken"
import * as AccessTokens from "@credit-data/core/AccessTokens"
import { Observed, Transport, Validation } from "@credit-data/core/Internal"
import * as Variables from "@credit-data/core/Variables"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Cause from "effect/Cause"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Equal from "effect/Equal"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type { GroupClient, GroupClientError, Options } from "../GroupClient.ts"
import { InsufficientScope } from "../InsufficientScope.ts"
import { canBeSentAgain, release } from "./body.ts"
import { inSpan, type WaitTimer } from "./callSpan.ts"
import { isClosedConnection } from "./closedConnection.ts"
import { inScopeOf, keepScope } from "./requestScope.ts"
import * as ResendBudget from "./resendBudget.ts"
import { responseError } from "./callerError.ts"
import { causeForCaller, forCaller } from "./response.ts"
import { type Base, parseBase, target } from "./target.ts"
import type { Sent } from "./sent.ts"

type Request = HttpClientRequest.HttpClientRequest
type Response = HttpClientResponse.HttpClientResponse

const checkRequestedScopes = ({ name, scope }: Options, tokens: AccessTokens.Service) => {
  if (scope === undefined) return Either.void
  const requested = Option.getOrElse(tokens.requestedScopes, () => [scope])
  return requested.includes(scope) ? Either.void : Either.left(Variables.invalid(
    ["scopes"],
    `Expected ${scope} among the requested scopes, because ${name} needs it. ` +
      `Requested: ${requested.join(" ")}. Add it to the option scopes, or to CREDIT_DATA_SCOPES`
  ))
}

/** The client that sends the requests, and only to this origin. */
const transport = (
  { transformClient }: Options,
  client: HttpClient.HttpClient,
  { origin }: Base
): HttpClient.HttpClient => {
  const start = `${origin}/`
  const sealed = Transport.sealed(client, {
    isAllowed: (url) => url.startsWith(start) || (URL.canParse(url) && new URL(url).origin === origin),
    lastStep: keepScope,
    // two regions cost as much as the rest of a call, and the span of the call is one already
    restoresSettings: transformClient !== undefined
  })
  return transformClient?.(sealed) ?? sealed
}

/** One call, from the request of its caller to the response that the caller gets. */
interface Call {
  /** The caller's request. `HttpClient.withScope` finds its scope by the identity of this object. */
  readonly original: Request
  /** The caller's request with its absolute URL. */
  readonly request: Request
  /** The span of the call. */
  readonly observed: Observed.Observed
  /** The time that it has waited for tokens. */
  readonly timer: WaitTimer
  /** How often the request was sent again. */
  resends: number
  /** How often the request was sent again because its connection had been closed. */
  closedConnections: number
}

/** A call is sent again at most this often because of closed connections. */
const mostClosedConnections = 3

/** A response of the API. */
interface Received {
  readonly status: number
  /** The result of the call if no other response follows. A client can turn a status into an error. */
  readonly end: Effect.Effect<Response, GroupClientError>
  /** Reads the response, so that its connection can be used while the call waits. Returns the same result. */
  readonly release: () => Effect.Effect<Effect.Effect<Response, GroupClientError>>
}

const received = (
  sent: Sent,
  response: Response,
  end: (response: Response) => Effect.Effect<Response, GroupClientError>
): Received => ({
  status: response.status,
  end: end(forCaller(sent, response)),
  release: () => Effect.map(release(response), (body) => end(forCaller(sent, response, body)))
})

const resend = (call: Call) =>
  Effect.sync(() => {
    call.resends++
    call.observed.annotate("http.request.resend_count", call.resends)
  })

/** The client of one endpoint group: every request goes to the base URL, with a token that covers the group. */
export const make = Effect.fnUntraced(
  function*(
    options: Options
  ): Effect.fn.Return<GroupClient, ConfigError.ConfigError, AccessTokens.AccessTokens | HttpClient.HttpClient> {
    const tokens = yield* AccessTokens.AccessTokens
    yield* checkRequestedScopes(options, tokens)
    const environment = yield* Validation.environment(tokens.environment)
    const base = parseBase(environment.baseUrl)
    const client = transport(options, yield* HttpClient.HttpClient, base)
    const clock = yield* Effect.clock
    const budget = ResendBudget.make(clock)
    const spanOptions = { environment: environment.name, group: options.name, base, clock }
    const { scope } = options
    yield* tokens.registerClient(Option.fromNullable(scope))
    /** The scope of the group, if the token does not cover it. */
    const missingScope = (token: AccessToken.AccessToken) =>
      scope === undefined || token.covers(scope) ? undefined : scope
    const insufficient = (needed: AccessScope.AccessScope, token: AccessToken.AccessToken, wasSent: boolean) =>
      Effect.flatMap(tokens.reportMissingScope(needed), (nextTryAt) =>
        Effect.fail(
          new InsufficientScope({
            environment: environment.name,
            needed,
            granted: token.scopes,
            nextTryAt,
            ...(wasSent && { wasSent })
          })
        ))

    /** Sends the authorized request. The response refers to the caller's request instead. */
    const send = (call: Call, sent: Sent, authorized: Request): Effect.Effect<Received, GroupClientError> =>
      Effect.matchCauseEffect(inScopeOf(call.original)(client.execute(authorized)), {
        onSuccess: (response) => Effect.succeed(received(sent, response, Effect.succeed)),
        onFailure: (cause) => {
          const failure = Cause.failureOption(cause)
          if (Option.isSome(failure) && Transport.isStatusError(failure.value)) {
            const error = failure.value
            return Effect.succeed(
              received(sent, error.response, (response) => Effect.fail(responseError(sent, error, response)))
            )
          }
          if (
            call.closedConnections < mostClosedConnections && Option.isSome(failure) &&
            isClosedConnection(failure.value, call.request) && budget.take()
          ) {
            call.closedConnections++
            // waits one turn of the event loop, in which the transport detects its other closed connections
            return Effect.zipRight(Effect.delay(resend(call), 0), send(call, sent, authorized))
          }
          return Effect.failCause(causeForCaller(sent)(cause))
        }
      })

    const sendWith = (call: Call, token: AccessToken.AccessToken) =>
      send(
        call,
        { request: call.request, secrets: [token.secret] },
        HttpClientRequest.bearerToken(call.request, token.secret)
      )

    /** Replaces the rejected token and sends the request again, if there is a replacement and the body allows it. */
    const rejected = Effect.fnUntraced(
      function*(call: Call, token: AccessToken.AccessToken, { end, release }: Received) {
        if (!canBeSentAgain(call.request.body)) {
          yield* tokens.invalidate(token)
          return yield* end
        }
        // an unread response keeps its connection, which may be the one that the token request waits for
        const ownEnd = yield* release()
        const replacement = yield* Effect.option(call.timer.measured(tokens.replace(token)))
        if (Option.isNone(replacement) || Equal.equals(replacement.value.secret, token.secret)) return yield* ownEnd
        const other = replacement.value
        const missing = missingScope(other)
        if (missing !== undefined) return yield* insufficient(missing, other, true)
        yield* resend(call)
        call.observed.annotate("credit_data.token.replaced", true)
        const again = yield* sendWith(call, other)
        // the supply shows and reports a replacement that does not work either; it is this call's last try
        if (again.status === 401) yield* tokens.invalidate(other)
        return yield* again.end
      }
    )

    const authenticated = (call: Call): Effect.Effect<Response, GroupClientError> =>
      Effect.flatMap(call.timer.measured(tokens.get), (token) => {
        const missing = missingScope(token)
        return missing === undefined
          ? Effect.flatMap(
            sendWith(call, token),
            (first) =>
              first.status === 401 ? Effect.zipRight(call.observed.restore(), rejected(call, token, first)) : first.end
          )
          : insufficient(missing, token, false)
      })

    /** Sends the request with the caller's own Authorization header, which is as secret as our token. */
    const asItIs = (call: Call): Effect.Effect<Response, GroupClientError> => {
      const { authorization } = call.original.headers
      const secrets = authorization === undefined ? [] : [Redacted.make(authorization)]
      return Effect.flatMap(send(call, { request: call.request, secrets }, call.request), ({ end }) => end)
    }

    return Transport.opaque((original) =>
      Either.match(target(base, original.url), {
        onLeft: (description) =>
          Effect.fail(new HttpClientError.RequestError({ request: original, reason: "InvalidUrl", description })),
        onRight: (url) => {
          const absolute = HttpClientRequest.setUrl(original, url)
          return inSpan(spanOptions, absolute, (observed, timer) => {
            const request = options.propagateTrace === true
              ? HttpClientRequest.setHeaders(absolute, Observed.traceHeaders(observed.span))
              : absolute
            const call: Call = { original, request, observed, timer, resends: 0, closedConnections: 0 }
            budget.sent()
            return "authorization" in original.headers ? asItIs(call) : authenticated(call)
          })
        }
      })
    )
  }
)
