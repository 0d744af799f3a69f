/**
 * The access token, a value that never prints its secret.
 *
 * @since 1.0.0
 */
import * as Data from "effect/Data"
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import type { AccessScope } from "./AccessScope.ts"

/**
 * How to decide whether a token covers a scope. `GrantedScopes`: the token covers the scopes that its scope field lists.
 * `AnyScope`: its scope names cannot be mapped to the three scopes, so the server decides.
 *
 * @since 1.0.0
 * @category models
 */
export type Coverage = "GrantedScopes" | "AnyScope"

/**
 * An access token that the token endpoint issued (service contract, section 2). Two tokens are equal when all their fields are
 * equal.
 *
 * It has no Schema on purpose: no function here turns a token into text that could be logged. `@credit-data/fleet` is the only
 * package that stores tokens. It seals them under a key that is derived from the client secret.
 *
 * @since 1.0.0
 * @category models
 */
export class AccessToken extends Data.Class<{
  /** The text that goes into the `Authorization` header. */
  readonly secret: Redacted.Redacted
  /** The scopes that were granted, with the names that the server uses. */
  readonly scopes: ReadonlyArray<string>
  /** When the token request was sent. The lifetime counts from here. */
  readonly requestedAt: DateTime.Utc
  /** The first instant at which the token must not be sent any more. */
  readonly expiresAt: DateTime.Utc
  /** How `covers` decides. */
  readonly coverage: Coverage
  /** Another process obtained the token, and this one took it from the store that they share. */
  readonly shared?: true | undefined
}> {
  /**
   * The only type of token that the service issues.
   *
   * @since 1.0.0
   */
  readonly tokenType = "Bearer"

  /**
   * Has the token expired at this instant?
   *
   * @since 1.0.0
   */
  isExpiredAt(instant: DateTime.DateTime): boolean {
    return DateTime.greaterThanOrEqualTo(instant, this.expiresAt)
  }

  /**
   * May the token be used for the endpoint group of this scope? Always true with the coverage `AnyScope`: the server decides.
   *
   * @since 1.0.0
   */
  covers(scope: AccessScope): boolean {
    return this.coverage === "AnyScope" || this.scopes.includes(scope)
  }

  /**
   * The requested scopes that the token does not cover. None if no scopes were requested, as with Auth V1.
   *
   * @since 1.0.0
   */
  missing(requestedScopes: Option.Option<ReadonlyArray<AccessScope>>): ReadonlyArray<AccessScope> {
    return Option.getOrElse(requestedScopes, () => []).filter((scope) => !this.covers(scope))
  }
}
