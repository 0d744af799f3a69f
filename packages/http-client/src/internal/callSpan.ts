import * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as Option from "effect/Option"
import type * as Predicate from "effect/Predicate"
import * as Tracer from "effect/Tracer"
import type { Base } from "./target.ts"

const always = () => true

const setBoth = (
  context: Context.Context<never>,
  disabledWhen: Predicate.Predicate<HttpClientRequest.HttpClientRequest>
) =>
  Effect.zipRight(
    FiberRef.set(FiberRef.currentContext, context),
    FiberRef.set(HttpClient.currentTracerDisabledWhen, disabledWhen)
  )

/**
 * A region of its own for the call: within it the platform makes no span, ours is the parent, and what is set in the
 * context ends with it. Both are set at once, for two regions would cost more than all the rest of a call.
 */
const inRegion = <A, E>(call: Effect.Effect<A, E>, span: Option.Option<Tracer.Span>): Effect.Effect<A, E> =>
  Effect.withFiberRuntime((fiber) => {
    const context = fiber.getFiberRef(FiberRef.currentContext)
    const disabledWhen = fiber.getFiberRef(HttpClient.currentTracerDisabledWhen)
    const ours = Option.isSome(span) ? Context.add(context, Tracer.ParentSpan, span.value) : context
    return Effect.onExit(Effect.zipRight(setBoth(ours, always), call), () => setBoth(context, disabledWhen))
  })

/** A call in a trace: where it went and what came back, without a query or a token. */
export const inSpan = <A, E>(
  group: string,
  base: Base,
  request: HttpClientRequest.HttpClientRequest,
  call: (span: Option.Option<Tracer.Span>) => Effect.Effect<A, E>
): Effect.Effect<A, E> =>
  Effect.flatMap(FiberRef.get(HttpClient.currentTracerDisabledWhen), (isDisabled) => {
    if (isDisabled(request)) return inRegion(call(Option.none()), Option.none())
    return Effect.useSpan(`${group} ${request.method}`, {
      kind: "client",
      captureStackTrace: false,
      attributes: {
        "credit_data.group": group,
        "http.request.method": request.method,
        "server.address": base.hostname,
        "url.path": request.url.slice(base.origin.length).replace(/[?#].*$/s, "")
      }
    }, (span) => inRegion(call(Option.some(span)), Option.some(span)))
  })
