import { FetchHttpClient } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"

/** The three transports that the platform has for Node. */
export const transports = [
  ["fetch", FetchHttpClient.layer],
  ["node:http", NodeHttpClient.layer],
  ["undici", NodeHttpClient.layerUndici]
] as const

export type TransportName = (typeof transports)[number][0]
