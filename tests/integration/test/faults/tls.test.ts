import { AuthV2 } from "@credit-data/auth-v2"
import { TokenEndpoint } from "@credit-data/core"
import { DataAccess } from "@credit-data/http-client"
import type { HttpClient } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Redacted, TestClock, TestServices } from "effect"
import { createSecureServer } from "node:http2"
import { connect, createServer as createTcpServer } from "node:net"
import { createServer as createTlsServer } from "node:tls"
import { type Certificate, makeAuthority, makeCertificate } from "@credit-data/test-support/certificates"
import { canary } from "../../src/canaries.ts"
import { granted } from "../../src/serverInMemory.ts"
import { listen, trusting } from "../../src/tls.ts"

const tokenBody = JSON.stringify(granted(1))

/** Starts a server with this certificate that returns a token. Returns its port and all that it decrypted. */
const serve = Effect.fnUntraced(function*(certificate: Certificate) {
  let decrypted = ""
  const server = createTlsServer({ ...certificate }, (socket) => {
    socket.on("error", () => socket.destroy())
    socket.on("data", (data) => {
      decrypted += data.toString("latin1")
      socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${tokenBody.length}\r\n\r\n${tokenBody}`)
    })
  })
  const port = yield* listen(server)
  return { port, decrypted: () => decrypted }
})

const requestToken = (port: number, transport: Layer.Layer<HttpClient.HttpClient>) => {
  const url = `https://localhost:${port}`
  return Effect.flatMap(TokenEndpoint.TokenEndpoint, (endpoint) => endpoint.requestToken({ _tag: "Nothing" })).pipe(
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
  it.scoped("a server that speaks HTTP/2 only is named as the cause", () =>
    Effect.gen(function*() {
      const authority = yield* makeAuthority
      const certificate = yield* makeCertificate({ host: "localhost", days: 1, authority })
      const server = createSecureServer(certificate, (_, response) => void response.end("ok"))
      const error = yield* Effect.flip(requestToken(yield* listen(server), transport(authority.cert)))
      if (error._tag === "TransportError") assert.include(error.message, "The server speaks HTTP/2 only")
      // node:http offers no protocol in the handshake, and gets a response in HTTP/1.1
      else if (name === "node:http") assert.deepInclude({ ...error }, { _tag: "ServerError", status: 403 })
      // undici 8 speaks HTTP/2, and reads the response
      else assert.deepInclude({ ...error }, { _tag: "InvalidResponse", rule: "Json" })
    }))

  it.scoped("the secret is sent to a server with a trusted certificate", () =>
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
    it.scoped(`a certificate that is ${what} is refused, and the secret is not sent`, () =>
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

  it.scoped("plain HTTP on the TLS port is refused, and the secret is not sent", () =>
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

  it.scoped("a token request ends at the deadline if the server never responds to the handshake", () =>
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
      // undici, which fetch uses too, aborts a handshake only after its own limit of 10 seconds
      if (name === "node:http") yield* until(() => connections === 0)
    }))

  /** Starts a server behind a relay. The relay forwards the handshake, and changes what the server sends after it. */
  const tampered = Effect.fnUntraced(function*(tamper: (data: Buffer) => Buffer) {
    const authority = yield* makeAuthority
    const { decrypted, port } = yield* serve(yield* makeCertificate({ host: "localhost", days: 30, authority }))
    const relay = yield* listen(createTcpServer((client) => {
      const server = connect(port, "127.0.0.1")
      let flights = 0
      client.on("error", () => server.destroy())
      server.on("error", () => client.destroy())
      client.on("data", (data) => {
        flights++
        server.write(data)
      })
      // the second TLS flight of the client ends the handshake and contains the request
      server.on("data", (data) => client.write(flights < 2 ? data : tamper(data)))
      client.on("close", () => server.destroy())
      server.on("close", () => client.destroy())
    }))
    return { relay, decrypted, transport: transport(authority.cert) }
  })

  for (
    const [title, tamper] of [
      ["a corrupted record", (data: Buffer) => data.map((byte, index) => index < 5 ? byte : byte ^ 0x55)],
      ["plain text within the stream", () => Buffer.from("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")]
    ] as const
  ) {
    it.scoped(`${title} after the handshake is retryable, and the message does not claim that nothing was sent`, () =>
      Effect.gen(function*() {
        const { decrypted, relay, transport } = yield* tampered((data) => Buffer.from(tamper(data)))
        const request = yield* Effect.fork(Effect.flip(requestToken(relay, transport)))
        const step = Effect.zipRight(
          TestServices.provideLive(Effect.sleep("20 millis")),
          TestClock.adjust("100 millis")
        )
        const error = yield* Fiber.join(request).pipe(Effect.raceFirst(Effect.forever(step)))
        assert.include(decrypted(), canary)
        assert(error._tag === "TransportError" && error.retryable)
        // undici, which fetch uses too, reports nothing and waits unless the server ends the connection
        assert.include(name === "node:http" ? ["Cut"] : ["Timeout", "Reset"], error.reason)
        assert.notInclude(error.message, "nothing was sent")
      }))
  }

  it.scoped("a port that speaks plain HTTP is named as the cause", () =>
    Effect.gen(function*() {
      const port = yield* listen(createTcpServer((socket) => {
        socket.on("error", () => socket.destroy())
        socket.on("data", () => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"))
      }))
      const error = yield* Effect.flip(requestToken(port, transport((yield* makeAuthority).cert)))
      assert.include(
        error.message,
        "the TLS handshake failed, so nothing was sent. The server did not respond with TLS"
      )
    }))
})

describe("two clients in one program", () => {
  const mutual = (authority: Certificate, certificate?: Certificate) =>
    Layer.provide(
      NodeHttpClient.layerWithoutAgent,
      NodeHttpClient.makeAgentLayer({ ca: authority.cert, ...certificate })
    )

  it.scoped("remain separate with Layer.fresh: the client certificate goes to the token endpoint, and to no other server", () =>
    Effect.gen(function*() {
      const authority = yield* makeAuthority
      const server = yield* makeCertificate({ host: "localhost", days: 30, authority })
      const client = yield* makeCertificate({ host: "client", days: 30, authority })
      const certificates: Array<readonly [server: string, subject: string]> = []
      const listening = Effect.fnUntraced(function*(name: string, body: string) {
        return yield* listen(
          createTlsServer(
            { ...server, ca: authority.cert, requestCert: true, rejectUnauthorized: false },
            (socket) => {
              socket.on("error", () => socket.destroy())
              socket.once("data", () => {
                certificates.push([name, String(socket.getPeerCertificate().subject?.CN)])
                socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
              })
            }
          )
        )
      })
      const tokenEndpoint = yield* listening("token endpoint", tokenBody)
      const api = yield* listening("API", "{}")
      const Auth = AuthV2.layer({
        environment: {
          name: "mutual",
          audience: "a",
          baseUrl: `https://localhost:${api}`,
          authV2Url: `https://localhost:${tokenEndpoint}`
        },
        credentials: { clientId: "id", clientSecret: Redacted.make(canary) },
        scopes: ["data-access:all"]
      }).pipe(Layer.provide(Layer.fresh(mutual(authority, client))))
      const Clients = DataAccess.layer().pipe(Layer.provide(Auth), Layer.provide(mutual(authority)))
      yield* Effect.flatMap(DataAccess.DataAccess, (client) => client.get("/a")).pipe(Effect.provide(Clients))
      assert.deepStrictEqual(certificates, [["token endpoint", "client"], ["API", "undefined"]])
    }))
})
