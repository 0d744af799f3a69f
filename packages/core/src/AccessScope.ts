/**
 * The scopes of the service, one for each endpoint group.
 *
 * @since 1.0.0
 */
import type * as Arr from "effect/Array"
import type * as Config from "effect/Config"
import * as Schema from "effect/Schema"
import * as configuration from "./internal/configuration.ts"
import * as validation from "./internal/validation.ts"

/**
 * The three scopes (service contract, section 4.1).
 *
 * @since 1.0.0
 * @category schemas
 */
export const AccessScope = Schema.Literal(...validation.allScopes)

/**
 * One of the three scopes: `data-access:all` for Data Access, `furnishment:all` for Furnishment and
 * `serviceplus:all` for Enablement Services.
 *
 * @since 1.0.0
 * @category models
 */
export type AccessScope = typeof AccessScope.Type

/**
 * All scopes, in the order of the contract.
 *
 * @since 1.0.0
 * @category constants
 */
export const all: Arr.NonEmptyReadonlyArray<AccessScope> = validation.allScopes

/**
 * Reads `CREDIT_DATA_SCOPES`: scopes separated by spaces, as in the contract. Order and duplicates do not matter.
 *
 * @since 1.0.0
 * @category config
 */
export const config: Config.Config<Arr.NonEmptyReadonlyArray<AccessScope>> = configuration.variable(
  { name: "CREDIT_DATA_SCOPES", what: "the scopes to request, separated by spaces", example: all.join(" ") },
  (text) => validation.scopes(text.split(/\s+/).filter((name) => name !== ""))
)
