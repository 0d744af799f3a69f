import { AccessTokens } from "@credit-data/core"
import { DataAccess } from "@credit-data/http-client"
import { countSteps } from "@credit-data/test-support/countSteps"
import { FetchHttpClient, HttpClient, HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"

/** The transport costs one step. */
const Transport = Layer.succeed(
  HttpClient.HttpClient,
  HttpClient.make((request) => Effect.succeed(HttpClientResponse.fromWeb(request, new Response())))
)

/** The token, no redirect, and one span without the URL, as a program would write them with the platform's combinators. */
const withCombinators = (client: HttpClient.HttpClient) =>
  client.pipe(
    HttpClient.mapRequest(HttpClientRequest.bearerToken("token")),
    HttpClient.withTracerDisabledWhen(() => true),
    HttpClient.transformResponse((call) =>
      call.pipe(
        Effect.provideService(FetchHttpClient.RequestInit, { redirect: "manual" }),
        Effect.withSpan("GET", { kind: "client", captureStackTrace: false })
      )
    )
  )

// the benchmark authenticatedCall measures the same in time, which varies
it.scoped("a call takes fewer steps of Effect's interpreter than the platform's combinators for the same promises", () =>
  Effect.gen(function*() {
    const bare = (yield* HttpClient.HttpClient).pipe(HttpClient.withTracerPropagation(false))
    const ours = (yield* DataAccess.DataAccess).get("/a")
    yield* ours
    const counts = {
      bare: yield* countSteps(bare.get("http://localhost/a")),
      combinators: yield* countSteps(withCombinators(bare).get("http://localhost/a")),
      ours: yield* countSteps(ours)
    }
    assert.isAtMost(counts.ours - counts.bare, 20, JSON.stringify(counts))
    assert.isBelow(counts.ours, counts.combinators)
  }).pipe(
    Effect.provide(DataAccess.layer().pipe(Layer.provide(AccessTokens.layerTest()), Layer.provideMerge(Transport)))
  ))
