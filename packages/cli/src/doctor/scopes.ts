import type { AccessToken } from "@credit-data/core/AccessToken"
import * as Effect from "effect/Effect"
import type { Setup } from "./configuration.ts"
import { failed, type Failed, type Finding, ok } from "./step.ts"

const list = (scopes: ReadonlyArray<string>): string => scopes.length === 0 ? "none" : scopes.join(", ")

/** Compares the granted scopes with the requested ones. V1 has no requested ones, so nothing can be missing there. */
export const check = ({ requestedScopes }: Setup, token: AccessToken): Effect.Effect<Finding, Failed> => {
  const missing = token.missing(requestedScopes)
  return missing.length === 0
    ? Effect.succeed(ok(`granted: ${list(token.scopes)}`, undefined))
    : failed(
      `missing: ${list(missing)}; granted: ${list(token.scopes)}`,
      `Ask the operator to grant ${
        list(missing)
      } to this client, or remove what you do not need from CREDIT_DATA_SCOPES.`
    )
}
