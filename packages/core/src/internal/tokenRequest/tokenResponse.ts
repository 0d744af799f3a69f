import * as Either from "effect/Either"
import { pipe } from "effect/Function"
import type * as Redacted from "effect/Redacted"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type { ResponseRule } from "../../TokenError.ts"

type Ruled<A> = Either.Either<A, ResponseRule>

/** A token must fit into a header: visible ASCII (RFC 6749, appendix A.12, without the space). */
const AccessTokenText = Schema.String.pipe(Schema.maxLength(64 * 1024), Schema.pattern(/^[\x21-\x7e]+$/))

const BearerText = Schema.String.pipe(Schema.pattern(/^bearer$/i))

const Seconds = Schema.Finite.pipe(Schema.nonNegative())

/** Some servers send the number as text. */
const ExpiresIn = Schema.Union(
  Seconds,
  Schema.String.pipe(Schema.pattern(/^\d+$/), Schema.compose(Schema.NumberFromString), Schema.compose(Seconds))
)

const ScopeText = Schema.String.pipe(Schema.maxLength(16 * 1024), Schema.pattern(/^[\x20-\x7e]*$/))

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
  readonly expiresIn: number | null | undefined
  readonly scope: string | null | undefined
}

/**
 * Decodes the access token response of the contract, section 2. `expires_in` and `scope` may be missing (RFC 6749, section
 * 5.1), and `null` counts as missing. Other fields are ignored.
 */
export const decode = (object: object): Ruled<TokenResponse> => {
  const read = <A, I>(name: string, schema: Schema.Schema<A, I>, rule: ResponseRule): Ruled<A> =>
    Either.mapLeft(Schema.decodeUnknownEither(schema)(property(object, name)), () => rule)
  return Either.all({
    accessToken: read("access_token", Schema.Redacted(AccessTokenText), "AccessToken"),
    tokenType: read("token_type", BearerText, "TokenType"),
    expiresIn: read("expires_in", Schema.NullishOr(ExpiresIn), "ExpiresIn"),
    scope: read("scope", Schema.NullishOr(ScopeText), "Scope")
  })
}
