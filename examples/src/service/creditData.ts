import { AuthV1 } from "@credit-data/auth-v1"
import { AuthV2 } from "@credit-data/auth-v2"
import { DataAccess } from "@credit-data/http-client"
import { NodeHttpClient } from "@effect/platform-node"
import { Config, Effect, Layer } from "effect"

/** Tokens of the version that CREDIT_DATA_AUTH names: `v1`, or `v2` by default. */
const Auth = Layer.unwrapEffect(
  Effect.map(
    Config.withDefault(Config.literal("v1", "v2")("CREDIT_DATA_AUTH"), "v2"),
    (version) => version === "v1" ? AuthV1.layerConfig() : AuthV2.layerConfig()
  )
)

/** The transport of the calls: `node:http` with keep-alive connections. */
const Http = NodeHttpClient.layerWithoutAgent.pipe(
  Layer.provide(NodeHttpClient.makeAgentLayer({ keepAlive: true, timeout: 4_000 }))
)

/** The client of Data Access, and the supply of tokens, which the health check and the metrics need too. */
export const CreditData = DataAccess.layer().pipe(Layer.provideMerge(Auth), Layer.provide(Http))
