import { type AccessTokens } from "@credit-data/core"
import { Simulator } from "@credit-data/simulator"
import type { HttpClient } from "@effect/platform"
import type { ConfigError } from "effect"
import { Layer } from "effect"

/** A supply over a simulator. The layer also provides the simulator, and the transport for the calls. */
export const simulated = (
  auth: Layer.Layer<AccessTokens.AccessTokens, ConfigError.ConfigError, HttpClient.HttpClient>,
  transport: Layer.Layer<HttpClient.HttpClient>,
  options?: Simulator.Settings
) =>
  auth.pipe(
    Layer.provide(Simulator.layerConfigProvider),
    Layer.provideMerge(transport),
    Layer.provideMerge(Simulator.layer(options))
  )
