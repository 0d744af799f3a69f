import * as Headers from "@effect/platform/Headers"
import * as HttpTraceContext from "@effect/platform/HttpTraceContext"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type * as Tracer from "effect/Tracer"

/** The span of what runs, if there is one. */
export interface Observed {
  readonly span: Option.Option<Tracer.Span>
  /** Sets an attribute of the span. */
  readonly annotate: (name: string, value: unknown) => void
}

const unobserved: Observed = { span: Option.none(), annotate: () => {} }

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

/** What a tracer may see of a failure. A defect can hold anything, so only its kind remains. */
const asShown = <E>(cause: Cause.Cause<E>, shown: (error: E) => unknown): Effect.Effect<never, unknown> =>
  Option.match(Cause.failureOption(cause), {
    onNone: () => Cause.isInterruptedOnly(cause) ? Effect.interrupt : Effect.die(new Error("a defect")),
    onSome: (error) => Effect.fail(shown(error))
  })

/** Runs an effect in a span of the kind `client`. The tracer gets no result, and only what `shown` returns of a failure. */
export const inSpan = <A, E, R>(
  name: string,
  options: { readonly attributes: Record<string, unknown>; readonly shown: (error: E) => unknown },
  run: (observed: Observed) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.suspend(() => {
    let outcome: Exit.Exit<A, E> | undefined
    let hasBegun = false
    return Effect.useSpan(
      name,
      { kind: "client", captureStackTrace: false, attributes: options.attributes },
      (span) => {
        hasBegun = true
        return Effect.flatMap(Effect.exit(run(observed(span))), (exit) => {
          outcome = exit
          return Exit.isSuccess(exit) ? Effect.void : asShown(exit.cause, options.shown)
        })
      }
    ).pipe(
      Effect.exit,
      // a tracer may throw when a span begins or ends
      Effect.flatMap(() => outcome ?? (hasBegun ? Effect.interrupt : run(unobserved)))
    )
  })
