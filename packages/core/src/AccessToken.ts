/**
 * The access token, a value that never prints its secret.
 *
 * @since 1.0.0
 */
import * as Data from "effect/Data"
import * as DateTime from "effect/DateTime"
import type * as Redacted from "effect/Redacted"
import type { AccessScope } from "./AccessScope.ts"
import type { Grant } from "./internal/grant.ts"

/**
 * An access token that the token endpoint issued (service contract, section 2). To compare the text of two tokens, compare their
 * `secret` with `Equal.equals`.
 *
 * It has no Schema on purpose, so that a token is not turned into text that could be logged.
 *
 * @since 1.0.0
 * @category models
 */
export class AccessToken extends Data.Class<
  Grant & {
    /** The text that goes into the `Authorization` header. Its type is not accepted as a client secret. */
    readonly secret: Redacted.Redacted & { readonly "~use"?: "access token" }
    /** When the token request was sent. The lifetime counts from here. */
    readonly requestedAt: DateTime.Utc
    /** The first instant at which the token must not be sent any more. */
    readonly expiresAt: DateTime.Utc
  }
> {
  /**
   * The type of the token, for the `Authorization` header.
   *
   * @since 1.0.0
   */
  readonly tokenType = "Bearer"

  /**
   * Returns whether the token has expired at this instant.
   *
   * @since 1.0.0
   */
  isExpiredAt(instant: DateTime.DateTime): boolean {
    return DateTime.greaterThanOrEqualTo(instant, this.expiresAt)
  }

  /**
   * Returns whether the token may be used for the endpoint group of this scope. Always true for a token of Auth V1, because the server
   * decides.
   *
   * @since 1.0.0
   */
  covers(scope: AccessScope): boolean {
    const covered: ReadonlyArray<string> = this.covered ?? this.scopes
    return covered.includes(scope)
  }

  /**
   * Returns the requested scopes that the token does not cover. None if no scopes were requested.
   *
   * @since 1.0.0
   */
  missing(requestedScopes: ReadonlyArray<AccessScope>): ReadonlyArray<AccessScope> {
    return requestedScopes.filter((scope) => !this.covers(scope))
  }
}
