import type * as Arr from "effect/Array"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import { pipe } from "effect/Function"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type { AccessScope } from "../AccessScope.ts"
import { AccessToken, type Coverage } from "../AccessToken.ts"
import {
  InvalidClient,
  InvalidResponse,
  type ResponseRule,
  ServerError,
  type TokenError,
  TransportError
} from "../TokenError.ts"
import type { Answer } from "./exchange.ts"
import * as retryAfter from "./retryAfter.ts"
import { printable, shows } from "./serverText.ts"
import * as tokenResponse from "./tokenResponse.ts"

/** The lifetime of a token whose answer doesn't tell it: short, for the truth is unknown. */
export const unknownLifetime = Duration.minutes(5)

/** However long a server says that its token lives, it is taken to live no longer than this. */
const longestLifetime = Duration.days(7)

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
  /** The answer told how long the token lives. */
  readonly lifetimeKnown: boolean
}

const broken = (answer: Answer, asked: Asked) => (rule: ResponseRule) =>
  new InvalidResponse({ ...asked.where, status: answer.status, rule })

const unsuccessful = (answer: Answer, asked: Asked, told: tokenResponse.OAuthError): TokenError => {
  const said = (text: string | undefined) =>
    text === undefined ? undefined : printable(text, [Redacted.value(asked.clientSecret), ...told.tokens])
  const fields = {
    ...asked.where,
    status: answer.status,
    error: said(told.error),
    description: said(told.description)
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

/** Scopes are shown to people: a server that echoes a secret in them is none that keeps the contract. */
const echoesSecret = ({ clientSecret }: Asked, { scope }: tokenResponse.TokenResponse, tokens: ReadonlyArray<string>) =>
  scope !== undefined &&
  shows(scope, [Redacted.value(clientSecret), ...tokens].filter((secret) => secret.length >= 8))

const grant = (asked: Asked) => (response: tokenResponse.TokenResponse): Granted => {
  const lifetime = response.expiresIn === undefined
    ? unknownLifetime
    : Duration.min(Duration.seconds(response.expiresIn), longestLifetime)
  const scopes = response.scope === undefined
    ? Option.getOrElse(asked.requestedScopes, () => [])
    : response.scope.split(" ").filter((name) => name !== "")
  return {
    token: new AccessToken({
      secret: response.accessToken,
      scopes,
      requestedAt: asked.requestedAt,
      expiresAt: DateTime.addDuration(asked.requestedAt, lifetime),
      coverage: asked.coverage
    }),
    lifetimeKnown: response.expiresIn !== undefined
  }
}

const successful = (answer: Answer, asked: Asked): Either.Either<Granted, TokenError> =>
  pipe(
    answer.body,
    Either.mapLeft((cause) =>
      cause === "Size" ? broken(answer, asked)(cause) : new TransportError({ ...asked.where, reason: cause })
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
      () => broken(answer, asked)("Expired")
    )
  )

/** What an answer means: the status decides first, the body second. */
export const classify = (answer: Answer, asked: Asked): Either.Either<Granted, TokenError> => {
  if (answer.status === 200) return successful(answer, asked)
  if (answer.status < 400) {
    return Either.left(broken(answer, asked)(answer.status >= 300 ? "Redirect" : "Status"))
  }
  const told = pipe(
    answer.body,
    Either.flatMap(tokenResponse.parseObject),
    Either.match({ onLeft: () => ({ tokens: [] }), onRight: tokenResponse.oauthError })
  )
  return Either.left(unsuccessful(answer, asked, told))
}
