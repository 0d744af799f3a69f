// What arrives at a server, of rules that the tests of core and of the HTTP client check in memory: one test over sockets for each.

import { AuthV2 } from "@credit-data/auth-v2"
import { TokenError } from "@credit-data/core"
import { DataAccess, GroupClient } from "@credit-data/http-client"
import { makeAuthority, makeCertificate } from "@credit-data/test-support/certificates"
import { listen } from "@credit-data/test-support/listen"
import { failures, otherStatuses, outsideTheContract } from "@credit-data/test-support/tokenResponses"
import { whileTimePasses } from "@credit-data/test-support/whileTimePasses"
import { HttpClientRequest } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, TestClock } from "effect"
import { createSecureContext, createServer as createTlsServer } from "node:tls"
import { canary } from "../src/canaries.ts"
import { changed, optionsAt, requestToken, withDataAccess } from "../src/clients.ts"
import { granted, respond, serveHttp, serveSockets } from "../src/servers.ts"
import { transports, trusting } from "../src/transports.ts"

const responses = [...outsideTheContract, ...otherStatuses, ...failures]

/** What a gateway forwards if it does not drop its own connection's headers. */
const withForeign = HttpClientRequest.setHeaders({
  host: "evil.example",
  connection: "close, upgrade, x-kept, authorization",
  upgrade: "websocket",
  "keep-alive": "timeout=100",
  "proxy-connection": "keep-alive",
  te: "trailers",
  trailer: "x-checksum",
  expect: "100-continue",
  "x-kept": "kept"
})

const response = respond(JSON.stringify(granted(1)), "Connection: close")

describe.each(transports)("over %s", (_, transport) => {
  it.scoped("the path of a call arrives below the base path, with its values encoded and without a fragment", () =>
    Effect.gen(function*() {
      const targets: Array<string | undefined> = []
      const url = yield* serveHttp((request, response) => {
        targets.push(request.url)
        response.end("{}")
      })
      yield* withDataAccess(`${url}/v1`, transport, (client) =>
        Effect.gen(function*() {
          yield* client.execute(HttpClientRequest.get("/a?b=c", { hash: "h" }))
          yield* client.pipe(GroupClient.call("GET", "/consumers/{id}/score", { id: "a/b ü?c#d%2e" }))
          yield* Effect.flip(client.get("/consumers/%2e%2e%2f%2e%2e%2fadmin"))
        }))
      assert.deepStrictEqual(targets, ["/v1/a?b=c", "/v1/consumers/a%2Fb%20%C3%BC%3Fc%23d%252e/score"])
    }))

  it.scoped("a call that is sent again after a reset has another token if the first one has expired meanwhile", () =>
    Effect.gen(function*() {
      const received: Array<string> = []
      const arrived = yield* Deferred.make<() => void>()
      let issued = 0
      const url = yield* serveSockets((socket) => {
        const end = (body: object) => socket.end(respond(JSON.stringify(body), "Connection: close"))
        socket.once("data", (data) => {
          const token = /authorization: bearer (\S+)/i.exec(data.toString("latin1"))?.[1]
          if (token === undefined) end({ ...granted(0), access_token: `token-${++issued}`, expires_in: 3 })
          else if (received.push(token) > 1) end({})
          else Deferred.unsafeDone(arrived, Effect.succeed(() => socket.resetAndDestroy()))
        })
      })
      yield* Effect.gen(function*() {
        const client = yield* DataAccess.DataAccess
        const call = yield* Effect.fork(client.get("/a"))
        const reset = yield* Deferred.await(arrived)
        yield* TestClock.adjust("4 seconds")
        reset()
        const { status } = yield* whileTimePasses(Fiber.join(call), { realMillis: 5, stepMillis: 1 })
        assert.strictEqual(status, 200)
      }).pipe(
        Effect.provide(DataAccess.layer().pipe(Layer.provide(AuthV2.layer(optionsAt(url))), Layer.provide(transport)))
      )
      assert.deepStrictEqual(received, ["token-1", "token-2"])
    }))

  it.scoped("the headers of a caller's connection arrive neither with a token request nor with a call", () =>
    Effect.gen(function*() {
      let received = ""
      const url = yield* serveSockets((socket) =>
        socket.on("data", (data) => {
          received += data.toString("latin1")
          if (received.includes("\r\n\r\n")) socket.end(response)
        })
      )
      const assertClean = () => {
        const headers = received.split("\r\n\r\n")[0]?.toLowerCase() ?? ""
        assert.deepStrictEqual(headers.match(/^host: .*$/gm), [`host: ${new URL(url).host}`])
        for (
          const dropped of ["evil", "timeout=100", "proxy-connection", "\nte:", "\ntrailer:", "\nexpect:", "upgrade"]
        ) {
          assert.notInclude(headers, dropped)
        }
        assert.include(headers, "x-kept: kept")
      }
      yield* requestToken(url, changed(transport, withForeign))
      assertClean()
      assert.include(received, encodeURIComponent(canary))
      received = ""
      yield* withDataAccess(url, transport, (client) => client.execute(withForeign(HttpClientRequest.get("/a"))))
      assertClean()
      assert.include(received.toLowerCase(), `authorization: bearer ${canary}`)
    }))

  it.scopedLive("every token response that must fail is the same failure as in memory, after one request", () =>
    Effect.gen(function*() {
      let requests = 0
      const url = yield* serveHttp((request, response) => {
        const { body, status } = responses[requests++] ?? { body: "", status: 500 }
        request.resume().on("end", () => response.writeHead(status, { location: "/elsewhere" }).end(body))
      })
      for (const [index, { failure, name, retryable, status }] of responses.entries()) {
        const error = yield* Effect.flip(requestToken(url, transport))
        assert(TokenError.isTokenError(error), name)
        assert.deepInclude<object>({ ...error, retryable: error.retryable }, {
          ...failure,
          endpointStatus: status,
          retryable
        }, name)
        assert.strictEqual(requests, index + 1, name)
      }
    }))
})

it.scoped.each(trusting)(
  "a host header does not choose the server whose certificate is accepted, over TLS and %s",
  ([, transport]) =>
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
    })
)
