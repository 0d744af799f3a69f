// Makes a call whose rejection is not handled. Node prints the reason of the rejection and ends the process.

import { DataAccess } from "@credit-data/http-client"
import { Effect, Layer, ManagedRuntime } from "effect"
import { auth, transport } from "../../src/programOptions.ts"

process.removeAllListeners("unhandledRejection")

const runtime = ManagedRuntime.make(DataAccess.layer().pipe(Layer.provide(auth), Layer.provide(transport)))
const call = Effect.flatMap(DataAccess.DataAccess, (client) => client.get("/data-access/consumers/42"))
void runtime.runPromise(Effect.flatMap(call, ({ json }) => json))
