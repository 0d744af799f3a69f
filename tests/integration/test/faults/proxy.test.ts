import { listenForSockets } from "@credit-data/test-support/listen"
import { FetchHttpClient } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { ProxyAgent } from "@effect/platform-node/Undici"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { LookupFunction } from "node:net"
import { canary } from "../../src/canaries.ts"
import { requestToken } from "../../src/clients.ts"
import * as Platform from "../../src/platform.ts"
import { noNames, type Transport, type TransportName } from "../../src/transports.ts"

interface Proxy {
  readonly uri: string
  readonly proxyTls?: { readonly lookup?: LookupFunction }
}

const through: ReadonlyArray<readonly [name: TransportName, transport: (proxy: Proxy) => Transport]> = [
  ["fetch", (proxy) =>
    Layer.provide(
      FetchHttpClient.layer,
      Layer.succeed(
        FetchHttpClient.RequestInit,
        Object.assign<RequestInit, object>({}, { dispatcher: new Platform.ProxyAgent(proxy) })
      )
    )],
  ["undici", (proxy) =>
    Layer.provide(
      NodeHttpClient.layerUndiciWithoutDispatcher,
      Layer.sync(NodeHttpClient.Dispatcher, () => new ProxyAgent(proxy))
    )]
]

describe.each(through)("a forward proxy, over %s", (_, transport) => {
  const failureThrough = (proxy: Proxy) => Effect.flip(requestToken("https://auth.example", transport(proxy)))

  for (
    const [statusLine, proxyStatus, retryable] of [
      ["407 Proxy Authentication Required", 407, false],
      ["403 Forbidden", 403, false],
      ["503 Service Unavailable", 503, true]
    ] as const
  ) {
    it.scopedLive(`that returns ${proxyStatus} is named as the cause, and receives no secret`, () =>
      Effect.gen(function*() {
        let received = ""
        const port = yield* listenForSockets((socket) =>
          socket.on("data", (data) => {
            received += data.toString("latin1")
            socket.end(`HTTP/1.1 ${statusLine}\r\nContent-Length: 0\r\n\r\n`)
          })
        )
        const uri = `http://me:hidden@127.0.0.1:${port}`
        const error = yield* failureThrough({ uri })
        assert.deepInclude<object>(error, { _tag: "TransportError", reason: "Proxy", proxyStatus, retryable })
        assert.include(error.message, `the forward proxy returned ${proxyStatus}`)
        assert.notInclude(JSON.stringify(error), "hidden")
        assert.notInclude(received, canary)
      }))
  }

  it.scopedLive("that refuses the connection is named as the cause, not the authorization server", () =>
    Effect.gen(function*() {
      const error = yield* failureThrough({ uri: "http://127.0.0.1:1" })
      assert.deepInclude<object>(error, { reason: "Proxy", proxy: "127.0.0.1:1", retryable: true })
      assert.include(error.message, "the forward proxy 127.0.0.1:1 could not be reached. Check the proxy settings")
    }))

  it.scopedLive("whose name does not resolve is named as the cause, and silent DNS too", () =>
    Effect.gen(function*() {
      const failure = (code: "ENOTFOUND" | "EAI_AGAIN") =>
        failureThrough({ uri: "http://proxy.example:3128", proxyTls: { lookup: noNames(code) } })
      assert.deepInclude<object>(yield* failure("ENOTFOUND"), { reason: "Proxy", proxy: "proxy.example" })
      assert.deepInclude<object>(yield* failure("EAI_AGAIN"), { reason: "NameServiceFailed" })
    }))
})
