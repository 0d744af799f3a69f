import { AuthV2 } from "@credit-data/auth-v2"
import { TokenEndpoint } from "@credit-data/core"
import { FetchHttpClient, type HttpClient } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { ProxyAgent } from "@effect/platform-node/Undici"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Redacted } from "effect"
import { createServer, type LookupFunction } from "node:net"
import * as Platform from "../../src/platform.ts"
import { canary } from "../../src/canaries.ts"
import { noNames } from "../../src/tls.ts"
import type { TransportName } from "../../src/transports.ts"

const through: ReadonlyArray<
  readonly [
    name: TransportName,
    transport: (proxy: string, proxyTls?: { readonly lookup?: LookupFunction }) => Layer.Layer<HttpClient.HttpClient>
  ]
> = [
  ["fetch", (uri, proxyTls = {}) =>
    Layer.provide(
      FetchHttpClient.layer,
      Layer.succeed(
        FetchHttpClient.RequestInit,
        Object.assign<RequestInit, object>({}, { dispatcher: new Platform.ProxyAgent({ uri, proxyTls }) })
      )
    )],
  ["undici", (uri, proxyTls = {}) =>
    Layer.provide(
      NodeHttpClient.layerUndiciWithoutDispatcher,
      Layer.sync(NodeHttpClient.Dispatcher, () => new ProxyAgent({ uri, proxyTls }))
    )]
]

const requestToken = (transport: Layer.Layer<HttpClient.HttpClient>) =>
  Effect.flatMap(TokenEndpoint.TokenEndpoint, (endpoint) => Effect.flip(endpoint.requestToken({ _tag: "Nothing" })))
    .pipe(
      Effect.provide(
        AuthV2.layerTokenEndpoint({
          environment: {
            name: "proxied",
            audience: "a",
            baseUrl: "https://api.example",
            authV2Url: "https://auth.example"
          },
          credentials: { clientId: "id", clientSecret: Redacted.make(canary) },
          scopes: ["data-access:all"]
        }).pipe(Layer.provide(transport))
      )
    )

/** Starts a forward proxy with this response, and returns its port and what it received. */
const proxy = Effect.fnUntraced(function*(statusLine: string) {
  let received = ""
  const server = createServer((socket) => {
    socket.on("error", () => socket.destroy())
    socket.on("data", (data) => {
      received += data.toString("latin1")
      socket.end(`HTTP/1.1 ${statusLine}\r\nContent-Length: 0\r\n\r\n`)
    })
  })
  const port = yield* Effect.acquireRelease(
    Effect.async<number>((resume) => {
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0))
      })
    }),
    () => Effect.sync(() => server.close())
  )
  return { port, received: () => received }
})

describe.each(through)("a forward proxy, over %s", (_, transport) => {
  for (
    const [statusLine, proxyStatus, retryable] of [
      ["407 Proxy Authentication Required", 407, false],
      ["403 Forbidden", 403, false],
      ["503 Service Unavailable", 503, true]
    ] as const
  ) {
    it.scopedLive(`that returns ${proxyStatus} is named as the cause, and receives no secret`, () =>
      Effect.gen(function*() {
        const { port, received } = yield* proxy(statusLine)
        const address = `http://me:hidden@127.0.0.1:${port}`
        const error = yield* requestToken(transport(address)).pipe(
          Effect.withConfigProvider(ConfigProvider.fromMap(new Map([["HTTPS_PROXY", address]])))
        )
        assert.deepInclude({ ...error }, { _tag: "TransportError", reason: "Proxy", proxyStatus })
        assert.strictEqual(error.retryable, retryable)
        assert.include(error.message, `the forward proxy 127.0.0.1:${port} returned ${proxyStatus}`)
        assert.notInclude(JSON.stringify(error), "hidden")
        assert.notInclude(received(), canary)
      }))
  }

  it.scopedLive("that refuses the connection is named as the cause, not the authorization server", () =>
    Effect.gen(function*() {
      const error = yield* requestToken(transport("http://127.0.0.1:1"))
      assert.deepInclude({ ...error }, { _tag: "TransportError", reason: "Proxy", proxy: "127.0.0.1:1" })
      assert.isTrue(error.retryable)
      assert.include(
        error.message,
        "the forward proxy 127.0.0.1:1 could not be reached. Check the proxy settings"
      )
    }))

  it.scopedLive("whose name does not resolve is named as the cause, and silent DNS too", () =>
    Effect.gen(function*() {
      const failure = (code: "ENOTFOUND" | "EAI_AGAIN") =>
        Effect.map(
          requestToken(transport("http://proxy.example:3128", { lookup: noNames(code) })),
          (error) => ({ ...error })
        )
      assert.deepInclude(yield* failure("ENOTFOUND"), { reason: "Proxy", proxy: "proxy.example" })
      assert.deepInclude(yield* failure("EAI_AGAIN"), { reason: "NameServiceFailed" })
    }))
})
