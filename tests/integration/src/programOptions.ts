import { AuthV2 } from "@credit-data/auth-v2"
import { FetchHttpClient, type HttpClient } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { Layer } from "effect"

const transports: Record<string, Layer.Layer<HttpClient.HttpClient>> = {
  fetch: FetchHttpClient.layer,
  "node:http": NodeHttpClient.layer,
  undici: NodeHttpClient.layerUndici
}

/** The transport that the program was started with. */
export const transport = transports[process.argv[2] ?? ""] ?? FetchHttpClient.layer

/** A supply from the environment variables, over that transport. */
export const auth = AuthV2.layerConfig().pipe(Layer.provide(transport))

// An unhandled rejection is printed, and the program fails.
process.on("unhandledRejection", (reason) => {
  console.error("unhandled rejection", reason)
  process.exitCode = 99
})
