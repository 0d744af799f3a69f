import { AccessTokens } from "@credit-data/core"
import { DataAccess } from "@credit-data/http-client"
import { countSteps, mostAdded } from "@credit-data/test-support/countSteps"
import { HttpClient, HttpClientResponse } from "@effect/platform"
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"

/** The transport costs one step. */
const Transport = Layer.succeed(
  HttpClient.HttpClient,
  HttpClient.make((request) => Effect.succeed(HttpClientResponse.fromWeb(request, new Response())))
)

// the benchmark authenticatedCall measures the same in time, which varies
it.scoped("a call takes few steps of Effect's interpreter more than one without a token", () =>
  Effect.gen(function*() {
    const bare = (yield* HttpClient.HttpClient).get("http://localhost/a").pipe(Effect.withSpan("GET"))
    const ours = (yield* DataAccess.DataAccess).get("/a")
    yield* ours
    const counts = { bare: yield* countSteps(bare), ours: yield* countSteps(ours) }
    assert.isAtMost(counts.ours - counts.bare, mostAdded, JSON.stringify(counts))
  }).pipe(
    Effect.provide(DataAccess.layer().pipe(Layer.provide(AccessTokens.layerTest()), Layer.provideMerge(Transport)))
  ))
