import * as Channel from "effect/Channel"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Option from "effect/Option"
import * as References from "effect/References"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"

/** The settings of the caller's fiber: its context, with the options of `fetch`, and whether tracing is enabled. */
export class CallerSettings {
  readonly #fiber: Fiber.Fiber<unknown, unknown>
  readonly #context: Context.Context<never>

  constructor(fiber: Fiber.Fiber<unknown, unknown>) {
    this.#fiber = fiber
    this.#context = fiber.context
  }

  /** Restores the settings after `silence` or `adoptSpan`. What the fiber does still belongs to this span, if one is given. */
  restore(span: Option.Option<Tracer.Span> = Option.none()): Effect.Effect<void> {
    const context = Option.isNone(span) ? this.#context : Context.add(this.#context, Tracer.ParentSpan, span.value)
    return Effect.sync(() => this.#fiber.setContext(context))
  }

  /** Makes a stream of the caller run with these settings in any fiber. */
  provide<A, E>(stream: Stream.Stream<A, E>): Stream.Stream<A, E> {
    return within(this.#context, stream)
  }
}

/** Runs an effect with its caller's settings. */
export const withCallerSettings = <A, E, R>(
  use: (settings: CallerSettings) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> => Effect.withFiber((fiber) => use(new CallerSettings(fiber)))

/**
 * Replaces the context of a stream. `Stream.updateContext` would merge it with the context of the fiber that reads the stream.
 * The stream would then get what `silence` has added there.
 */
const within = <A, E>(context: Context.Context<never>, stream: Stream.Stream<A, E>): Stream.Stream<A, E> => {
  const replaced = <B, E2>(effect: Effect.Effect<B, E2>): Effect.Effect<B, E2> =>
    Effect.updateContext(effect, () => context)
  return Stream.fromChannel(
    Channel.fromTransform((upstream, scope) =>
      Effect.map(replaced(Channel.toTransform(Stream.toChannel(stream))(upstream, scope)), replaced)
    )
  )
}

/** From here on, what this fiber does belongs to this span. */
export const adoptSpan = (span: Tracer.Span): Effect.Effect<void> =>
  Effect.withFiber((fiber) => Effect.sync(() => fiber.setContext(Context.add(fiber.context, Tracer.ParentSpan, span))))

/**
 * From here on, this fiber follows no redirects, makes no spans and passes no trace on. Tracing is disabled for the whole
 * fiber, because a client may have its own setting for which requests it is disabled.
 */
export const silence: Effect.Effect<void> = Effect.withFiber((fiber) =>
  Effect.sync(() =>
    fiber.setContext(fiber.context.pipe(
      Context.add(FetchHttpClient.RequestInit, {
        ...Option.getOrUndefined(Context.getOption(fiber.context, FetchHttpClient.RequestInit)),
        redirect: "manual"
      }),
      Context.add(References.TracerEnabled, false),
      Context.add(Tracer.DisablePropagation, true)
    ))
  )
)
