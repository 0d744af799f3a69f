import * as Either from "effect/Either"
import { pipe } from "effect/Function"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import type { ResponseRule } from "../../TokenError.ts"

type Ruled<A> = Either.Either<A, ResponseRule>

/** Parses the JSON object in a body. The failure is only the name of the broken rule, so that nothing of the body is kept. */
export const parseObject = (body: Uint8Array): Ruled<object> =>
  pipe(
    Either.try({ try: () => new TextDecoder("utf-8", { fatal: true }).decode(body), catch: () => "Utf8" as const }),
    Either.flatMap((text) => Either.try({ try: (): unknown => JSON.parse(text), catch: () => "Json" as const })),
    Either.filterOrLeft(
      (json): json is object => Predicate.isRecord(json),
      () => "Object" as const
    )
  )

const property = (object: object, name: string): unknown =>
  Predicate.hasProperty(object, name) ? object[name] : undefined

/** The content of an OAuth error body (contract, section 2). */
export interface OAuthError {
  readonly error?: string | undefined
  readonly description?: string | undefined
  /** The tokens in the same body. None of them may be shown. */
  readonly tokens: ReadonlyArray<string>
}

const textOf = (value: unknown): string | undefined => Predicate.isString(value) && value !== "" ? value : undefined

/** The fields of an OAuth error, if the response has them. */
export const oauthError = (object: object): OAuthError => ({
  error: textOf(property(object, "error")),
  description: textOf(property(object, "error_description")),
  tokens: ["access_token", "refresh_token", "id_token"].flatMap((name) => textOf(property(object, name)) ?? [])
})

/** The fields of a token response that are used. */
export interface TokenResponse {
  readonly accessToken: Redacted.Redacted
  /** In seconds. */
  readonly expiresIn: number | undefined
  readonly scope: string | undefined
}

/** The text, if it matches and is not too long. */
const matching = (value: unknown, pattern: RegExp, maxLength: number): string | undefined =>
  Predicate.isString(value) && value.length <= maxLength && pattern.test(value) ? value : undefined

/** A number of seconds. Some servers send it as text. */
const secondsOf = (value: unknown): number | undefined => {
  const seconds = Predicate.isString(value) && /^\d+$/.test(value) ? Number(value) : value
  return Predicate.isNumber(seconds) && Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined
}

/**
 * Decodes the access token response of the contract, section 2. `expires_in` and `scope` may be missing (RFC 6749, section
 * 5.1), and `null` counts as missing. Other fields are ignored.
 */
export const decode = (object: object): Ruled<TokenResponse> => {
  // a token must fit into a header: visible ASCII (RFC 6749, appendix A.12, without the space)
  const accessToken = matching(property(object, "access_token"), /^[\x21-\x7e]+$/, 64 * 1024)
  if (accessToken === undefined) return Either.left("AccessToken")
  if (matching(property(object, "token_type"), /^bearer$/i, 6) === undefined) return Either.left("TokenType")
  const givenSeconds = property(object, "expires_in")
  const expiresIn = secondsOf(givenSeconds)
  if (expiresIn === undefined && !Predicate.isNullable(givenSeconds)) return Either.left("ExpiresIn")
  const givenScope = property(object, "scope")
  const scope = matching(givenScope, /^[\x20-\x7e]*$/, 16 * 1024)
  if (scope === undefined && !Predicate.isNullable(givenScope)) return Either.left("Scope")
  return Either.right({ accessToken: Redacted.make(accessToken), expiresIn, scope })
}
