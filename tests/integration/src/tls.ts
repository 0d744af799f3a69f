import { FetchHttpClient, type HttpClient } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { Agent } from "@effect/platform-node/Undici"
import { Effect, Layer } from "effect"
import type { Server } from "node:net"
import * as Platform from "./platform.ts"
import type { TransportName } from "./transports.ts"

/** The three transports, configured to trust this authority. */
export const trusting: ReadonlyArray<
  readonly [name: TransportName, transport: (ca: string) => Layer.Layer<HttpClient.HttpClient>]
> = [
  ["fetch", (ca) => {
    const dispatcher = new Platform.Agent({ connect: { ca } })
    return Layer.provide(
      FetchHttpClient.layer,
      Layer.succeed(FetchHttpClient.RequestInit, Object.assign<RequestInit, object>({}, { dispatcher }))
    )
  }],
  ["node:http", (ca) => Layer.provide(NodeHttpClient.layerWithoutAgent, NodeHttpClient.makeAgentLayer({ ca }))],
  [
    "undici",
    (ca) =>
      Layer.provide(
        NodeHttpClient.layerUndiciWithoutDispatcher,
        Layer.succeed(NodeHttpClient.Dispatcher, new Agent({ connect: { ca } }))
      )
  ]
]

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
