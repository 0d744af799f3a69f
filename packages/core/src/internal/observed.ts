import * as Headers from "@effect/platform/Headers"
import * as HttpTraceContext from "@effect/platform/HttpTraceContext"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type * as Tracer from "effect/Tracer"
import { adoptSpan, type CallerSettings, withCallerSettings } from "./callerSettings.ts"

/** The span of what runs, if there is one. */
export class Observed {
  readonly span: Option.Option<Tracer.Span>
  readonly #caller: CallerSettings

  constructor(span: Option.Option<Tracer.Span>, caller: CallerSettings) {
    this.span = span
    this.#caller = caller
  }

  /** Sets an attribute of the span. */
  annotate(name: string, value: unknown): void {
    if (Option.isNone(this.span)) return
    try {
      this.span.value.attribute(name, value)
    } catch {
      // the span lacks an attribute
    }
  }

  /** Restores the settings of the caller, within the span, after a request of a client that does not restore them. */
  restore(): Effect.Effect<void> {
    return this.#caller.restore(this.span)
  }
}

/** What a tracer gets to see. */
export interface SpanOptions<A, E> {
  readonly attributes: Record<string, unknown>
  /** Sets the attributes that are known at the end. */
  readonly atEnd?: ((exit: Exit.Exit<A, E>, observed: Observed) => void) | undefined
  /** What is shown of a failure. */
  readonly shown: (error: E) => unknown
}

const hasValidIds = ({ spanId, traceId }: Tracer.Span): boolean =>
  /^(?!0{32})[\da-f]{32}$/.test(traceId) && /^(?!0{16})[\da-f]{16}$/.test(spanId)

/** The headers that pass the trace of a span on, if it has one. */
export const traceHeaders = (span: Option.Option<Tracer.Span>): Headers.Headers =>
  Option.isSome(span) && hasValidIds(span.value) ? HttpTraceContext.toHeaders(span.value) : Headers.empty

/** What a tracer may see of a result: no value, and of a defect only that there was one, because it can contain anything. */
const asShown = <A, E>(exit: Exit.Exit<A, E>, shown: (error: E) => unknown): Exit.Exit<unknown, unknown> => {
  if (Exit.isSuccess(exit)) return Exit.void
  const failure = Cause.failureOption(exit.cause)
  if (Option.isSome(failure)) return Exit.fail(shown(failure.value))
  return Cause.isInterruptedOnly(exit.cause) ? exit : Exit.die(new Error("a defect"))
}

/** Ends a span with what is shown of a result. */
const end = <A, E>(span: Tracer.Span, endTime: bigint, exit: Exit.Exit<A, E>, shown: (error: E) => unknown): void => {
  try {
    // a span without timing began at 0
    span.end(span.status.startTime === 0n ? 0n : endTime, asShown(exit, shown))
  } catch {
    // the span is not exported
  }
}

/** Runs an effect without a span, and restores the settings of its caller at the end. */
export const inNoSpan = <A, E, R>(run: (observed: Observed) => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  withCallerSettings((caller) => Effect.onExit(run(new Observed(Option.none(), caller)), () => caller.restore()))

/**
 * Runs an effect in a span of the kind `client`, which ends with what is shown of its result. Restores the settings of the caller
 * at the end.
 */
export const inSpan = <A, E, R>(
  name: string,
  { atEnd, attributes, shown }: SpanOptions<A, E>,
  run: (observed: Observed) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.matchCauseEffect(Effect.makeSpan(name, { kind: "client", captureStackTrace: false, attributes }), {
    // the tracer threw
    onFailure: () => inNoSpan(run),
    onSuccess: (span) =>
      withCallerSettings((caller) => {
        const observed = new Observed(Option.some(span), caller)
        return Effect.onExit(Effect.zipRight(adoptSpan(span), run(observed)), (exit) =>
          Effect.clockWith((clock) => {
            atEnd?.(exit, observed)
            end(span, clock.unsafeCurrentTimeNanos(), exit, shown)
            return caller.restore()
          }))
      })
  })
