import { AuthV2 } from "@credit-data/auth-v2"
import { DataAccess } from "@credit-data/http-client"
import { type Certificate, makeAuthority, makeCertificate } from "@credit-data/test-support/certificates"
import { listen, listenForSockets } from "@credit-data/test-support/listen"
import { whileTimePasses } from "@credit-data/test-support/whileTimePasses"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, TestClock, TestServices } from "effect"
import { createSecureServer } from "node:http2"
import { connect } from "node:net"
import { createServer as createTlsServer } from "node:tls"
import { canary } from "../../src/canaries.ts"
import { optionsAt, requestToken } from "../../src/clients.ts"
import { granted, respond } from "../../src/servers.ts"
import { type Transport, trusting } from "../../src/transports.ts"

/** Starts a server with this certificate that returns a token. Returns its port and all that it decrypted. */
const serve = Effect.fnUntraced(function*(certificate: Certificate) {
  let decrypted = ""
  const server = createTlsServer({ ...certificate }, (socket) =>
    socket.on("data", (data) => {
      decrypted += data.toString("latin1")
      socket.end(respond(JSON.stringify(granted(1))))
    }))
  const port = yield* listen(server)
  return { port, decrypted: () => decrypted }
})

const requestTokenAt = (port: number, transport: Transport) => requestToken(`https://localhost:${port}`, transport)

const refused = { _tag: "TransportError", reason: "Tls", retryable: false }

describe.each(trusting)("TLS over %s", (name, transport) => {
  it.scoped("a server that speaks HTTP/2 only is a failure of TLS", () =>
    Effect.gen(function*() {
      const authority = yield* makeAuthority
      const certificate = yield* makeCertificate({ host: "localhost", days: 1, authority })
      const server = createSecureServer(certificate, (_, response) => void response.end("ok"))
      const error = yield* Effect.flip(requestTokenAt(yield* listen(server), transport(authority.cert)))
      if (error._tag === "TransportError") assert.deepInclude<object>(error, refused)
      // node:http offers no protocol in the handshake, and gets a response in HTTP/1.1
      else if (name === "node:http") assert.deepInclude({ ...error }, { _tag: "ServerError", endpointStatus: 403 })
      // undici 8 speaks HTTP/2, and reads the response
      else assert.deepInclude({ ...error }, { _tag: "InvalidResponse", rule: "Json" })
    }))

  it.scoped("the secret is sent to a server with a trusted certificate", () =>
    Effect.gen(function*() {
      const authority = yield* makeAuthority
      const { decrypted, port } = yield* serve(yield* makeCertificate({ host: "localhost", days: 1, authority }))
      assert.deepStrictEqual((yield* requestTokenAt(port, transport(authority.cert))).scopes, ["data-access:all"])
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
        const error = yield* Effect.flip(requestTokenAt(port, transport(trusted.cert)))
        assert.deepInclude<object>(error, refused)
        assert.strictEqual(decrypted(), "")
      }))
  }

  it.scoped("plain HTTP on the TLS port is refused and named as the cause, and the secret is not sent", () =>
    Effect.gen(function*() {
      let received = ""
      const port = yield* listenForSockets((socket) =>
        socket.on("data", (data) => {
          received += data.toString("latin1")
          socket.end("HTTP/1.1 400 Bad Request\r\n\r\n")
        })
      )
      const error = yield* Effect.flip(requestTokenAt(port, transport((yield* makeAuthority).cert)))
      assert.deepInclude<object>(error, refused)
      assert.isDefined("hint" in error ? error.hint : undefined)
      assert.notInclude(received, canary)
    }))

  it.scoped("a token request ends at the deadline if the server never responds to the handshake", () =>
    Effect.gen(function*() {
      let connections = 0
      const port = yield* listenForSockets((socket) => {
        connections++
        socket.resume().on("close", () => connections--)
      })
      const request = yield* Effect.fork(Effect.flip(requestTokenAt(port, transport((yield* makeAuthority).cert))))
      const until = (wanted: () => boolean) =>
        Effect.sleep("5 millis").pipe(Effect.repeat({ until: wanted }), TestServices.provideLive)
      yield* until(() => connections === 1)
      yield* TestClock.adjust("10 seconds")
      assert.deepInclude<object>(yield* Fiber.join(request), { _tag: "TransportError", reason: "Timeout" })
      // undici, which fetch uses too, aborts a handshake only after its own limit of 10 seconds
      if (name === "node:http") yield* until(() => connections === 0)
    }))

  {
    const tamper = (data: Buffer) => data.map((byte, index) => index < 5 ? byte : byte ^ 0x55)
    it.scoped("a corrupted record after the handshake is retryable, and the message does not claim that nothing was sent", () =>
      Effect.gen(function*() {
        const authority = yield* makeAuthority
        const { decrypted, port } = yield* serve(yield* makeCertificate({ host: "localhost", days: 30, authority }))
        // forwards the handshake, and changes what the server sends after it
        const relay = yield* listenForSockets((client) => {
          const server = connect(port, "127.0.0.1")
          let flights = 0
          server.on("error", () => client.destroy()).on("close", () => client.destroy())
          client.on("close", () => server.destroy()).on("data", (data) => {
            flights++
            server.write(data)
          })
          // the second TLS flight of the client ends the handshake and contains the request
          server.on("data", (data) => client.write(flights < 2 ? data : tamper(data)))
        })
        const request = Effect.flip(requestTokenAt(relay, transport(authority.cert)))
        const error = yield* whileTimePasses(request, { realMillis: 20 })
        assert.include(decrypted(), canary)
        assert(error._tag === "TransportError" && error.retryable)
        // undici, which fetch uses too, reports nothing and waits unless the server ends the connection
        assert.include(name === "node:http" ? ["Cut"] : ["Timeout", "Reset"], error.reason)
        assert.notInclude(error.message, "nothing was sent")
      }))
  }
})

describe("two clients in one program", () => {
  it.scoped("remain separate with Layer.fresh: the client certificate goes to the token endpoint, and to no other server", () =>
    Effect.gen(function*() {
      const authority = yield* makeAuthority
      const server = yield* makeCertificate({ host: "localhost", days: 30, authority })
      const client = yield* makeCertificate({ host: "client", days: 30, authority })
      const certificates: Array<readonly [server: string, subject: string]> = []
      const serveWithRequest = (name: string, body: string) =>
        listen(
          createTlsServer(
            { ...server, ca: authority.cert, requestCert: true, rejectUnauthorized: false },
            (socket) =>
              socket.once("data", () => {
                certificates.push([name, String(socket.getPeerCertificate().subject?.CN)])
                socket.end(respond(body))
              })
          )
        ).pipe(Effect.map((port) => `https://localhost:${port}`))
      const tokenEndpoint = yield* serveWithRequest("token endpoint", JSON.stringify(granted(1)))
      const api = yield* serveWithRequest("API", "{}")
      const trustingWith = (certificate?: Certificate) =>
        Layer.provide(
          NodeHttpClient.layerWithoutAgent,
          NodeHttpClient.makeAgentLayer({ ca: authority.cert, ...certificate })
        )
      const Auth = AuthV2.layer(optionsAt(tokenEndpoint, api)).pipe(Layer.provide(Layer.fresh(trustingWith(client))))
      const Clients = DataAccess.layer().pipe(Layer.provide(Auth), Layer.provide(trustingWith()))
      yield* Effect.flatMap(DataAccess.DataAccess, (client) => client.get("/a")).pipe(Effect.provide(Clients))
      assert.deepStrictEqual(certificates, [["token endpoint", "client"], ["API", "undefined"]])
    }))
})
