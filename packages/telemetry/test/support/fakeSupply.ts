import { AccessTokens, type TokenEvent, type TokenStatus } from "@credit-data/core"
import { Effect, Layer, Option, Queue, Ref, Stream } from "effect"

/** The status of a supply before its first token request. */
export const initial: TokenStatus.TokenStatus = {
  environment: "test",
  clientId: Option.some("acme"),
  tokenEndpoint: "https://v2.example:8443/oauth2/token",
  version: Option.some("V2"),
  phase: "None",
  rejected: false,
  requestedScopes: [],
  scopes: [],
  missingScopes: [],
  requestedAt: Option.none(),
  expiresAt: Option.none(),
  nextRequestAt: Option.none(),
  lastFailure: Option.none(),
  failingSince: Option.none(),
  consecutiveFailures: 0,
  callersWaiting: 0,
  tokensServed: 0,
  store: Option.none()
}

/** A token of a supply that ends at once. */
const token = Effect.provide(
  Effect.flatMap(AccessTokens.AccessTokens, ({ get }) => get),
  AccessTokens.layerTest()
)

/** A supply whose status and events are set by the test. */
export const make = (before: Partial<TokenStatus.TokenStatus> = {}) =>
  Effect.gen(function*() {
    const status = yield* Ref.make<TokenStatus.TokenStatus>({ ...initial, ...before })
    const events = yield* Queue.unbounded<TokenEvent.TokenEvent>()
    const gets = yield* Ref.make(0)
    const onGet = yield* Ref.make<Effect.Effect<void>>(Effect.void)
    const given = yield* Effect.provide(AccessTokens.AccessTokens, AccessTokens.layerTest())
    let dies = false
    const service: AccessTokens.Service = {
      ...given,
      get: Effect.zipRight(
        Ref.update(gets, (count) => count + 1),
        Effect.zipRight(Effect.flatten(Ref.get(onGet)), token)
      ),
      status: Effect.suspend(() => {
        if (!dies) return Ref.get(status)
        dies = false
        return Effect.die("a status that cannot be read")
      }),
      events: Stream.fromQueue(events)
    }
    return {
      layer: Layer.succeed(AccessTokens.AccessTokens, service),
      /** How often a token was requested. */
      gets: Ref.get(gets),
      /** What happens when a token is requested. */
      onGet: (effect: Effect.Effect<void>) => Ref.set(onGet, effect),
      set: (change: Partial<TokenStatus.TokenStatus>) => Ref.update(status, (before) => ({ ...before, ...change })),
      /** Makes the next reading of the status die. */
      die: Effect.sync(() => {
        dies = true
      }),
      publish: (event: TokenEvent.TokenEvent) => Queue.offer(events, event)
    }
  })
