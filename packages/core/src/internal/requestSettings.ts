import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as FiberRefs from "effect/FiberRefs"
import * as Option from "effect/Option"

type ForRequest = (request: HttpClientRequest.HttpClientRequest) => boolean

/** Sets both in one step, because each change copies all settings of the fiber. */
const setBoth = (context: Context.Context<never>, tracerDisabledWhen: ForRequest): Effect.Effect<void> =>
  Effect.updateFiberRefs((id, settings) =>
    FiberRefs.updateManyAs(settings, {
      entries: [[FiberRef.currentContext, [[id, context]]], [HttpClient.currentTracerDisabledWhen, [[
        id,
        tracerDisabledWhen
      ]]]]
    })
  )

/** A region of the fiber. At its end, the settings that `withoutRedirectsOrSpans` changes are as before. */
export const region = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.withFiberRuntime((fiber) =>
    Effect.ensuring(effect, setBoth(fiber.currentContext, fiber.getFiberRef(HttpClient.currentTracerDisabledWhen)))
  )

/**
 * From here on, until the region of the fiber ends: no redirects are followed, and the platform makes no
 * spans for these requests. A client can have its own settings, such as a dispatcher, which are known only in the last step.
 */
export const withoutRedirectsOrSpans = (isAllowed: ForRequest): Effect.Effect<void> =>
  Effect.withFiberRuntime(({ currentContext }) => {
    const init = Option.getOrUndefined(Context.getOption(currentContext, FetchHttpClient.RequestInit))
    return setBoth(Context.add(currentContext, FetchHttpClient.RequestInit, { ...init, redirect: "manual" }), isAllowed)
  })
