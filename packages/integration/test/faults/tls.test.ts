import { AuthV2 } from "@credit-data/auth-v2"
import { TokenEndpoint } from "@credit-data/core"
import { FetchHttpClient, type HttpClient } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { Agent } from "@effect/platform-node/Undici"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Redacted, TestClock, TestServices } from "effect"
import { createServer as createTcpServer, type Server } from "node:net"
import { createServer as createTlsServer } from "node:tls"
import { type Certificate, makeAuthority, makeCertificate } from "../../src/certificates.ts"
import { canary } from "../../src/canaries.ts"
import { granted } from "../../src/serverInMemory.ts"
import type { TransportName } from "../../src/transports.ts"

/** The three transports, told to trust an authority besides those that Node comes with. */
const trusting: ReadonlyArray<
  readonly [name: TransportName, transport: (ca: string) => Layer.Layer<HttpClient.HttpClient>]
> = [
  ["fetch", (ca) => {
    const dispatcher = new Agent({ connect: { ca } })
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
const listen = (server: Server) =>
  Effect.acquireRelease(
    Effect.async<number>((resume) => {
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        resume(typeof address === "object" && address !== null ? Effect.succeed(address.port) : Effect.die(address))
      })
    }),
    () => Effect.sync(() => server.close())
  )

const answer = JSON.stringify(granted(1))

/** A server with this certificate, which answers with a token, and all that it could decrypt. */
const serve = Effect.fnUntraced(function*(certificate: Certificate) {
  let decrypted = ""
  const server = createTlsServer({ ...certificate }, (socket) => {
    socket.on("error", () => socket.destroy())
    socket.on("data", (data) => {
      decrypted += data.toString("latin1")
      socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${answer.length}\r\n\r\n${answer}`)
    })
  })
  const port = yield* listen(server)
  return { port, decrypted: () => decrypted }
})

const requestToken = (port: number, transport: Layer.Layer<HttpClient.HttpClient>) => {
  const url = `https://localhost:${port}`
  return Effect.flatMap(TokenEndpoint.TokenEndpoint, (endpoint) => endpoint.requestToken).pipe(
    Effect.provide(
      AuthV2.layerTokenEndpoint({
        environment: { name: "tls", audience: "a", baseUrl: url, authV2Url: url },
        credentials: { clientId: "id", clientSecret: Redacted.make(canary) },
        scopes: ["data-access:all"]
      }).pipe(Layer.provide(transport))
    )
  )
}

const refused = { _tag: "TransportError", reason: "Tls" }

describe.each(trusting)("TLS over %s", (name, transport) => {
  it.scoped("a certificate that is trusted carries the secret", () =>
    Effect.gen(function*() {
      const authority = yield* makeAuthority
      const { decrypted, port } = yield* serve(yield* makeCertificate({ host: "localhost", days: 1, authority }))
      assert.deepStrictEqual((yield* requestToken(port, transport(authority.cert))).scopes, ["data-access:all"])
      assert.include(decrypted(), canary)
    }))

  for (
    const [what, signer, certificate] of [
      ["self-signed", "itself", { host: "localhost", days: 1 }],
      ["of an unknown authority", "an unknown authority", { host: "localhost", days: 1 }],
      ["expired", "the trusted authority", { host: "localhost", days: -1 }],
      ["for another host", "the trusted authority", { host: "elsewhere.example", days: 1 }]
    ] as const
  ) {
    it.scoped(`a certificate that is ${what} is refused, and the secret isn't sent`, () =>
      Effect.gen(function*() {
        const trusted = yield* makeAuthority
        const authority = signer === "the trusted authority" ? trusted : yield* makeAuthority
        const { decrypted, port } = yield* serve(
          yield* makeCertificate(signer === "itself" ? certificate : { ...certificate, authority })
        )
        const error = yield* Effect.flip(requestToken(port, transport(trusted.cert)))
        assert.deepInclude<object>(error, { ...refused, retryable: false })
        assert.strictEqual(decrypted(), "")
      }))
  }

  it.scoped("plain HTTP on the TLS port is refused, and the secret isn't sent", () =>
    Effect.gen(function*() {
      let received = ""
      const port = yield* listen(createTcpServer((socket) => {
        socket.on("error", () => socket.destroy())
        socket.on("data", (data) => {
          received += data.toString("latin1")
          socket.end("HTTP/1.1 400 Bad Request\r\n\r\n")
        })
      }))
      const error = yield* Effect.flip(requestToken(port, transport((yield* makeAuthority).cert)))
      assert.deepInclude<object>(error, refused)
      assert.notInclude(received, canary)
    }))

  it.scoped("a server that never shakes hands ends at the deadline", () =>
    Effect.gen(function*() {
      let connections = 0
      const port = yield* listen(createTcpServer((socket) => {
        connections++
        socket.resume()
        socket.on("error", () => socket.destroy())
        socket.on("close", () => connections--)
      }))
      const request = yield* Effect.fork(Effect.flip(requestToken(port, transport((yield* makeAuthority).cert))))
      const until = (wanted: () => boolean) =>
        Effect.sleep("5 millis").pipe(Effect.repeat({ until: wanted }), TestServices.provideLive)
      yield* until(() => connections === 1)
      yield* TestClock.adjust("10 seconds")
      assert.deepInclude<object>(yield* Fiber.join(request), { _tag: "TransportError", reason: "Timeout" })
      // undici, which is fetch's too, can't be told to give up a handshake: it does so after 10 seconds of its own
      if (name === "node:http") yield* until(() => connections === 0)
    }))
})
