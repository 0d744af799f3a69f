import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as Option from "effect/Option"
import * as References from "effect/References"
import * as Stream from "effect/Stream"

/** What the fiber of a caller has set: for `fetch` in its context, and whether it traces. */
export interface CallerSettings {
  /** Sets it again, after `silence`. */
  readonly restore: Effect.Effect<void>
  /** A stream of the caller's, which runs with these settings wherever it is read. */
  readonly provide: <A, E>(stream: Stream.Stream<A, E>) => Stream.Stream<A, E>
}

/** Runs an effect with what its caller has set. */
export const withCallerSettings = <A, E>(
  use: (settings: CallerSettings) => Effect.Effect<A, E>
): Effect.Effect<A, E> =>
  Effect.withFiber((fiber) => {
    const { context } = fiber
    return use({
      restore: Effect.sync(() => fiber.setContext(context)),
      // the context is replaced and not merged: what `silence` has added must not reach the stream
      provide: (stream) => Stream.updateContext(stream, (): Context.Context<never> => context)
    })
  })

/**
 * No redirect is followed, and no span is made or passed on by this fiber from here on. Tracing is disabled as a whole, for a client may set
 * by itself for which requests it is.
 */
export const silence: Effect.Effect<void> = Effect.withFiber((fiber) =>
  Effect.sync(() =>
    fiber.setContext(fiber.context.pipe(
      Context.add(FetchHttpClient.RequestInit, {
        ...Option.getOrUndefined(Context.getOption(fiber.context, FetchHttpClient.RequestInit)),
        redirect: "manual"
      }),
      Context.add(References.TracerEnabled, false),
      Context.add(HttpClient.TracerPropagationEnabled, false)
    ))
  )
)
