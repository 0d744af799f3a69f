// One call with a token of V2.

import { AuthV2 } from "@credit-data/auth-v2"
import { DataAccess } from "@credit-data/http-client"
import { FetchHttpClient } from "@effect/platform"
import { Effect, Layer } from "effect"

const call = Effect.flatMap(DataAccess.DataAccess, (client) => client.get("/data-access/consumers/42"))

const layer = DataAccess.layer().pipe(Layer.provide(AuthV2.layerConfig()), Layer.provide(FetchHttpClient.layer))

export const main = () => Effect.runPromise(Effect.provide(call, layer))
