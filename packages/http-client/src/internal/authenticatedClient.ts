import type * as AccessScope from "@credit-data/core/AccessScope"
import type * as AccessToken from "@credit-data/core/AccessToken"
import * as AccessTokens from "@credit-data/core/AccessTokens"
import * as Environment from "@credit-data/core/Environment"
import * as Transport from "@credit-data/core/Transport"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as HttpTraceContext from "@effect/platform/HttpTraceContext"
import * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Equal from "effect/Equal"
import * as Option from "effect/Option"
import type * as Tracer from "effect/Tracer"
import type { GroupClient, GroupClientError, Settings } from "../GroupClient.ts"
import { InsufficientScope } from "../InsufficientScope.ts"
import { canBeSentAgain, discard } from "./body.ts"
import { inSpan } from "./callSpan.ts"
import { inScopeOf, keepScope } from "./requestScope.ts"
import { causeForCaller, forCaller } from "./response.ts"
import { type Base, parseBase, target } from "./target.ts"

type Request = HttpClientRequest.HttpClientRequest
type Response = HttpClientResponse.HttpClientResponse

interface Options {
  readonly group: string
  readonly scope: AccessScope.AccessScope
  readonly settings: Settings
}

const checkRequestedScopes = ({ group, scope }: Options, tokens: AccessTokens.Service) => {
  const requested = Option.getOrElse(tokens.requestedScopes, () => [scope])
  return requested.includes(scope) ? Either.void : Either.left(ConfigError.InvalidData(
    ["scopes"],
    `Expected ${scope} among the scopes that are asked for, which are ${requested.join(" ")}: ${group} needs it`
  ))
}

const isOf = (base: Base, url: string): boolean =>
  url.startsWith(`${base.origin}/`) || (URL.canParse(url) && new URL(url).origin === base.origin)

/** The client that sends, to one origin alone. It is used within `inSpan`, which ends what `dontFollowRedirects` has set. */
const transport = ({ settings }: Options, client: HttpClient.HttpClient, base: Base): HttpClient.HttpClient => {
  const manual = HttpClient.mapRequestEffect(
    client,
    (request) => Effect.zipRight(Transport.dontFollowRedirects, keepScope(request))
  )
  // sealed, so that what is set within the client is set where its own options are known
  const sealed = HttpClient.makeWith<never, never, HttpClientError.HttpClientError, never>(
    Effect.flatMap((request) =>
      isOf(base, request.url) ? manual.execute(request) : Effect.fail(
        new HttpClientError.RequestError({ request, reason: "InvalidUrl", description: `Not of ${base.origin}` })
      )
    ),
    Effect.succeed
  )
  return settings.transformClient?.(sealed) ?? sealed
}

/** The client of one endpoint group: every request goes beneath the base URL, with a token that covers the group. */
export const make = Effect.fnUntraced(
  function*(
    options: Options
  ): Effect.fn.Return<GroupClient, ConfigError.ConfigError, AccessTokens.AccessTokens | HttpClient.HttpClient> {
    const tokens = yield* AccessTokens.AccessTokens
    yield* checkRequestedScopes(options, tokens)
    const environment = yield* Environment.validate(tokens.environment)
    const base = parseBase(environment.baseUrl)
    const client = transport(options, yield* HttpClient.HttpClient, base)

    const token = Effect.flatMap(
      tokens.get,
      (token) =>
        token.covers(options.scope) ? Effect.succeed(token) : Effect.fail(
          new InsufficientScope({ environment: environment.name, needed: options.scope, granted: token.scopes })
        )
    )

    /** Sends one request, and answers as to the request without the token. */
    const send = (original: Request, request: Request, token: AccessToken.AccessToken) =>
      Effect.matchCauseEffect(
        inScopeOf(original)(client.execute(HttpClientRequest.bearerToken(request, token.secret))),
        {
          onFailure: (cause) => Effect.failCause(causeForCaller(request)(cause)),
          onSuccess: (sent) => Effect.succeed(forCaller(request, sent))
        }
      )

    /** A token was rejected: renews it, and repeats the request once, if that makes sense. */
    const repeat = Effect.fnUntraced(function*(
      original: Request,
      request: Request,
      span: Option.Option<Tracer.Span>,
      rejected: AccessToken.AccessToken,
      response: Response
    ) {
      yield* tokens.invalidate(rejected)
      if (!canBeSentAgain(request.body)) return response
      const renewed = yield* Effect.onError(token, () => discard(response))
      if (Equal.equals(renewed.secret, rejected.secret)) return response
      yield* discard(response)
      if (Option.isSome(span)) span.value.attribute("credit_data.repeated", true)
      return yield* send(original, request, renewed)
    })

    const call = (original: Request, request: Request, span: Option.Option<Tracer.Span>) =>
      Effect.flatMap(token, (first) =>
        Effect.flatMap(
          send(original, request, first),
          (response): Effect.Effect<Response, GroupClientError> =>
            response.status === 401 ? repeat(original, request, span, first, response) : Effect.succeed(response)
        ))

    const execute = (original: Request): Effect.Effect<Response, GroupClientError> => {
      const where = target(base, original.url)
      if (Either.isLeft(where)) {
        const description = where.left
        return Effect.fail(new HttpClientError.RequestError({ request: original, reason: "InvalidUrl", description }))
      }
      const absolute = HttpClientRequest.setUrl(original, where.right)
      return inSpan(options.group, base, absolute, (span) => {
        const request = options.settings.propagateTrace === true && Option.isSome(span)
          ? HttpClientRequest.setHeaders(absolute, HttpTraceContext.toHeaders(span.value))
          : absolute
        const response: Effect.Effect<Response, GroupClientError> = "authorization" in original.headers
          ? inScopeOf(original)(client.execute(request))
          : call(original, request, span)
        return Option.isNone(span) ? response : Effect.map(response, (response) => {
          span.value.attribute("http.response.status_code", response.status)
          return response
        })
      })
    }

    return HttpClient.makeWith<never, never, GroupClientError, never>(Effect.flatMap(execute), Effect.succeed)
  }
)
