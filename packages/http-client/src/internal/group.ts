import type * as AccessScope from "@credit-data/core/AccessScope"
import type * as AccessToken from "@credit-data/core/AccessToken"
import * as AccessTokens from "@credit-data/core/AccessTokens"
import { Validation } from "@credit-data/core/Internal"
import * as Variables from "@credit-data/core/Variables"
import type * as Clock from "effect/Clock"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import type * as Either from "effect/Either"
import { InsufficientScope } from "../InsufficientScope.ts"
import { type Attempts, makeAttempts } from "./attempts.ts"
import { makeTarget } from "./target.ts"

interface Options<Name extends string> {
  readonly name: Name
  readonly scope?: AccessScope.AccessScope | undefined
}

/** What the client of an endpoint group and its `fetch` have in common. */
export interface Group<Name extends string = string> {
  readonly name: Name
  /** The name of the environment. */
  readonly environment: string
  readonly baseUrl: URL
  readonly tokens: AccessTokens.Service
  readonly clock: Clock.Clock
  /** Where a call goes, or why it is refused. */
  readonly target: (url: string) => Either.Either<string, string>
  /** Begins a call. */
  readonly begin: () => Attempts
  /** What is wrong with the token if it does not cover the group. */
  readonly uncovered: (
    token: AccessToken.AccessToken,
    wasSent: boolean
  ) => Effect.Effect<never, InsufficientScope> | undefined
}

/** Fails if the supply requests scopes, and not the scope of the group. */
export const makeGroup = Effect.fnUntraced(function*<Name extends string>(
  { name, scope }: Options<Name>
): Effect.fn.Return<Group<Name>, ConfigError.ConfigError, AccessTokens.AccessTokens> {
  const tokens = yield* AccessTokens.AccessTokens
  const { requestedScopes, scopeMissing } = tokens
  if (scope !== undefined && requestedScopes.length > 0 && !requestedScopes.includes(scope)) {
    const expected = `Expected ${scope} among the requested scopes, because ${name} needs it. ` +
      `Requested: ${requestedScopes.join(" ")}. Add it to the scopes option, or to CREDIT_DATA_SCOPES`
    return yield* Effect.fail(Variables.invalid(["scopes"], expected))
  }
  // the base URL of a program's own supply may be unchecked, and a token must not be sent in clear text
  const environment = yield* Validation.all(Validation.environment(tokens.environment))
  const insufficient = Effect.fnUntraced(function*(
    needed: AccessScope.AccessScope,
    { scopes: granted }: AccessToken.AccessToken,
    wasSent: boolean
  ) {
    const nextTryAt = scopeMissing === undefined ? undefined : yield* scopeMissing(needed)
    return yield* new InsufficientScope({
      environment: environment.name,
      ...(tokens.clientId !== undefined && { clientId: tokens.clientId }),
      needed,
      granted,
      nextTryAt,
      ...(wasSent && { wasSent })
    })
  })
  const clock = yield* Effect.clock
  return {
    name,
    environment: environment.name,
    baseUrl: new URL(environment.baseUrl),
    tokens,
    clock,
    target: makeTarget(environment.baseUrl),
    begin: makeAttempts(clock),
    uncovered: (token, wasSent) =>
      scope === undefined || token.covers(scope) ? undefined : insufficient(scope, token, wasSent)
  }
})
