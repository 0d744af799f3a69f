import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as Option from "effect/Option"
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
  Effect.withFiberRuntime((fiber) => {
    const context = fiber.getFiberRef(FiberRef.currentContext)
    const tracerEnabled = fiber.getFiberRef(FiberRef.currentTracerEnabled)
    return use({
      restore: Effect.zipRight(
        FiberRef.set(FiberRef.currentTracerEnabled, tracerEnabled),
        FiberRef.set(FiberRef.currentContext, context)
      ),
      provide: (stream) =>
        Stream.unwrapScoped(
          Effect.as(
            Effect.locallyScoped(FiberRef.currentTracerEnabled, tracerEnabled),
            Stream.provideContext(stream, context)
          )
        )
    })
  })

/** Adds `redirect: "manual"` to the options of `fetch` that the context has. */
const withManualRedirects = (context: Context.Context<never>): Context.Context<never> =>
  Context.add(context, FetchHttpClient.RequestInit, {
    ...Option.getOrUndefined(Context.getOption(context, FetchHttpClient.RequestInit)),
    redirect: "manual"
  })

/**
 * No redirect is followed and no span is made by this fiber from here on. Tracing is disabled as a whole, for a client may set
 * by itself for which requests it is.
 */
export const silence: Effect.Effect<void> = Effect.zipRight(
  FiberRef.update(FiberRef.currentContext, withManualRedirects),
  FiberRef.set(FiberRef.currentTracerEnabled, false)
)
