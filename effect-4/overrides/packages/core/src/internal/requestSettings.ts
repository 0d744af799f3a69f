import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Option from "effect/Option"

/** Providing it begins a region, at whose end the context of the fiber is as before. */
class Region extends Context.Service<Region, true>()("@credit-data/core/Region") {}

/** A region of the fiber. At its end, the settings that `withoutRedirectsOrSpans` changes are as before. */
export const region = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.provideService(effect, Region, true)

/** From here on, until the region of the fiber ends: no redirects are followed, and the platform makes no spans for these requests. */
export const withoutRedirectsOrSpans = (
  isAllowed: (request: HttpClientRequest.HttpClientRequest) => boolean
): Effect.Effect<void> =>
  Effect.withFiber((fiber) =>
    Effect.sync(() =>
      fiber.setContext(fiber.context.pipe(
        Context.add(FetchHttpClient.RequestInit, {
          ...Option.getOrUndefined(Context.getOption(fiber.context, FetchHttpClient.RequestInit)),
          redirect: "manual"
        }),
        Context.add(HttpClient.TracerDisabledWhen, isAllowed)
      ))
    )
  )
