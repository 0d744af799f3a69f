/**
 * The error of a call whose token does not cover its endpoint group.
 *
 * @since 1.0.0
 */
import * as AccessScope from "@credit-data/core/AccessScope"
import { clientOf, firstScopes, ownMessage, printableScopes, shownClientId } from "@credit-data/core/Internal"
import * as DateTime from "effect/DateTime"
import * as Schema from "effect/Schema"

const messageOf = (
  { clientId, environment, granted, needed, nextTryAt, wasSent }: {
    readonly environment: string
    readonly clientId?: string | undefined
    readonly needed: AccessScope.AccessScope
    readonly granted: ReadonlyArray<string>
    readonly nextTryAt?: DateTime.Utc | undefined
    readonly wasSent?: boolean | undefined
  }
): string => {
  const sent = wasSent === true
    ? "The request had been sent with an earlier token, and was not sent again."
    : "Nothing was sent."
  const next = nextTryAt === undefined
    ? ""
    : ` The next token request for this scope is not sent before ${DateTime.formatIso(nextTryAt)}.`
  return `The token of ${clientOf(environment, clientId)} does not cover ${needed}: the server granted ${
    granted.length === 0 ? "no scope" : printableScopes(granted)
  }. ${sent} Ask the operator to grant ${needed} to this client.${next}`
}

/**
 * The server granted a token that does not cover the endpoint group of the call (service contract, section 5, point 4). Nothing was sent,
 * except where `wasSent` is true: after a 401 or a reset of the connection, the next token covers less than the one that was sent.
 *
 * @since 1.0.0
 * @category errors
 */
export class InsufficientScope extends ownMessage(
  Schema.TaggedError<InsufficientScope>()("InsufficientScope", {
    /** The name of the environment. */
    environment: Schema.String,
    /** The id of the client for which the token was requested. Absent if the token endpoint has no client. */
    clientId: Schema.optional(Schema.String),
    /** The scope that the endpoint group needs. */
    needed: AccessScope.AccessScope,
    /** The scopes that were granted. */
    granted: Schema.Array(Schema.String),
    /** Because of this scope, no further token is requested before this instant. */
    nextTryAt: Schema.optional(Schema.DateTimeUtc),
    /** The request had been sent with an earlier token. The present token does not cover the endpoint group. */
    wasSent: Schema.optional(Schema.Boolean)
  })
) {
  /**
   * What `JSON.stringify` prints, with at most ten of the granted scopes.
   *
   * @since 1.0.0
   */
  override toJSON(): object {
    return {
      ...this,
      ...(this.clientId !== undefined && { clientId: shownClientId(this.clientId) }),
      granted: firstScopes(this.granted),
      message: this.message
    }
  }

  /**
   * What happened and what to do.
   *
   * @since 1.0.0
   */
  override readonly message: string = messageOf(this)
}
