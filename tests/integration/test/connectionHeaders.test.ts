import { AuthV2 } from "@credit-data/auth-v2"
import { AccessTokens, TokenEndpoint } from "@credit-data/core"
import { DataAccess, Fetch } from "@credit-data/http-client"
import { makeAuthority, makeCertificate } from "@credit-data/test-support/certificates"
import { HttpClient, HttpClientRequest } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { createServer } from "node:net"
import { createSecureContext, createServer as createTlsServer } from "node:tls"
import { canary } from "../src/canaries.ts"
import { granted } from "../src/serverInMemory.ts"
import { listen, trusting } from "../src/tls.ts"
import { transports } from "../src/transports.ts"

/** What a gateway forwards if it does not drop its own connection's headers. */
const foreign = {
  host: "evil.example",
  connection: "close, x-kept, authorization",
  "keep-alive": "timeout=100",
  "proxy-connection": "keep-alive",
  te: "trailers",
  trailer: "x-checksum",
  expect: "100-continue",
  "x-kept": "kept"
}

const respond = (body: string) =>
  `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`

/** A server on a raw socket that grants a token. Returns its address and the bytes that it received. */
const rawServer = Effect.gen(function*() {
  const received: Array<string> = []
  const server = createServer((socket) => {
    socket.on("error", () => socket.destroy())
    socket.on("data", (data) => {
      received.push(data.toString("latin1"))
      if (/\r\n\r\n/.test(received.join(""))) socket.end(respond(JSON.stringify(granted(1))))
    })
  })
  const port = yield* listen(server)
  return { url: `http://127.0.0.1:${port}`, authority: `127.0.0.1:${port}`, received }
})

const headersOf = (received: ReadonlyArray<string>) => received.join("").split("\r\n\r\n")[0]?.toLowerCase() ?? ""

const assertClean = (received: ReadonlyArray<string>, authority: string) => {
  const headers = headersOf(received)
  assert.deepStrictEqual(headers.match(/^host: .*$/gm), [`host: ${authority}`])
  for (const dropped of ["evil", "timeout=100", "proxy-connection", "\nte:", "\ntrailer:", "\nexpect:"]) {
    assert.notInclude(headers, dropped)
  }
  assert.include(headers, "x-kept: kept")
}

const withForeign = HttpClient.mapRequest(HttpClientRequest.setHeaders(foreign))

const endpointAt = (url: string) =>
  AuthV2.layerTokenEndpoint({
    environment: { name: "raw", audience: "a", baseUrl: url, authV2Url: url },
    credentials: { clientId: "id", clientSecret: Redacted.make(canary) },
    scopes: ["data-access:all"]
  })

const requestToken = Effect.flatMap(
  TokenEndpoint.TokenEndpoint,
  (endpoint) => endpoint.requestToken({ _tag: "Nothing" })
)

/** The program's own client adds the headers to each request. */
const adding = (transport: Layer.Layer<HttpClient.HttpClient>) =>
  Layer.provide(Layer.effect(HttpClient.HttpClient, Effect.map(HttpClient.HttpClient, withForeign)), transport)

