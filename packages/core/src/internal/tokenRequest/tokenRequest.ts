import type * as HttpClient from "@effect/platform/HttpClient"
import type * as Arr from "effect/Array"
import * as Config from "effect/Config"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type { AccessScope } from "../../AccessScope.ts"
import type { AccessToken, Coverage } from "../../AccessToken.ts"
import type { ClientCredentials } from "../../ClientCredentials.ts"
import type { Environment } from "../../Environment.ts"
import { type TokenError, TransportError } from "../../TokenError.ts"
import { protocol as hints, refusedClient } from "../advice.ts"
import { amend } from "../amend.ts"
import { isQuoted } from "../field.ts"
import { classify, unknownLifetime } from "./classify.ts"
import { exchange } from "./exchange.ts"
import { logWarning } from "../safeLog.ts"
import type { TransportFailure } from "../transportFailure.ts"
import { within } from "../within.ts"

interface Options {
  readonly client: HttpClient.HttpClient
  readonly tokenEndpoint: string
  readonly environment: Environment
  readonly requestedScopes: Option.Option<Arr.NonEmptyReadonlyArray<AccessScope>>
  readonly coverage: Coverage
  readonly propagateTrace: boolean
  readonly hint: (error: TokenError) => string | undefined
}

/** The form of the contract, sections 4.1 and 4.2. It has a scope field only for an endpoint with scopes. */
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

/** The proxy of the usual variable, without the credentials that its address may contain. */
const usualProxy = Config.string("HTTPS_PROXY").pipe(
  Config.orElse(() => Config.string("https_proxy")),
  Effect.map((url) => URL.canParse(url) ? new URL(url).host : undefined),
  Effect.orElseSucceed(() => undefined)
)

const transportError = Effect.fnUntraced(function*(
  where: { readonly environment: string; readonly tokenEndpoint: string },
  { protocol, proxy, proxyStatus, reason }: TransportFailure
) {
  return new TransportError({
    ...where,
    reason,
    ...(reason === "Proxy" ? { proxy: proxy ?? (yield* usualProxy), proxyStatus } : {}),
    ...(protocol === undefined ? {} : { hint: hints[protocol] })
  })
})

/** Describes what looks wrong with the refused values, which may consist of any characters. Never shows them. */
const suspicion = (
  error: TokenError,
  { clientId, clientSecret }: ClientCredentials,
  audience: string
): string | undefined => {
  if (error._tag === "ServerError" && !error.retryable && isQuoted(audience)) {
    return "The audience is surrounded by quotes. Check whether it was copied correctly."
  }
  if (error._tag !== "InvalidClient") return undefined
  const secret = Redacted.value(clientSecret)
  const odd = [
    ...(secret === secret.trim() ? [] : ["The client secret begins or ends with a blank."]),
    ...(isQuoted(secret.trim()) ? ["The client secret is surrounded by quotes."] : []),
    ...(isQuoted(clientId) ? ["The client id is surrounded by quotes."] : [])
  ]
  return odd.length === 0 ? undefined : `${odd.join(" ")} Check whether it was copied correctly. ${refusedClient}`
}

/** Sends one POST to the token endpoint and returns the token, within the given time. */
export const tokenRequest = (
  options: Options
): (credentials: ClientCredentials, time: Duration.Duration) => Effect.Effect<AccessToken, TokenError> => {
  const where = { environment: options.environment.name, tokenEndpoint: options.tokenEndpoint }
  return Effect.fnUntraced(
    function*(credentials, time) {
      const requestedAt = yield* DateTime.now
      const [elapsed, response] = yield* exchange(options.client, {
        url: options.tokenEndpoint,
        form: form(options, credentials),
        propagateTrace: options.propagateTrace
      }).pipe(
        within(time, (): TransportFailure => ({ reason: "Timeout" })),
        Effect.catchAll((failure) => Effect.flatMap(transportError(where, failure), Effect.fail)),
        Effect.timed
      )
      // a tracer may throw
      yield* Effect.catchAllCause(
        Effect.annotateCurrentSpan("http.response.status_code", response.status),
        () => Effect.void
      )
      const { lifetimeKnown, token } = yield* classify(response, {
        where,
        clientSecret: credentials.clientSecret,
        requestedScopes: options.requestedScopes,
        coverage: options.coverage,
        requestedAt,
        respondedAt: DateTime.addDuration(requestedAt, elapsed)
      })
      if (!lifetimeKnown) {
        yield* logWarning(
          `The token endpoint ${where.tokenEndpoint} (${where.environment}) did not return expires_in. ` +
            `The token is used for ${Duration.format(unknownLifetime)}.`
        )
      }
      return token
    },
    // reading a value that is not a response dies
    Effect.catchAllDefect(() => Effect.fail(new TransportError({ ...where, reason: "Other" }))),
    (effect, credentials) =>
      Effect.mapError(effect, (error: TokenError) => {
        const hint = suspicion(error, credentials, options.environment.audience) ?? options.hint(error)
        return hint === undefined ? error : amend(error, { hint })
      })
  )
}
