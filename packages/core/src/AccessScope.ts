/**
 * The scopes of the service, one for each endpoint group.
 *
 * @since 1.0.0
 */
import * as Arr from "effect/Array"
import type * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as configuration from "./internal/configuration.ts"
import * as field from "./internal/field.ts"

/**
 * The three scopes (service contract, section 4.1).
 *
 * @since 1.0.0
 * @category schemas
 */
export const AccessScope = Schema.Literal("data-access:all", "furnishment:all", "serviceplus:all")

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
export const all: Arr.NonEmptyReadonlyArray<AccessScope> = AccessScope.literals

/**
 * Is this text one of the three scopes?
 *
 * @since 1.0.0
 * @category guards
 */
export const isAccessScope: (u: unknown) => u is AccessScope = Schema.is(AccessScope)

const expected = `one or more of ${all.join(", ")}, separated by spaces`

const parse = (names: Iterable<string>): field.Parsed<Arr.NonEmptyReadonlyArray<AccessScope>> => {
  const given = new Set(names)
  const known = all.filter((scope) => given.has(scope))
  return Arr.isNonEmptyReadonlyArray(known) && known.length === given.size
    ? Either.right(known)
    : Either.left(`Expected ${expected}`)
}

/**
 * Reads `CREDIT_DATA_SCOPES`: scopes separated by spaces, as in the contract. Order and duplicates do not matter.
 *
 * @since 1.0.0
 * @category config
 */
export const config: Config.Config<Arr.NonEmptyReadonlyArray<AccessScope>> = configuration.variable(
  { name: "CREDIT_DATA_SCOPES", what: "the scopes to request, separated by spaces", example: all.join(" ") },
  (text) => parse(text.split(/\s+/).filter((name) => name !== ""))
)

/**
 * Checks a list of scopes and returns each scope once, in the order of the contract.
 *
 * @since 1.0.0
 * @category validation
 */
export const validate = (
  scopes: Iterable<string>
): Either.Either<Arr.NonEmptyReadonlyArray<AccessScope>, ConfigError.ConfigError> => field.at(["scopes"])(parse(scopes))
