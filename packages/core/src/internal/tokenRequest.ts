import type * as HttpClient from "@effect/platform/HttpClient"
import type * as Arr from "effect/Array"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type { AccessScope } from "../AccessScope.ts"
import type { AccessToken, Coverage } from "../AccessToken.ts"
import type { ClientCredentials } from "../ClientCredentials.ts"
import type { Environment } from "../Environment.ts"
import { type TokenError, TransportError } from "../TokenError.ts"
import { amend } from "./amend.ts"
import { classify, unknownLifetime } from "./classify.ts"
import { exchange } from "./exchange.ts"

interface Options {
  readonly client: HttpClient.HttpClient
  readonly tokenEndpoint: string
  readonly environment: Environment
  readonly requestedScopes: Option.Option<Arr.NonEmptyReadonlyArray<AccessScope>>
  readonly coverage: Coverage
  readonly maxBodySize: number
  readonly propagateTrace: boolean
  readonly hint: (error: TokenError) => string | undefined
}

/** The form of the contract, sections 4.1 and 4.2: V2's five fields, or V1's four. */
const form = (options: Options, credentials: ClientCredentials): ReadonlyArray<readonly [string, string]> => [
  ["client_id", credentials.clientId],
  ["client_secret", Redacted.value(credentials.clientSecret)],
  ["audience", options.environment.audience],
  ...Option.match(options.requestedScopes, {
    onNone: () => [],
    onSome: (scopes) => [["scope", scopes.join(" ")] as const]
  }),
  ["grant_type", "client_credentials"]
]

/** One POST to the token endpoint, from the credentials to the token, within the time that is given. */
export const tokenRequest = (
  options: Options
): (credentials: ClientCredentials, time: Duration.Duration) => Effect.Effect<AccessToken, TokenError> => {
  const where = { environment: options.environment.name, tokenEndpoint: options.tokenEndpoint }
  return Effect.fnUntraced(
    function*(credentials, time) {
      const requestedAt = yield* DateTime.now
      const [elapsed, answer] = yield* exchange(options.client, {
        url: options.tokenEndpoint,
        form: form(options, credentials),
        maxSize: options.maxBodySize,
        propagateTrace: options.propagateTrace
      }).pipe(
        Effect.timeoutFail({ duration: time, onTimeout: () => "Timeout" as const }),
        Effect.mapError((reason) => new TransportError({ ...where, reason })),
        Effect.timed
      )
      const { lifetimeKnown, token } = yield* classify(answer, {
        where,
        clientSecret: credentials.clientSecret,
        requestedScopes: options.requestedScopes,
        coverage: options.coverage,
        requestedAt,
        answeredAt: DateTime.addDuration(requestedAt, elapsed)
      })
      if (!lifetimeKnown) {
        yield* Effect.logWarning(
          `The token endpoint ${where.tokenEndpoint} (${where.environment}) didn't tell expires_in. ` +
            `The token is used for ${Duration.format(unknownLifetime)}.`
        )
      }
      return token
    },
    // an HttpClient that gives what isn't a response makes reading it die
    Effect.catchAllDefect(() => Effect.fail(new TransportError({ ...where, reason: "Other" }))),
    Effect.mapError((error: TokenError) => {
      const hint = options.hint(error)
      return hint === undefined ? error : amend(error, { hint })
    })
  )
}
