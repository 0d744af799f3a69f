import { FetchHttpClient, type HttpClient } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { Layer } from "effect"

/** The transports that keep connections open between calls. */
export const keepAliveTransports: Readonly<Record<string, Layer.Layer<HttpClient.HttpClient>>> = {
  fetch: FetchHttpClient.layer,
  "node:http with keep-alive": Layer.provide(
    NodeHttpClient.layerWithoutAgent,
    NodeHttpClient.makeAgentLayer({ keepAlive: true })
  ),
  undici: NodeHttpClient.layerUndici
}

/** The transports that a server can choose from. */
export const allTransports: Readonly<Record<string, Layer.Layer<HttpClient.HttpClient>>> = {
  "node:http": NodeHttpClient.layer,
  ...keepAliveTransports
}
