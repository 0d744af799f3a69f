import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"

/** The settings of the caller's fiber: its context, with the options of `fetch`, and whether tracing is enabled. */
export interface CallerSettings {
  /** Restores the settings after `silence`. */
  readonly restore: Effect.Effect<void>
  /** Makes a stream of the caller run with these settings in any fiber. */
  readonly provide: <A, E>(stream: Stream.Stream<A, E>) => Stream.Stream<A, E>
}

/** Runs an effect with the settings of its caller. */
export const withCallerSettings = <A, E>(
  use: (settings: CallerSettings) => Effect.Effect<A, E>
): Effect.Effect<A, E> =>
  Effect.withFiberRuntime((fiber) => {
    const context = fiber.getFiberRef(FiberRef.currentContext)
    // what is provided to a stream is merged into the context of the fiber that reads it, so nothing that `silence` adds may be missing
    const ofStream = Context.add(
      context,
      FetchHttpClient.RequestInit,
      Option.getOrElse(Context.getOption(context, FetchHttpClient.RequestInit), () => ({}))
    )
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
            Stream.provideContext(stream, ofStream)
          )
        )
    })
  })

/** Adds `redirect: "manual"` to the options of `fetch` in the context. */
const withManualRedirects = (context: Context.Context<never>): Context.Context<never> =>
  Context.add(context, FetchHttpClient.RequestInit, {
    ...Option.getOrUndefined(Context.getOption(context, FetchHttpClient.RequestInit)),
    redirect: "manual"
  })

/**
 * From here on, this fiber follows no redirects and makes no spans. Tracing is disabled for the whole fiber, because a client may
 * have its own rule for which requests are traced.
 */
export const silence: Effect.Effect<void> = Effect.zipRight(
  FiberRef.update(FiberRef.currentContext, withManualRedirects),
  FiberRef.set(FiberRef.currentTracerEnabled, false)
)
