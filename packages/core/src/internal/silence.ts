import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as Option from "effect/Option"

/**
 * From here on, until the region of the fiber ends that provides these settings: no redirects are followed, and the platform makes no
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
