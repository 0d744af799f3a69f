import * as Cause from "effect/Cause"
import type * as ConfigError from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Tracer from "effect/Tracer"
import type { ClientCredentials, Source } from "../ClientCredentials.ts"
import * as configuration from "./configuration.ts"
import { clientOf, shownClientId } from "./printable.ts"
import * as validation from "./validation.ts"
import { within } from "./within.ts"

/** The name of a failure that the program's effect returned. The rest could contain the secret. */
const nameOf = (failure: unknown): string =>
  Predicate.hasProperty(failure, "_tag") && Predicate.isString(failure._tag)
    ? failure._tag
    : Predicate.isError(failure)
    ? failure.name
    : "an unknown failure"

const check = (read: ClientCredentials): Effect.Effect<ClientCredentials, ConfigError.ConfigError> =>
  Effect.map(validation.all({ credentials: validation.credentials(read) }), ({ credentials }) => credentials)

/** Reads the credentials, unless they were read with other variables just now. */
export const make = Effect.fnUntraced(function*<E, R>({ environment, given, source, time }: {
  readonly source: Source<E, R>
  readonly given: ClientCredentials | undefined
  readonly environment: string
  readonly time: Duration.Duration
}) {
  const context = yield* Effect.context<R>()
  // a later read belongs to the trace of the token request that needs it, not to the trace of the program's start
  const inTraceOf = (caller: Context.Context<never>): Context.Context<R> =>
    Context.merge(context, Context.pick(Tracer.ParentSpan)(caller))
  const configProvider = yield* Effect.configProviderWith(Effect.succeed)
  const read = (Effect.isEffect(source) ? source : Effect.succeed(source)).pipe(
    Effect.flatMap(check),
    Effect.withConfigProvider(configProvider),
    Effect.mapInputContext(inTraceOf)
  )
  const tooLate = `The credentials were not read within ${Duration.format(time)}`
  let current = yield* given === undefined
    ? within(time, () => configuration.unavailable(["credentials"], tooLate))(read)
    : check(given)
  /** The failure of the last read, which was logged. */
  let failedWith: string | undefined

  return {
    /** The credentials that the next request sends. */
    current: () => current,
    /**
     * Reads the credentials again, within this time. Returns what is current then: if reading fails, a warning is logged, and the
     * previous credentials remain in use.
     */
    reread: (time: Duration.Duration): Effect.Effect<ClientCredentials> =>
      read.pipe(
        Effect.catchAllCause((cause) => Effect.fail(nameOf(Cause.squash(cause)))),
        within(time, () => "reading took too long"),
        Effect.withSpan("TokenEndpoint.readCredentials", {
          kind: "client",
          captureStackTrace: false,
          attributes: {
            "credit_data.environment": environment,
            "credit_data.client_id": shownClientId(current.clientId)
          }
        }),
        Effect.tap((next) =>
          Effect.sync(() => {
            current = next
            failedWith = undefined
          })
        ),
        Effect.catchAll((name) => {
          // a supply may read them every second while the client is refused
          if (failedWith === name) return Effect.void
          failedWith = name
          return Effect.logWarning(
            `The client credentials of ${clientOf(environment, current.clientId)} could not be read again: ${name}. ` +
              "The previous credentials remain in use. Check the secret manager or the mounted files."
          )
        }),
        Effect.map(() => current)
      )
  }
})