describe.each(transports)("the headers of a caller's connection, over %s", (name, transport) => {
  it.scoped("are not sent with a token request by a client that adds them", () =>
    Effect.gen(function*() {
      const { authority, received, url } = yield* rawServer
      yield* requestToken.pipe(Effect.provide(Layer.provide(endpointAt(url), adding(transport))))
      assertClean(received, authority)
      assert.include(received.join(""), encodeURIComponent(canary))
    }))

  it.scoped("are not sent with a call, and cannot remove its token", () =>
    Effect.gen(function*() {
      const { authority, received, url } = yield* rawServer
      const Clients = DataAccess.layer().pipe(
        Layer.provide([AccessTokens.layerTest({ environment: { baseUrl: url } }), transport])
      )
      yield* Effect.gen(function*() {
        const client = yield* DataAccess.DataAccess
        yield* client.execute(HttpClientRequest.setHeaders(HttpClientRequest.get("/a"), foreign))
        assertClean(received, authority)
        assert.include(headersOf(received), "authorization: bearer test-token")
        received.length = 0
        // `fetch` itself refuses the headers of a connection in its Headers, but not Host
        const fetch = yield* Fetch.make(client)
        yield* Effect.promise(() => fetch("/a", { headers: { host: "evil.example", "x-kept": "kept" } }))
        assertClean(received, authority)
      }).pipe(Effect.provide(Clients))
    }))

  it.scopedLive("cannot remove the program's own headers, so a POST that is sent again has its Idempotency-Key", () =>
    Effect.gen(function*() {
      const received: Array<string> = []
      const port = yield* listen(createServer((socket) => {
        socket.on("error", () => socket.destroy())
        socket.on("data", (data) => {
          if (received.push(data.toString("latin1").toLowerCase()) === 1) socket.resetAndDestroy()
          else socket.end(respond("{}"))
        })
      }))
      const Clients = DataAccess.layer().pipe(
        Layer.provide([AccessTokens.layerTest({ environment: { baseUrl: `http://127.0.0.1:${port}` } }), transport])
      )
      yield* Effect.flatMap(DataAccess.DataAccess, (client) =>
        client.execute(
          HttpClientRequest.post("/a", { headers: { connection: "x-tenant, idempotency-key" } }).pipe(
            HttpClientRequest.setHeaders({ "x-tenant": "a", "idempotency-key": "1" })
          )
        )).pipe(Effect.provide(Clients))
      assert.strictEqual(received.length, 2)
      for (const request of received) {
        assert.include(request, "\r\nx-tenant: a\r\n")
        assert.include(request, "\r\nidempotency-key: 1\r\n")
      }
    }))

  if (name === "node:http") {
    it.scoped("that ask for an upgrade are sent", () =>
      Effect.gen(function*() {
        const { received, url } = yield* rawServer
        const Clients = DataAccess.layer().pipe(
          Layer.provide([AccessTokens.layerTest({ environment: { baseUrl: url } }), transport])
        )
        yield* Effect.flatMap(DataAccess.DataAccess, (client) =>
          client.get("/a", { headers: { connection: "keep-alive, Upgrade", upgrade: "websocket" } })).pipe(
            Effect.provide(Clients)
          )
        const headers = headersOf(received)
        assert.include(headers, "connection: upgrade\r\n")
        assert.include(headers, "upgrade: websocket\r\n")
      }))
  }

  it.scoped("cannot give a request without a body a length", () =>
    Effect.gen(function*() {
      const { received, url } = yield* rawServer
      const Clients = DataAccess.layer().pipe(
        Layer.provide([AccessTokens.layerTest({ environment: { baseUrl: url } }), transport])
      )
      yield* Effect.flatMap(DataAccess.DataAccess, (client) => client.get("/a", { headers: { "content-length": "9" } }))
        .pipe(Effect.provide(Clients))
      assert.notInclude(headersOf(received), "content-length")
    }))
})

describe.each(trusting)("a host header, over TLS and %s", (_, transport) => {
  it.scoped("does not choose the server whose certificate is accepted", () =>
    Effect.gen(function*() {
      const authority = yield* makeAuthority
      const certificate = (host: string) => makeCertificate({ host, days: 1, authority })
      const own = yield* certificate("localhost")
      const evil = createSecureContext({ ...(yield* certificate("evil.example")) })
      const named: Array<string> = []
      const server = createTlsServer({
        ...own,
        // two certificates that the client trusts: the name in the handshake decides
        SNICallback: (name, done) => {
          named.push(name)
          done(null, name === "evil.example" ? evil : createSecureContext({ ...own }))
        }
      }, (socket) => {
        socket.on("error", () => socket.destroy())
        socket.on("data", () => socket.end(respond(JSON.stringify(granted(1)))))
      })
      const url = `https://localhost:${yield* listen(server)}`
      yield* requestToken.pipe(Effect.provide(Layer.provide(endpointAt(url), adding(transport(authority.cert)))))
      assert.deepStrictEqual([...new Set(named)], ["localhost"])
    }))
})
