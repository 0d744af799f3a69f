/**
 * The supply of access tokens of a process whose fleet shares one token.
 *
 * @since 1.0.0
 */
import * as AccessTokens from "@credit-data/core/AccessTokens"
import { sharedLayer } from "@credit-data/core/Internal"
import * as TokenEndpoint from "@credit-data/core/TokenEndpoint"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Protocol from "./internal/protocol.ts"
import { parts } from "./internal/stored.ts"
import { TokenStore } from "./TokenStore.ts"

/**
 * Builds a supply whose tokens come from a store that the processes of a fleet share. One process requests a token, and the others take it
 * from the store. `refresh` sends a request from each process that calls it.
 *
 * - A process waits for the token of another one for at most one deadline of the token endpoint. After that it sends a request itself, so
 *   callers wait for up to about two deadlines.
 * - The failures `InvalidClient` and `ServerError` are shared too: for 1 second, or for the duration of `Retry-After`.
 * - What is stored is encrypted with a key that is derived from the client secret. Processes with other credentials, another token
 *   endpoint, audience or other scopes use another entry of the store.
 * - During the pause after a failure, callers get a token that another process has obtained.
 * - A fault of the store never reaches a caller. After at most about 0.6 seconds of waiting for the store, this process requests its own token.
 *   After three consecutive faults, it does not use the store for 10 seconds.
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
 * Bind the layer to a const, because each call of `layer` makes another supply. For several tenants, wrap the whole layer of each one
 * in `Layer.fresh`, because Effect would build a const like the one below once for all of them.
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
