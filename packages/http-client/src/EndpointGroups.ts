/**
 * The clients of all endpoint groups in one layer.
 *
 * @since 1.0.0
 */
import type * as AccessTokens from "@credit-data/core/AccessTokens"
import type * as HttpClient from "@effect/platform/HttpClient"
import type * as ConfigError from "effect/ConfigError"
import * as Layer from "effect/Layer"
import * as DataAccess from "./DataAccess.ts"
import * as EnablementServices from "./EnablementServices.ts"
import * as Furnishment from "./Furnishment.ts"
import type { Settings } from "./GroupClient.ts"

/**
 * The clients of all three groups. They share one supply, and therefore one token. A program that needs only two groups
 * merges their layers: `Layer.mergeAll(DataAccess.layer(), Furnishment.layer())`.
 *
 * Building the layer fails with a `ConfigError` if the supply does not request all three scopes.
 *
 * @since 1.0.0
 * @category layers
 * @example
 * ```ts
 * import { AccessTokens } from "@credit-data/core"
 * import { EndpointGroups } from "@credit-data/http-client"
 * import { Layer } from "effect"
 *
 * export const Clients = EndpointGroups.layer().pipe(Layer.provide(AccessTokens.layerTest()))
 * ```
 */
export const layer = (settings: Settings = {}): Layer.Layer<
  DataAccess.DataAccess | Furnishment.Furnishment | EnablementServices.EnablementServices,
  ConfigError.ConfigError,
  AccessTokens.AccessTokens | HttpClient.HttpClient
> => Layer.mergeAll(DataAccess.layer(settings), Furnishment.layer(settings), EnablementServices.layer(settings))
