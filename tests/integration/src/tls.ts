import { FetchHttpClient, type HttpClient } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { Agent } from "@effect/platform-node/Undici"
import { Effect, Layer } from "effect"
import type { LookupFunction, Server } from "node:net"
import * as Platform from "./platform.ts"
import { tested, type TransportName } from "./transports.ts"

/** How a transport connects: the authority that it trusts, and the resolver that it asks. */
interface Connect {
  readonly ca?: string
  readonly lookup?: LookupFunction
}

/** The transports that this tier tests, with these settings. */
export const connecting: ReadonlyArray<
  readonly [name: TransportName, transport: (connect: Connect) => Layer.Layer<HttpClient.HttpClient>]
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

/** Listens on a loopback port until the scope ends. */
export const listen = (server: Server) =>
  Effect.acquireRelease(
    Effect.async<number>((resume) => {
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        resume(typeof address === "object" && address !== null ? Effect.succeed(address.port) : Effect.die(address))
      })
    }),
    () => Effect.sync(() => server.close())
  )
