import type * as Arr from "effect/Array"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import { pipe } from "effect/Function"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
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
import type { Answer } from "./exchange.ts"
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

/** The request that was answered. */
export interface Asked {
  readonly where: { readonly environment: string; readonly tokenEndpoint: string }
  readonly clientSecret: Redacted.Redacted
  readonly requestedScopes: Option.Option<Arr.NonEmptyReadonlyArray<AccessScope>>
  readonly coverage: Coverage
  readonly requestedAt: DateTime.Utc
  readonly answeredAt: DateTime.Utc
}

interface Granted {
  readonly token: AccessToken
  /** The answer had `expires_in`. */
  readonly lifetimeKnown: boolean
}

const broken = (answer: Answer, asked: Asked) => (rule: ResponseRule) =>
  new InvalidResponse({ ...asked.where, status: answer.status, rule })

const unsuccessful = (answer: Answer, asked: Asked, told: tokenResponse.OAuthError): TokenError => {
  const secrets = [Redacted.value(asked.clientSecret), ...told.tokens]
  const fields = {
    ...asked.where,
    status: answer.status,
    error: told.error === undefined ? undefined : printableCode(told.error, secrets),
    description: told.description === undefined ? undefined : printable(told.description, secrets)
  }
  const isClientRefused = answer.status === 401 ||
    ((answer.status === 400 || answer.status === 403) && told.error === "invalid_client")
  return isClientRefused ? new InvalidClient(fields) : new ServerError({
    ...fields,
    retryAfter: answer.retryAfter.pipe(
      Option.flatMap((header) => retryAfter.parse(header, asked.answeredAt)),
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
const echoesSecret = (asked: Asked, { scope }: tokenResponse.TokenResponse, tokens: ReadonlyArray<string>): boolean => {
  const requested: ReadonlySet<string> = new Set(Option.getOrElse(asked.requestedScopes, () => []))
  const others = scopeNames(scope ?? "").filter((name) => !requested.has(name))
  return others.length > 0 && shows(
    others.join(" "),
    [Redacted.value(asked.clientSecret), ...tokens].filter((secret) => secret.length >= shortestEcho)
  )
}

const scopeNames = (scope: string): ReadonlyArray<string> => scope.split(" ").filter((name) => name !== "")

const grant = (asked: Asked) => (response: tokenResponse.TokenResponse): Granted => {
  const lifetime = Predicate.isNullable(response.expiresIn)
    ? unknownLifetime
    : usableFor(response.expiresIn)
  const scopes = Predicate.isNullable(response.scope)
    ? Option.getOrElse(asked.requestedScopes, () => [])
    : scopeNames(response.scope).map(printableScope)
  return {
    token: new AccessToken({
      secret: response.accessToken,
      scopes,
      requestedAt: asked.requestedAt,
      expiresAt: DateTime.addDuration(asked.requestedAt, lifetime),
      coverage: asked.coverage
    }),
    lifetimeKnown: !Predicate.isNullable(response.expiresIn)
  }
}

const successful = (answer: Answer, asked: Asked): Either.Either<Granted, TokenError> =>
  pipe(
    answer.body,
    Either.mapLeft((cause) =>
      cause === "Size" ? broken(answer, asked)(cause) : new TransportError({ ...asked.where, ...cause })
    ),
    Either.flatMap((body) => Either.mapLeft(tokenResponse.parseObject(body), broken(answer, asked))),
    Either.flatMap((object): Either.Either<tokenResponse.TokenResponse, TokenError> => {
      const told = tokenResponse.oauthError(object)
      return told.error === undefined
        ? tokenResponse.decode(object).pipe(
          Either.filterOrLeft((response) => !echoesSecret(asked, response, told.tokens), () => "Scope" as const),
          Either.mapLeft(broken(answer, asked))
        )
        : Either.left(unsuccessful(answer, asked, told))
    }),
    Either.map(grant(asked)),
    Either.filterOrLeft(
      ({ token }) => !token.isExpiredAt(asked.answeredAt),
      ({ token }) =>
        expired(
          asked.where,
          token,
          DateTime.toEpochMillis(asked.answeredAt) - DateTime.toEpochMillis(asked.requestedAt)
        )
    )
  )

/** Classifies an answer, first by its status and then by its body. */
export const classify = (answer: Answer, asked: Asked): Either.Either<Granted, TokenError> => {
  if (answer.status === 200) return successful(answer, asked)
  if (answer.status < 400) {
    return Either.left(broken(answer, asked)(answer.status >= 300 && answer.status !== 304 ? "Redirect" : "Status"))
  }
  // no authorization server sends a 407: a proxy on the way requires its own credentials
  if (answer.status === 407) {
    return Either.left(new TransportError({ ...asked.where, reason: "Proxy", proxyStatus: answer.status }))
  }
  const told = pipe(
    answer.body,
    Either.flatMap(tokenResponse.parseObject),
    Either.match({ onLeft: () => ({ tokens: [] }), onRight: tokenResponse.oauthError })
  )
  return Either.left(unsuccessful(answer, asked, told))
}
