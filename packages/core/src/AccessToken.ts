/**
 * The access token, a value that never prints its secret.
 *
 * @since 1.0.0
 */
import * as Data from "effect/Data"
import * as DateTime from "effect/DateTime"
import type * as Redacted from "effect/Redacted"
import type { AccessScope } from "./AccessScope.ts"

/**
 * How a token is judged to cover a scope. `GrantedScopes`: it covers the scopes that its scope field lists. `AnyScope`:
 * its scope names can't be mapped to the three scopes, so the server decides.
 *
 * @since 1.0.0
 * @category models
 */
export type Coverage = "GrantedScopes" | "AnyScope"

/**
 * An access token as the token endpoint gave it out (service contract, section 2). Two tokens are equal when all their
 * fields are.
 *
 * It has no Schema on purpose: nothing here turns a token into text that could be stored or logged.
 *
 * @since 1.0.0
 * @category models
 */
export class AccessToken extends Data.Class<{
  /** The text that goes into the `Authorization` header. */
  readonly secret: Redacted.Redacted
  /** The scopes that were granted, named as the server names them. */
  readonly scopes: ReadonlyArray<string>
  /** When the request for it was sent; its lifetime counts from here. */
  readonly requestedAt: DateTime.Utc
  /** The first instant at which it must not be sent any more. */
  readonly expiresAt: DateTime.Utc
  /** How `covers` judges. */
  readonly coverage: Coverage
}> {
  /**
   * The one type of token that the service gives out.
   *
   * @since 1.0.0
   */
  readonly tokenType = "Bearer"

  /**
   * Has it expired at this instant?
   *
   * @since 1.0.0
   */
  isExpiredAt(instant: DateTime.DateTime): boolean {
    return DateTime.greaterThanOrEqualTo(instant, this.expiresAt)
  }

  /**
   * May it be used for the endpoint group of this scope? A token with the coverage `AnyScope` always may, as far as we can tell.
   *
   * @since 1.0.0
   */
  covers(scope: AccessScope): boolean {
    return this.coverage === "AnyScope" || this.scopes.includes(scope)
  }
}
