/**
 * The supply of access tokens of a process whose fleet shares one token.
 *
 * @since 1.0.0
 */
import type { AccessToken } from "@credit-data/core/AccessToken"
import * as AccessTokens from "@credit-data/core/AccessTokens"
import { sharedLayer } from "@credit-data/core/Internal"
import * as TokenEndpoint from "@credit-data/core/TokenEndpoint"
import type { TokenError } from "@credit-data/core/TokenError"
import * as Variables from "@credit-data/core/Variables"
import type * as ConfigError from "effect/ConfigError"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Envelope from "./internal/envelope.ts"
import * as Protocol from "./internal/protocol.ts"
import type { StoreError } from "./StoreError.ts"
import { TokenStore } from "./TokenStore.ts"

/** The parts of a shared supply, and the entry of the present credentials. */
const parts = Effect.gen(function*() {
  const endpoint = yield* TokenEndpoint.TokenEndpoint
  const store = yield* TokenStore
  const { credentials } = endpoint
  if (credentials === undefined) {
    return yield* Effect.fail(Variables.invalid(
      ["TokenEndpoint", "credentials"],
      "Expected an endpoint with credentials, under which the shared tokens are encrypted"
    ))
  }
  const entry = Effect.flatMap(credentials.current, (current) => Envelope.entryOf(endpoint, current))
  return { credentials, endpoint, entry, present: yield* entry, store }
})

/**
 * Builds a supply whose tokens come from a store that the processes of a fleet share. It behaves like `AccessTokens.make`, except that
 * only one process of the fleet requests each new token. The others take it from the store.
 *
 * - A process that finds neither a token nor a lease takes the lease (2 seconds, renewed while the request runs) and sends the
 *   request. The others wait for the token, for at most one deadline of the token endpoint. After that they send a request
 *   themselves, so the longest wait for a token is two deadlines. If the request hangs for half of the deadline, one other process tries.
 * - The failures `InvalidClient` and `ServerError` are shared too: for 1 second, or for the duration of `Retry-After`. A process that
 *   takes a non-retryable failure from the store pauses for the rest of that time, plus up to 1 second.
 * - What is stored is encrypted with a key that is derived from the client secret. Processes with other credentials, another token
 *   endpoint, audience or other scopes use another entry of the store.
 * - While a failure is remembered, the process sends no token request. When callers request tokens, it checks about once a
 *   second whether another process has a token now.
 * - A fault of the store never reaches a caller. It delays a token request by at most 0.6 seconds, after which this process requests its
 *   own token. After three consecutive faults, it does not use the store for 10 seconds.
 *
 * Fails with a `ConfigError` if a setting is invalid, if the client secret has fewer than 32 characters, or if the token endpoint
 * has no credentials.
 *
 * @since 1.0.0
 * @category constructors
 */
export const make = (
  settings: AccessTokens.Settings = {}
): Effect.Effect<
  AccessTokens.Service,
  ConfigError.ConfigError,
  TokenEndpoint.TokenEndpoint | TokenStore | Scope.Scope
> =>
  Effect.provideServiceEffect(
    AccessTokens.make(settings),
    TokenEndpoint.TokenEndpoint,
    Effect.flatMap(parts, Protocol.decorated)
  )

/**
 * The supply of `make` as a layer, over the token endpoint of an adapter and a store.
 *
 * A layer is shared by reference, where its sources are the same objects. Bind the layer to a const, because each call of `layer` makes another supply.
 *
 * @since 1.0.0
 * @category layers
 * @example
 * ```ts
 * import { AuthV2 } from "@credit-data/auth-v2"
 * import { SharedTokens, TokenStore } from "@credit-data/fleet"
 * import { NodeFileSystem } from "@effect/platform-node"
 * import { Layer } from "effect"
 *
 * export const Auth = SharedTokens.layer().pipe( // was: AuthV2.layerConfig()
 *   Layer.provide(AuthV2.layerTokenEndpointConfig()),
 *   Layer.provide(TokenStore.layerFileSystem({ directory: "/var/lib/my-service/tokens" })),
 *   Layer.provide(NodeFileSystem.layer)
 * )
 * ```
 */
export const layer = (
  settings: AccessTokens.Settings = {}
): Layer.Layer<AccessTokens.AccessTokens, ConfigError.ConfigError, TokenEndpoint.TokenEndpoint | TokenStore> =>
  sharedLayer(() => Layer.scoped(AccessTokens.AccessTokens, make(settings)), {
    services: [TokenEndpoint.TokenEndpoint, TokenStore]
  })

/**
 * What a store contains for a token endpoint and its present credentials.
 *
 * @since 1.0.0
 * @category models
 */
export interface Stored {
  /** The shared token, if it has not expired. */
  readonly token: Option.Option<AccessToken>
  /** The shared failure, and the time until which the processes of the fleet share it. */
  readonly failure: Option.Option<{ readonly error: TokenError; readonly until: DateTime.Utc }>
}

/**
 * Reads what the store contains for the token endpoint. Sends no token request, takes no lease and writes nothing. For tools that
 * show the state of a store. A program that needs a token uses `layer`.
 *
 * Fails with a `ConfigError` in the same cases as `make`, and with a `StoreError` if the store cannot be read.
 *
 * @since 1.0.0
 * @category accessors
 */
export const read: Effect.Effect<
  Stored,
  ConfigError.ConfigError | StoreError,
  TokenEndpoint.TokenEndpoint | TokenStore
> = Effect.gen(function*() {
  const { present, store } = yield* parts
  const wall = yield* DateTime.now
  const look = yield* store.read(present.name)
  const content = Option.getOrElse(Envelope.opened(present, look), () => ({}))
  return {
    token: Option.fromNullable(Envelope.tokenOf(content, look.now, wall)),
    failure: Option.fromNullable(Envelope.failureOf(content, look.now, wall))
  }
})
