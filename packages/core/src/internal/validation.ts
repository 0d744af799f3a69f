import type * as Arr from "effect/Array"
import type * as ConfigError from "effect/ConfigError"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import type { AccessScope } from "../AccessScope.ts"
import type { ClientCredentials } from "../ClientCredentials.ts"
import type { Environment } from "../Environment.ts"
import { clientSecret } from "./clientSecret.ts"
import * as field from "./field.ts"
import * as scopeList from "./scopeList.ts"
import { secureUrl } from "./secureUrl.ts"

// What a program gives as a value is checked by the same rules as a variable. The error names the field and never shows its value.

const redactedSecret = (secret: unknown): field.Parsed<Redacted.Redacted> =>
  Redacted.isRedacted(secret) ? clientSecret(Redacted.value(secret)) : Either.left("Expected a Redacted")

/** Drops one line break at the end of the secret. */
export const credentials = (
  given: ClientCredentials
): Either.Either<ClientCredentials, ConfigError.ConfigError> => {
  // an effect without types may have returned anything
  if (!Predicate.isRecord(given)) return field.at(["credentials"])(Either.left("Expected a client id and secret"))
  const fields = {
    clientId: field.at(["credentials", "clientId"])(field.identifier(given.clientId)),
    clientSecret: field.at(["credentials", "clientSecret"])(redactedSecret(given.clientSecret))
  }
  return Either.andThen(field.problems(fields), Either.all(fields))
}

/** Removes slashes from the end of the base URL. Each adapter checks its own authorization server's address. */
export const environment = (given: Environment): Either.Either<Environment, ConfigError.ConfigError> => {
  const fields = {
    name: field.at(["environment", "name"])(field.text(given.name)),
    audience: field.at(["environment", "audience"])(field.identifier(given.audience)),
    baseUrl: field.at(["environment", "baseUrl"])(secureUrl(given.baseUrl))
  }
  return Either.andThen(field.problems(fields), Either.all(fields))
}

/** Each scope once, in the order of the contract. */
export const scopes = (
  given: Iterable<string>
): Either.Either<Arr.NonEmptyReadonlyArray<AccessScope>, ConfigError.ConfigError> =>
  field.at(["scopes"])(scopeList.parse(given))
