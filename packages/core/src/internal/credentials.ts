import * as Cause from "effect/Cause"
import type * as ConfigError from "effect/ConfigError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { ClientCredentials, Source } from "../ClientCredentials.ts"
import * as configuration from "./configuration.ts"
import { credentialsNotRead } from "./logLines.ts"
import { clientOf, shownClientId } from "./printable.ts"
import { faultOf } from "./readFault.ts"
import { readerOf } from "./source.ts"
import * as validation from "./validation.ts"
import { within } from "./within.ts"

// When the credentials are read and checked: before the first request, and again when they may have changed.

const check = (read: ClientCredentials): Effect.Effect<ClientCredentials, ConfigError.ConfigError> =>
  Effect.map(validation.all({ credentials: validation.credentials(read) }), ({ credentials }) => credentials)

/** Whether the credentials are a value, which cannot change. */
export const isValue = <E, R>(source: Source<E, R>): source is ClientCredentials =>
  !Effect.isEffect(source) && !("reader" in source)

/** Reads the credentials, now and whenever they may have changed. */
export const make = Effect.fnUntraced(function*<E, R>({ environment, source, time }: {
  readonly source: Source<E, R>
  readonly environment: string
  readonly time: Duration.Duration
}) {
  const read = Effect.flatMap(yield* readerOf(isValue(source) ? Effect.succeed(source) : source), check)
  const tooLate = `The credentials were not read within ${Duration.format(time)}`
  let current = yield* within(time, () => configuration.unavailable(["credentials"], tooLate))(read)
  /** Why the last read failed, which was logged. */
  let fault: string | undefined

  return {
    /** The credentials that the next request sends. */
    current: () => current,
    /** Why the last read failed, if it did. The previous credentials remain in use. */
    fault: () => fault,
    /**
     * Reads the credentials again, within this time. Returns what is current then: if reading fails, a warning is logged, and the
     * previous credentials remain in use.
     */
    reread: (time: Duration.Duration): Effect.Effect<ClientCredentials> =>
      read.pipe(
        Effect.catchAllCause((cause) => Effect.fail(faultOf(Cause.squash(cause)))),
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
            fault = undefined
          })
        ),
        Effect.catchAll((found) => {
          // a supply may read them every second while the client is refused
          if (fault === found) return Effect.void
          fault = found
          return credentialsNotRead(clientOf(environment, current.clientId), found)
        }),
        Effect.map(() => current)
      )
  }
})
