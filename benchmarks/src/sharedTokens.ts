import { AccessTokens, TokenEndpoint } from "@credit-data/core"
import { SharedTokens, TokenStore } from "@credit-data/fleet"
import { Context, Effect, Layer, Redacted } from "effect"
import { timePerRun } from "./cachedGet.ts"
import { instantEndpoint } from "./endpoint.ts"
import { median, type Measurement } from "./report.ts"

const rounds = 15

const credentials = Effect.succeed({ clientId: "the-client", clientSecret: Redacted.make("s".repeat(40)) })

/** The time of `get` with a cached token and with a shared store, as a ratio to `get` without one in the same round. */
export const sharedTokens: Effect.Effect<ReadonlyArray<Measurement>, unknown> = Effect.gen(function*() {
  const sealed = Layer.map(instantEndpoint, (context) =>
    Context.make(TokenEndpoint.TokenEndpoint, {
      ...Context.get(context, TokenEndpoint.TokenEndpoint),
      credentials: { current: credentials, reread: credentials }
    }))
  const alone = AccessTokens.layer().pipe(Layer.provide(instantEndpoint))
  const shared = SharedTokens.layer().pipe(Layer.provide(sealed), Layer.provide(TokenStore.layerMemory))
  const { get: bare } = Context.get(yield* Layer.build(alone), AccessTokens.AccessTokens)
  const { get: sharing } = Context.get(yield* Layer.build(shared), AccessTokens.AccessTokens)
  const ratios: Array<number> = []
  for (let round = 0; round < rounds; round++) {
    // the order changes with each round, because the second profits from what the first warmed up
    const [first, second] = round % 2 === 0 ? [bare, sharing] : [sharing, bare]
    const times = [yield* timePerRun(first), yield* timePerRun(second)] as const
    if (round > 0) ratios.push(round % 2 === 0 ? times[1] / times[0] : times[0] / times[1])
  }
  return [{
    what: "`get` of a cached token, with a shared store",
    value: median(ratios),
    unit: "× without",
    atMost: 1.1
  }]
}).pipe(Effect.scoped)
