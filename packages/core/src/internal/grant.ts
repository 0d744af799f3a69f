import * as Schema from "effect/Schema"
import type { AccessScope } from "../AccessScope.ts"

/** What an access token response grants, besides the token's text and its lifetime. */
export interface Grant {
  /** The scopes that were granted, with the names that the server uses. */
  readonly scopes: ReadonlyArray<string>
  /** The scopes of the service that the token covers, if the names of the granted scopes do not show it. Default: `scopes`. */
  readonly covered?: ReadonlyArray<AccessScope> | undefined
}

/** How a store of tokens keeps a grant. A newer version may have stored scopes that this one does not have. */
export const storedGrant = {
  scopes: Schema.Array(Schema.String),
  covered: Schema.optional(Schema.Array(Schema.String))
} satisfies Readonly<Record<keyof Grant, unknown>>
