import * as HttpClient from "@effect/platform/HttpClient"
import * as Cause from "effect/Cause"
import type * as ConfigError from "effect/ConfigError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Equal from "effect/Equal"
import type * as AccessScope from "../AccessScope.ts"
import type * as ClientCredentials from "../ClientCredentials.ts"
import type * as Environment from "../Environment.ts"
import type * as TokenEndpoint from "../TokenEndpoint.ts"
import { InvalidClient } from "../TokenError.ts"
import * as configuration from "./configuration.ts"
import * as Instant from "./instant.ts"
import { credentialsNotRead } from "./logLines.ts"
import { clientOf, shownClientId } from "./printable.ts"
import { faultOf } from "./readFault.ts"
import { restrictedClient } from "./restrictedClient.ts"
import { type Symptom, tokenRequest } from "./tokenRequest.ts"
import { readerOf } from "./layerSource.ts"
import * as validation from "./validation.ts"
import { within } from "./within.ts"

// A token endpoint with its credentials: when they are read again, and the deadline of a request and of the one after a refusal.

/** What an adapter sets, and what its user does. */
export interface Options<E = never, R = never> extends TokenEndpoint.Settings {
  /** The environment whose tokens are requested. */
  readonly environment: Environment.Environment
  /** The address of the authorization server, and the option that sets it, which errors name. */
  readonly authorizationServer: { readonly url: string | undefined; readonly option: string }
  /** The path of the token endpoint below that address. */
  readonly path: `/${string}`
  /** The version of the endpoint, as `status` shows it. */
  readonly version?: string | undefined
  /** The client's credentials, or an effect that reads them. */
  readonly credentials: ClientCredentials.Source<E, R>
  /** The scopes to request, at least one. Without the option, no scope field is sent, and the server decides what a token covers. */
  readonly scopes?: ReadonlyArray<AccessScope.AccessScope> | undefined
  /** What to do about a failure, if this endpoint has more specific advice than the message of the failure. */
  readonly hint?: ((symptom: Symptom) => string | undefined) | undefined
}

/** Whether the credentials are a value, which cannot change. */
export const isValue = <E, R>(source: ClientCredentials.Source<E, R>): source is ClientCredentials.ClientCredentials =>
  !Effect.isEffect(source) && !("reader" in source)

/** Reads the credentials when the endpoint is built, and whenever they may have changed. */
const makeCredentials = Effect.fnUntraced(function*<E, R>({ environment, source, time }: {
  readonly source: ClientCredentials.Source<E, R>
  readonly environment: string
  readonly time: Duration.Duration
}) {
  const read = yield* readerOf(isValue(source) ? Effect.succeed(source) : source)
  const readNow = (time: Duration.Duration) =>
    Effect.flatMap(read, (found) => validation.all({ credentials: validation.credentials(found) })).pipe(
      Effect.map(({ credentials }): ClientCredentials.ClientCredentials => credentials),
      within(time, () => configuration.unavailable(["credentials"], "Not read in time"))
    )
  let current = yield* readNow(time)
  /** Why the last read failed, which was logged. */
  let fault: string | undefined
  return {
    /** The credentials that the next request sends. */
    current: () => current,
    /** Why the last read failed, if it did. The previous credentials remain in use. */
    fault: () => fault,
    /** Reads the credentials again. Returns what is current then: if reading fails, a warning is logged, and the previous ones remain. */
    reread: (time: Duration.Duration): Effect.Effect<ClientCredentials.ClientCredentials> =>
      readNow(time).pipe(
        // before the span, which would show the whole failure
        Effect.catchAllCause((cause) => Effect.fail(faultOf(Cause.squash(cause)))),
        Effect.withSpan("TokenEndpoint.readCredentials", {
          kind: "client",
          captureStackTrace: false,
          attributes: {
            "credit_data.environment": environment,
            "credit_data.client_id": shownClientId(current.clientId)
          }
        }),
        Effect.matchEffect({
          onSuccess: (next) =>
            Effect.sync(() => {
              current = next
              fault = undefined
            }),
          onFailure: (found) => {
            // a supply may read them every second while the client is refused
            if (fault === found) return Effect.void
            fault = found
            return credentialsNotRead(clientOf(environment, current.clientId), found)
          }
        }),
        Effect.map(() => current)
      )
  }
})

