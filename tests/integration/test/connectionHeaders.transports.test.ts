import manifest from "@credit-data/core/package.json" with { type: "json" }
import { Fetch } from "@credit-data/http-client"
import { makeAuthority, makeCertificate } from "@credit-data/test-support/certificates"
import { listen } from "@credit-data/test-support/listen"
import { HttpClientRequest } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect, identity } from "effect"
import { createSecureContext, createServer as createTlsServer } from "node:tls"
import { canary } from "../src/canaries.ts"
import { changed, requestToken, withDataAccess } from "../src/clients.ts"
import { granted, respond, serveSockets } from "../src/servers.ts"
import { transports, trusting } from "../src/transports.ts"

/** What a gateway forwards if it does not drop its own connection's headers. */
const foreign = {
  host: "evil.example",
  connection: "close, upgrade, x-kept, authorization",
  upgrade: "websocket",
  "keep-alive": "timeout=100",
  "proxy-connection": "keep-alive",
  te: "trailers",
  trailer: "x-checksum",
  expect: "100-continue",
  "x-kept": "kept"
}

const response = respond(JSON.stringify(granted(1)), "Connection: close")

/** A server on a raw socket that grants a token. Returns its address and the bytes that it received. */
const rawServer = Effect.gen(function*() {
  const received: Array<string> = []
  const url = yield* serveSockets((socket) =>
    socket.on("data", (data) => {
      received.push(data.toString("latin1"))
      if (received.join("").includes("\r\n\r\n")) socket.end(response)
    })
  )
  return { url, received }
})

const headersOf = (received: ReadonlyArray<string>) => received.join("").split("\r\n\r\n")[0]?.toLowerCase() ?? ""

const assertClean = (received: ReadonlyArray<string>, url: string) => {
  const headers = headersOf(received)
  assert.deepStrictEqual(headers.match(/^host: .*$/gm), [`host: ${new URL(url).host}`])
  for (const dropped of ["evil", "timeout=100", "proxy-connection", "\nte:", "\ntrailer:", "\nexpect:", "upgrade"]) {
    assert.notInclude(headers, dropped)
  }
  assert.include(headers, "x-kept: kept")
}

const withForeign = HttpClientRequest.setHeaders(foreign)

describe.each(transports)("the headers of a caller's connection, over %s", (_, transport) => {
  it.scoped("are not sent with a token request by a client that adds them", () =>
    Effect.gen(function*() {
      const { received, url } = yield* rawServer
      yield* requestToken(url, changed(transport, withForeign))
      assertClean(received, url)
      assert.include(received.join(""), encodeURIComponent(canary))
    }))

  it.scoped("are not sent with a call, and cannot remove its token", () =>
    Effect.gen(function*() {
      const { received, url } = yield* rawServer
      yield* withDataAccess(url, transport, (client) =>
        Effect.gen(function*() {
          yield* client.execute(withForeign(HttpClientRequest.get("/a")))
          assertClean(received, url)
          assert.include(headersOf(received), `authorization: bearer ${canary}`)
          received.length = 0
          // `fetch` itself refuses the headers of a connection in its Headers, but not Host
          const fetch = yield* Fetch.make(client)
          yield* Effect.promise(() => fetch("/a", { headers: { host: "evil.example", "x-kept": "kept" } }))
          assertClean(received, url)
        }))
    }))

  it.scopedLive("cannot remove the program's own headers, so a POST that is sent again has its Idempotency-Key", () =>
    Effect.gen(function*() {
      const received: Array<string> = []
      const url = yield* serveSockets((socket) =>
        socket.on("data", (data) => {
          if (received.push(data.toString("latin1").toLowerCase()) === 1) socket.resetAndDestroy()
          else socket.end(response)
        })
      )
      const headers = { connection: "x-tenant, idempotency-key", "x-tenant": "a", "idempotency-key": "1" }
      yield* withDataAccess(url, transport, (client) => client.post("/a", { headers }))
      assert.strictEqual(received.length, 2)
      for (const request of received) {
        assert.include(request, "\r\nx-tenant: a\r\n")
        assert.include(request, "\r\nidempotency-key: 1\r\n")
      }
    }))

  it.scoped("cannot give a request without a body a length", () =>
    Effect.gen(function*() {
      const { received, url } = yield* rawServer
      yield* withDataAccess(url, transport, (client) => client.get("/a", { headers: { "content-length": "9" } }))
      assert.notInclude(headersOf(received), "content-length")
    }))
})

describe.each(transports)("the User-Agent, over %s", (_, transport) => {
  const userAgents = (received: ReadonlyArray<string>) => headersOf(received).match(/^user-agent: .*$/gm)
  const setting = HttpClientRequest.setHeader("user-agent", "mine/1")

  it.scoped("of a token request and a call names this project, unless the program or the caller sets another", () =>
    Effect.gen(function*() {
      const { received, url } = yield* rawServer
      const own = [`user-agent: credit-data/${manifest.version}`]
      yield* requestToken(url, transport)
      assert.deepStrictEqual(userAgents(received), own)
      received.length = 0
      yield* requestToken(url, changed(transport, setting))
      assert.deepStrictEqual(userAgents(received), ["user-agent: mine/1"])
      for (const [request, expected] of [[identity, own], [setting, ["user-agent: mine/1"]]] as const) {
        received.length = 0
        yield* withDataAccess(url, transport, (client) => client.execute(request(HttpClientRequest.get("/a"))))
        assert.deepStrictEqual(userAgents(received), expected)
      }
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
      }, (socket) => socket.on("data", () => socket.end(response)))
      const url = `https://localhost:${yield* listen(server)}`
      yield* requestToken(url, changed(transport(authority.cert), withForeign))
      assert.deepStrictEqual([...new Set(named)], ["localhost"])
    }))
})
