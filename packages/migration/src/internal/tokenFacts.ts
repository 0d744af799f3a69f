import type { AccessToken } from "@credit-data/core/AccessToken"
import type * as AccessTokens from "@credit-data/core/AccessTokens"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"

/** What is known about a token, without the token. */
export const of = (token: AccessToken, { requestedScopes }: AccessTokens.Service) => ({
  scopes: token.scopes,
  missingScopes: token.missing(requestedScopes),
  lifetime: Duration.millis(DateTime.distance(token.requestedAt, token.expiresAt))
})
