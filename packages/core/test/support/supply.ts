import { AccessTokens } from "@credit-data/core"
import { Effect, Layer, Random } from "effect"
import * as FakeEndpoint from "./fakeEndpoint.ts"

/** A supply over a fake endpoint, in the test's scope. The renewal window is a single point: renewal is due at 80 %. */
export const make = (
  options: Parameters<typeof FakeEndpoint.make>[0] & {
    readonly settings?: AccessTokens.Settings
    readonly seed?: string
  } = {}
) =>
  Effect.gen(function*() {
    const endpoint = yield* FakeEndpoint.make(options)
    const context = yield* Layer.build(
      AccessTokens.layer({ renewalWindow: { from: 0.8, to: 0.8 }, ...options.settings }).pipe(
        Layer.provide(endpoint.layer)
      )
    ).pipe(Effect.withRandom(Random.make(options.seed ?? "seed")))
    const tokens = yield* Effect.provide(AccessTokens.AccessTokens, context)
    return { endpoint, tokens }
  })
