import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as Option from "effect/Option"

/** A region of the fiber. At its end, the settings that `silence` changes are as before. */
export const region = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.acquireUseRelease(
    Effect.zip(FiberRef.get(FiberRef.currentContext), FiberRef.get(HttpClient.currentTracerDisabledWhen)),
    () => effect,
    ([context, isDisabled]) =>
      Effect.zipRight(
        FiberRef.set(FiberRef.currentContext, context),
        FiberRef.set(HttpClient.currentTracerDisabledWhen, isDisabled)
      )
  )

/**
 * From here on, until the region of the fiber ends: no redirects are followed, and the platform makes no
 * spans for these requests. A client can have its own settings, such as a dispatcher, which are known only in the last step.
 */
export const silence = (isAllowed: (request: HttpClientRequest.HttpClientRequest) => boolean): Effect.Effect<void> =>
  Effect.zipRight(
    FiberRef.update(FiberRef.currentContext, (context) =>
      Context.add(context, FetchHttpClient.RequestInit, {
        ...Option.getOrUndefined(Context.getOption(context, FetchHttpClient.RequestInit)),
        redirect: "manual"
      })),
    FiberRef.set(HttpClient.currentTracerDisabledWhen, isAllowed)
  )
