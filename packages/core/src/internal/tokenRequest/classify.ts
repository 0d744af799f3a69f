import type * as Arr from "effect/Array"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import { pipe } from "effect/Function"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type { AccessScope } from "../../AccessScope.ts"
import { AccessToken, type Coverage } from "../../AccessToken.ts"
import {
  InvalidClient,
  InvalidResponse,
  type ResponseRule,
  ServerError,
  type TokenError,
  TransportError
} from "../../TokenError.ts"
import { expired } from "../expired.ts"
import type { ServerResponse } from "./exchange.ts"
import { printable, printableCode, printableScope, shows } from "../foreignText.ts"
import * as retryAfter from "./retryAfter.ts"
import * as tokenResponse from "./tokenResponse.ts"

/** The lifetime of a token without `expires_in`: short, because the true lifetime is unknown. */
export const unknownLifetime = Duration.minutes(5)

/** A longer `expires_in` of the server is limited to this. */
const longestLifetime = Duration.days(7)

/**
 * The time for which a token with this lifetime may be sent. Servers round `iat` and `exp` down to whole seconds, so a token can
 * be rejected up to a second before it expires. Only this function subtracts a margin for that. All other code uses `expiresAt`
 * without a margin.
 */
const usableFor = (seconds: number): Duration.Duration => {
  const lifetime = Duration.seconds(Math.floor(seconds))
  const usable = Duration.subtract(lifetime, Duration.min(Duration.seconds(1), Duration.times(lifetime, 0.1)))
  return Duration.min(usable, longestLifetime)
}

/** What is known of a token request when its response arrives. */
export interface SentRequest {
  readonly where: { readonly environment: string; readonly tokenEndpoint: string }
  readonly clientSecret: Redacted.Redacted
  readonly requestedScopes: Option.Option<Arr.NonEmptyReadonlyArray<AccessScope>>
  readonly coverage: Coverage
  readonly requestedAt: DateTime.Utc
  readonly respondedAt: DateTime.Utc
}

interface Granted {
  readonly token: AccessToken
  /** The response had `expires_in`. */
  readonly lifetimeKnown: boolean
}

const broken = (response: ServerResponse, request: SentRequest) => (rule: ResponseRule) =>
  new InvalidResponse({ ...request.where, status: response.status, rule })

const unsuccessful = (
  response: ServerResponse,
  request: SentRequest,
  oauthError: tokenResponse.OAuthError
): TokenError => {
  const secrets = [Redacted.value(request.clientSecret), ...oauthError.tokens]
  const fields = {
    ...request.where,
    status: response.status,
    error: oauthError.error === undefined ? undefined : printableCode(oauthError.error, secrets),
    description: oauthError.description === undefined ? undefined : printable(oauthError.description, secrets)
  }
  const isClientRefused = response.status === 401 ||
    ((response.status === 400 || response.status === 403) && oauthError.error === "invalid_client")
  return isClientRefused ? new InvalidClient(fields) : new ServerError({
    ...fields,
    retryAfter: response.retryAfter.pipe(
      Option.flatMap((header) => retryAfter.parse(header, request.respondedAt)),
      Option.getOrUndefined
    )
  })
}

/** A shorter text can be in a scope by chance. */
const shortestEcho = 8

/**
 * A response that repeats a secret in its scope is outside the contract. The requested names are not secrets, so the usual response
 * needs no search.
 */
const echoesSecret = (
  request: SentRequest,
  { scope }: tokenResponse.TokenResponse,
  tokens: ReadonlyArray<string>
): boolean => {
  const requested: ReadonlySet<string> = new Set(Option.getOrElse(request.requestedScopes, () => []))
  const others = scopeNames(scope ?? "").filter((name) => !requested.has(name))
  return others.length > 0 && shows(
    others.join(" "),
    [Redacted.value(request.clientSecret), ...tokens].filter((secret) => secret.length >= shortestEcho)
  )
}

const scopeNames = (scope: string): ReadonlyArray<string> => scope.split(" ").filter((name) => name !== "")

const grant = (request: SentRequest) => ({ accessToken, expiresIn, scope }: tokenResponse.TokenResponse): Granted => {
  const lifetime = expiresIn === undefined ? unknownLifetime : usableFor(expiresIn)
  const scopes = scope === undefined
    ? Option.getOrElse(request.requestedScopes, () => [])
    : scopeNames(scope).map(printableScope)
  return {
    token: new AccessToken({
      secret: accessToken,
      scopes,
      requestedAt: request.requestedAt,
      expiresAt: DateTime.addDuration(request.requestedAt, lifetime),
      coverage: request.coverage
    }),
    lifetimeKnown: expiresIn !== undefined
  }
}

const successful = (response: ServerResponse, request: SentRequest): Either.Either<Granted, TokenError> =>
  pipe(
    response.body,
    Either.mapLeft((cause) =>
      cause === "Size" ? broken(response, request)(cause) : new TransportError({ ...request.where, ...cause })
    ),
    Either.flatMap((body) => Either.mapLeft(tokenResponse.parseObject(body), broken(response, request))),
    Either.flatMap((object): Either.Either<tokenResponse.TokenResponse, TokenError> => {
      const oauthError = tokenResponse.oauthError(object)
      return oauthError.error === undefined
        ? tokenResponse.decode(object).pipe(
          Either.filterOrLeft((granted) => !echoesSecret(request, granted, oauthError.tokens), () => "Scope" as const),
          Either.mapLeft(broken(response, request))
        )
        : Either.left(unsuccessful(response, request, oauthError))
    }),
    Either.map(grant(request)),
    Either.filterOrLeft(
      ({ token }) => !token.isExpiredAt(request.respondedAt),
      ({ token }) =>
        expired(
          request.where,
          token,
          DateTime.toEpochMillis(request.respondedAt) - DateTime.toEpochMillis(request.requestedAt)
        )
    )
  )

/** Classifies a response, first by its status and then by its body. */
export const classify = (response: ServerResponse, request: SentRequest): Either.Either<Granted, TokenError> => {
  if (response.status === 200) return successful(response, request)
  if (response.status < 400) {
    return Either.left(
      broken(response, request)(response.status >= 300 && response.status !== 304 ? "Redirect" : "Status")
    )
  }
  // no authorization server sends a 407: a proxy on the way requires its own credentials
  if (response.status === 407) {
    return Either.left(new TransportError({ ...request.where, reason: "Proxy", proxyStatus: response.status }))
  }
  const oauthError = pipe(
    response.body,
    Either.flatMap(tokenResponse.parseObject),
    Either.match({ onLeft: () => ({ tokens: [] }), onRight: tokenResponse.oauthError })
  )
  return Either.left(unsuccessful(response, request, oauthError))
}
