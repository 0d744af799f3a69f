import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as FiberRefs from "effect/FiberRefs"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"

/** The settings of the caller's fiber: its context, with the options of `fetch`, and whether tracing is enabled. */
export class CallerSettings {
  readonly #context: Context.Context<never>
  readonly #tracerEnabled: boolean

  constructor(context: Context.Context<never>, tracerEnabled: boolean) {
    this.#context = context
    this.#tracerEnabled = tracerEnabled
  }

  /** Restores the settings after `silence` or `adoptSpan`. What the fiber does still belongs to this span, if one is given. */
  restore(span: Option.Option<Tracer.Span> = Option.none()): Effect.Effect<void> {
    const context = Option.isNone(span) ? this.#context : Context.add(this.#context, Tracer.ParentSpan, span.value)
    return set(() => context, this.#tracerEnabled)
  }

  /** Makes a stream of the caller run with these settings in any fiber. */
  provide<A, E>(stream: Stream.Stream<A, E>): Stream.Stream<A, E> {
    return Stream.unwrapScoped(
      Effect.as(
        Effect.locallyScoped(FiberRef.currentTracerEnabled, this.#tracerEnabled),
        Stream.provideContext(stream, withOptionsOfFetch(this.#context))
      )
    )
  }
}

/** Runs an effect with its caller's settings. */
export const withCallerSettings = <A, E, R>(
  use: (settings: CallerSettings) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.withFiberRuntime((fiber) =>
    use(
      new CallerSettings(fiber.getFiberRef(FiberRef.currentContext), fiber.getFiberRef(FiberRef.currentTracerEnabled))
    )
  )

/** Sets both at once, because each change copies all settings of the fiber. */
const set = (context: (present: Context.Context<never>) => Context.Context<never>, tracerEnabled: boolean) =>
  Effect.updateFiberRefs((fiber, refs) =>
    FiberRefs.updateManyAs(refs, {
      entries: [
        [FiberRef.currentContext, [[fiber, context(FiberRefs.getOrDefault(refs, FiberRef.currentContext))]]],
        [FiberRef.currentTracerEnabled, [[fiber, tracerEnabled]]]
      ]
    })
  )

const optionsOfFetch = (context: Context.Context<never>): RequestInit =>
  Option.getOrElse(Context.getOption(context, FetchHttpClient.RequestInit), () => ({}))

/**
 * What is provided to a stream is merged into the context of the fiber that reads it, so nothing that `silence` adds may be missing.
 */
const withOptionsOfFetch = (context: Context.Context<never>): Context.Context<never> =>
  Context.add(context, FetchHttpClient.RequestInit, optionsOfFetch(context))

/** From here on, what this fiber does belongs to this span. */
export const adoptSpan = (span: Tracer.Span): Effect.Effect<void> =>
  FiberRef.update(FiberRef.currentContext, (context) => Context.add(context, Tracer.ParentSpan, span))

/**
 * From here on, this fiber follows no redirects and makes no spans. Tracing is disabled for the whole fiber, because a client may
 * have its own rule for which requests are traced.
 */
export const silence: Effect.Effect<void> = set(
  (context) => Context.add(context, FetchHttpClient.RequestInit, { ...optionsOfFetch(context), redirect: "manual" }),
  false
)
