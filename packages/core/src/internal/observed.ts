import * as Headers from "@effect/platform/Headers"
import * as HttpTraceContext from "@effect/platform/HttpTraceContext"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type * as Tracer from "effect/Tracer"
import { adoptSpan, withCallerSettings } from "./callerSettings.ts"

/** The span of what runs, if there is one. */
export interface Observed {
  readonly span: Option.Option<Tracer.Span>
  /** Sets an attribute of the span. */
  readonly annotate: (name: string, value: unknown) => void
}

const unobserved: Observed = { span: Option.none(), annotate: () => {} }

/** What a tracer gets to see. */
export interface SpanOptions<A, E> {
  readonly attributes: Record<string, unknown>
  /** Sets the attributes that are known at the end. */
  readonly atEnd?: ((exit: Exit.Exit<A, E>, annotate: Observed["annotate"]) => void) | undefined
  /** What is shown of a failure. */
  readonly shown: (error: E) => unknown
}

const hasValidIds = ({ spanId, traceId }: Tracer.Span): boolean =>
  /^(?!0{32})[\da-f]{32}$/.test(traceId) && /^(?!0{16})[\da-f]{16}$/.test(spanId)

/** The headers that pass the trace of a span on, if it has one. */
export const traceHeaders = (span: Option.Option<Tracer.Span>): Headers.Headers =>
  Option.isSome(span) && hasValidIds(span.value) ? HttpTraceContext.toHeaders(span.value) : Headers.empty

const observed = (span: Tracer.Span): Observed => ({
  span: Option.some(span),
  annotate: (name, value) => {
    try {
      span.attribute(name, value)
    } catch {
      // the span lacks an attribute
    }
  }
})

/** What a tracer may see of a result: no value, and of a defect only that there was one, because it can contain anything. */
const asShown = <A, E>(exit: Exit.Exit<A, E>, shown: (error: E) => unknown): Exit.Exit<unknown, unknown> => {
  if (Exit.isSuccess(exit)) return Exit.void
  const failure = Cause.failureOption(exit.cause)
  if (Option.isSome(failure)) return Exit.fail(shown(failure.value))
  return Cause.isInterruptedOnly(exit.cause) ? exit : Exit.die(new Error("a defect"))
}

/** Runs an effect in a span of the kind `client`, which ends with what is shown of its result. */
export const inSpan = <A, E, R>(
  name: string,
  { atEnd, attributes, shown }: SpanOptions<A, E>,
  run: (observed: Observed) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  withCallerSettings((caller) =>
    Effect.matchCauseEffect(Effect.makeSpan(name, { kind: "client", captureStackTrace: false, attributes }), {
      // the tracer threw
      onFailure: () => run(unobserved),
      onSuccess: (span) => {
        const own = observed(span)
        return Effect.onExit(
          Effect.zipRight(adoptSpan(span), run(own)),
          (exit) =>
            Effect.clockWith((clock) => {
              atEnd?.(exit, own.annotate)
              try {
                // a span without timing began at 0
                span.end(span.status.startTime === 0n ? 0n : clock.unsafeCurrentTimeNanos(), asShown(exit, shown))
              } catch {
                // the span is not exported
              }
              return caller.restore
            })
        )
      }
    })
  )