const isSame = (a: ClientCredentials.ClientCredentials, b: ClientCredentials.ClientCredentials): boolean =>
  a.clientId === b.clientId && Equal.equals(a.clientSecret, b.clientSecret)

/**
 * Builds the token endpoint of an adapter. First checks the options, and then reads the credentials. Fails with a `ConfigError` that names
 * invalid options, or with the failure of the effect that reads the credentials.
 *
 * When the endpoint refuses the client and the credentials came from an effect, they are read once more. If they have
 * changed, the request is retried once with the new ones. All of this happens within the deadline.
 */
export const makeTokenEndpoint = Effect.fnUntraced(function*<E = never, R = never>(
  options: Options<E, R>
): Effect.fn.Return<TokenEndpoint.Service, ConfigError.ConfigError | E, HttpClient.HttpClient | R> {
  const { authorizationServer, credentials: source, path, version } = options
  const { deadline, scopes, server, ...environment } = yield* validation.all({
    ...validation.environment(options.environment),
    server: validation.at("environment", authorizationServer.option)(
      validation.withoutPath(path)(authorizationServer.url)
    ),
    scopes: options.scopes === undefined
      ? Either.right(undefined)
      : validation.at("scopes")(validation.scopes(options.scopes)),
    credentials: isValue(source) ? validation.credentials(source) : Either.right(undefined),
    deadline: validation.at("deadline")(validation.duration(options.deadline ?? "10 seconds"))
  })
  const url = `${server}${path}`
  const credentials = yield* makeCredentials({ source, environment: environment.name, time: deadline })
  const client = restrictedClient(yield* HttpClient.HttpClient, { isAllowed: (target) => target === url })
  const request = tokenRequest({
    client: options.transformClient === undefined ? client : options.transformClient(client),
    tokenEndpoint: url,
    environment,
    scopes,
    propagateTrace: options.propagateTrace ?? false,
    hint: options.hint ?? (() => undefined)
  })

  /** A refusal while the credentials cannot be read: the refused ones are probably those from before a rotation. */
  const explained = (refusal: InvalidClient): InvalidClient => {
    const fault = credentials.fault()
    return fault === undefined ? refusal : new InvalidClient({
      ...refusal,
      hint:
        `The credentials could not be read again: ${fault}. The previous ones were sent, and they may have been rotated. ` +
        "Make the current credentials readable."
    })
  }

  return {
    environment,
    url,
    version,
    clientId: credentials.current().clientId,
    requestedScopes: scopes ?? [],
    deadline,
    requestToken: Effect.fnUntraced(function*(reason) {
      const clock = yield* Effect.clock
      const endsAt = Instant.later(Instant.now(clock), Duration.toMillis(deadline))
      /** A share of the time that is left. In Effect 3.21, `Duration.times` accepts no share of a time in nanoseconds. */
      const timeLeft = (share = 1) => Duration.millis(Instant.millisBetween(Instant.now(clock), endsAt) * share)
      // a secret manager that hangs leaves the request half of the time, here and after a refusal
      const used = reason._tag === "Refresh"
        ? yield* credentials.reread(timeLeft(0.5))
        : credentials.current()
      return yield* request(used, timeLeft()).pipe(
        Effect.catchTag("InvalidClient", (refusal) =>
          Effect.flatMap(
            isValue(source) ? Effect.succeed(used) : credentials.reread(timeLeft(0.5)),
            (next) => isSame(next, used) ? Effect.fail(explained(refusal)) : request(next, timeLeft())
          ))
      )
    }),
    credentials: {
      current: Effect.sync(credentials.current),
      reread: Effect.suspend(() => credentials.reread(deadline))
    }
  }
})
