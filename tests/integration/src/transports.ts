import { FetchHttpClient, type HttpClient } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { Agent } from "@effect/platform-node/Undici"
import { Layer } from "effect"
import type { LookupFunction } from "node:net"
import * as Platform from "./platform.ts"

export type Transport = Layer.Layer<HttpClient.HttpClient>

/** The three transports that the platform has for Node. */
export const everyTransport = [
  ["fetch", FetchHttpClient.layer],
  ["node:http", NodeHttpClient.layer],
  ["undici", NodeHttpClient.layerUndici]
] as const

export type TransportName = (typeof everyTransport)[number][0]

const names: ReadonlyArray<string> = (process.env["TRANSPORTS"] ?? "node:http").split(",")

/** Of rows with one for each transport, those that this tier tests: `node:http` in `test`, the others in `test:transports`, all in `test:system`. */
const tested = <Row extends readonly [name: TransportName, ...others: ReadonlyArray<unknown>]>(
  rows: ReadonlyArray<Row>
): ReadonlyArray<Row> => rows.filter(([name]) => names.includes(name))

/** The transports that this tier tests. */
export const transports = tested(everyTransport)

/** The transports that this tier tests, with connections that remain open between calls. */
export const keeping = (
  agent: { readonly maxSockets?: number; readonly timeout?: number } = {}
): ReadonlyArray<readonly [name: TransportName, transport: Transport]> =>
  tested([
    ["fetch", FetchHttpClient.layer],
    [
      "node:http",
      Layer.provide(NodeHttpClient.layerWithoutAgent, NodeHttpClient.makeAgentLayer({ keepAlive: true, ...agent }))
    ],
    ["undici", NodeHttpClient.layerUndici]
  ])

/** How a transport connects: the authority that it trusts, and the resolver that it asks. */
interface Connect {
  readonly ca?: string
  readonly lookup?: LookupFunction
}

/** The transports that this tier tests, with these settings. */
export const connecting: ReadonlyArray<
  readonly [name: TransportName, transport: (connect: Connect) => Transport]
> = tested([
  ["fetch", (connect) => {
    const dispatcher = new Platform.Agent({ connect })
    return Layer.provide(
      FetchHttpClient.layer,
      Layer.succeed(FetchHttpClient.RequestInit, Object.assign<RequestInit, object>({}, { dispatcher }))
    )
  }],
  ["node:http", (connect) => Layer.provide(NodeHttpClient.layerWithoutAgent, NodeHttpClient.makeAgentLayer(connect))],
  [
    "undici",
    (connect) =>
      Layer.provide(
        NodeHttpClient.layerUndiciWithoutDispatcher,
        Layer.succeed(NodeHttpClient.Dispatcher, new Agent({ connect }))
      )
  ]
])

/** The transports that this tier tests, configured to trust this authority. */
export const trusting = connecting.map(([name, transport]) => [name, (ca: string) => transport({ ca })] as const)

/** A resolver that finds no name, and reports this code. It is not asked about an address. */
export const noNames = (code: "ENOTFOUND" | "EAI_AGAIN"): LookupFunction => (hostname, _, callback) =>
  callback(Object.assign(new Error(`getaddrinfo ${code} ${hostname}`), { code, hostname }), "")
