import { kindOf } from "@credit-data/test-support/httpErrors"
import { FetchHttpClient, HttpClient, HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Option, Schedule } from "effect"
import * as HttpError from "../src/internal/httpError.ts"
import { restrictedClient } from "../src/internal/restrictedClient.ts"
import { makeTokenEndpoint } from "../src/internal/tokenEndpoint.ts"
import * as Transport from "../src/internal/transportFailure.ts"
import { granted } from "./support/fakeTransport.ts"
import { options } from "./support/tokenEndpoint.ts"

type Client = HttpClient.HttpClient

/** A client that records what it sent, and returns this response. */
const recording = (respond: () => Response = () => Response.json(granted)) => {
  const sent: Array<{
    readonly request: HttpClientRequest.HttpClientRequest
    readonly redirect: string | undefined
    readonly traced: boolean
  }> = []
  const client = HttpClient.make((request) =>
    Effect.gen(function*() {
      const init = yield* Effect.serviceOption(FetchHttpClient.RequestInit)
      sent.push({
        request,
        redirect: Option.getOrUndefined(init)?.redirect,
        traced: !(yield* Effect.withFiberRuntime<boolean>((fiber) =>
          Effect.succeed(fiber.getFiberRef(HttpClient.currentTracerDisabledWhen)(request))
        ))
      })
      return HttpClientResponse.fromWeb(request, respond())
    })
  )
  return { client, sent }
}

const requestTokenOver = (client: Client) =>
  Effect.flatMap(makeTokenEndpoint(options), (endpoint) => endpoint.requestToken({ _tag: "Nothing" })).pipe(
    Effect.provide(Layer.succeed(HttpClient.HttpClient, client))
  )

describe("a token request over the program's own client", () => {
  const elsewhere = HttpClientRequest.prependUrl("https://elsewhere.example/?")
  const rewriting: Record<string, (client: Client) => Client> = {
    "mapRequest": HttpClient.mapRequest(elsewhere),
    "mapRequestInputEffect": HttpClient.mapRequestInputEffect((request) => Effect.succeed(elsewhere(request))),
    "mapRequest, then others": (client) =>
      client.pipe(
        HttpClient.mapRequest(elsewhere),
        HttpClient.retry(Schedule.recurs(2)),
        HttpClient.transform((response) => response),
        HttpClient.followRedirects()
      )
  }
  for (const [name, rewrite] of Object.entries(rewriting)) {
    it.effect(`a client that rewrites URLs by ${name} does not send the secret to another server`, () =>
      Effect.gen(function*() {
        const { client, sent } = recording()
        const error = yield* Effect.flip(requestTokenOver(rewrite(client)))
        assert.deepInclude({ ...error }, { _tag: "TransportError", reason: "NotAllowed" })
        assert.deepStrictEqual(sent, [])
      }))
  }

  it.effect("a client with its own tracing does not trace a token request, and follows no redirects", () =>
    Effect.gen(function*() {
      const { client, sent } = recording()
      const tracing = client.pipe(
        HttpClient.withTracerDisabledWhen(() => false),
        HttpClient.withTracerPropagation(true),
        HttpClient.transformResponse(Effect.provideService(FetchHttpClient.RequestInit, { redirect: "follow" }))
      )
      yield* requestTokenOver(tracing).pipe(Effect.withSpan("caller"))
      assert.deepStrictEqual(sent.map(({ redirect, traced }) => ({ redirect, traced })), [
        { redirect: "manual", traced: false }
      ])
      assert.notProperty(sent[0]?.request.headers, "traceparent")
    }))

  it.effect("a client that refuses every status except 2xx does not change the failure of a token request", () =>
    Effect.gen(function*() {
      for (
        const [status, tag] of [[401, "InvalidClient"], [400, "ServerError"], [503, "ServerError"], [
          302,
          "InvalidResponse"
        ]] as const
      ) {
        const { client, sent } = recording(() => Response.json({ error: "x" }, { status }))
        const error = yield* Effect.flip(requestTokenOver(HttpClient.filterStatusOk(client)))
        assert.deepInclude({ ...error }, { _tag: tag, endpointStatus: status })
        assert.strictEqual(sent.length, 1)
      }
    }))

  it.effect("a failure of the client that is not an HttpClientError becomes a TransportError", () =>
    Effect.gen(function*() {
      const fails = HttpClient.transform(recording().client, () => Effect.fail("a text"))
      // @ts-expect-error: a program without types may do this
      const error = yield* Effect.flip(requestTokenOver(fails))
      assert.deepInclude({ ...error }, { _tag: "TransportError", reason: "Other" })
    }))
})

describe("a restricted client", () => {
  const settings = Effect.all([
    Effect.withFiberRuntime<unknown>((fiber) =>
      Effect.succeed(fiber.getFiberRef(HttpClient.currentTracerDisabledWhen))
    ),
    Effect.serviceOption(FetchHttpClient.RequestInit)
  ])
  const requests: Record<string, readonly [client: HttpClient.HttpClient, isAllowed: boolean]> = {
    "a success": [recording().client, true],
    "a failure": [recording().client, false],
    "an interruption": [HttpClient.make(() => Effect.never), true]
  }
  for (const [end, [client, isAllowed]] of Object.entries(requests)) {
    it.effect(`a restricted client restores the settings of the caller's fiber after ${end}`, () =>
      Effect.gen(function*() {
        const before = yield* settings
        let after: unknown = undefined
        const request = restrictedClient(client, { isAllowed: () => isAllowed }).get("https://api.example")
        const caller = yield* Effect.fork(Effect.onExit(request, () =>
          Effect.map(settings, (present) => {
            after = present
          })))
        yield* Effect.yieldNow()
        yield* Fiber.interrupt(caller)
        assert.deepStrictEqual(after, before)
      }))
  }

  it.effect("a restricted client refuses other URLs with the reason", () =>
    Effect.gen(function*() {
      const { client } = recording()
      const error = yield* Effect.flip(
        restrictedClient(client, { isAllowed: () => false }).get("https://api.example")
      )
      assert.strictEqual(kindOf(error), "RequestError InvalidUrl")
      assert.include(
        error.message,
        "The URL is not an allowed address for a secret or a token, so nothing was sent. Check the base URL, and clients that rewrite URLs"
      )
    }))

  it.effect("a restricted client does not hide a failure of the transport", () =>
    Effect.gen(function*() {
      const request = HttpClientRequest.get("https://api.example")
      const failure = HttpError.requestError("Transport", { request })
      const client = restrictedClient(HttpClient.make(() => Effect.fail(failure)), { isAllowed: () => true })
      assert.strictEqual(yield* Effect.flip(client.execute(request)), failure)
    }))
})

describe("a status that a client refused", () => {
  const request = HttpClientRequest.get("https://api.example")
  const response = HttpClientResponse.fromWeb(request, new Response("", { status: 404 }))

  it("isStatusError is true only for a status that a client refused", () => {
    const isStatus = Transport.isStatusError
    assert.isTrue(isStatus(HttpError.responseError("StatusCode", { request, response })))
    assert.isFalse(isStatus(HttpError.responseError("Decode", { request, response })))
    assert.isFalse(isStatus(HttpError.requestError("Transport", { request })))
    for (const other of [undefined, null, "StatusCode", { _tag: "ResponseError", reason: "StatusCode" }]) {
      assert.isFalse(isStatus(other))
    }
  })
})

describe("a request that got no response", () => {
  const failed = (cause: unknown, url = "https://api.example") =>
    HttpError.requestError("Transport", { request: HttpClientRequest.get(url), cause })
  const server = { name: "the API", address: "CREDIT_DATA_BASE_URL" }

  for (
    const [code, reason, expected] of [
      [
        "ENOTFOUND",
        "NameNotFound",
        "its host name does not resolve. Check the host name in CREDIT_DATA_BASE_URL, and DNS. " +
        "If this network needs a forward proxy, check that the transport uses it."
      ],
      [
        "EAI_AGAIN",
        "NameServiceFailed",
        "DNS did not respond. Check the DNS settings of this machine. This is usually temporary. If it " +
        "persists, contact the operator."
      ],
      [
        "ECONNREFUSED",
        "Refused",
        "the connection was refused. Check the host and the port in CREDIT_DATA_BASE_URL."
      ],
      [
        "EHOSTUNREACH",
        "Unreachable",
        "its host cannot be reached. Check the network and its firewall rules."
      ],
      [
        "HPE_INVALID_CONSTANT",
        "Garbled",
        "the response is not HTTP. Check CREDIT_DATA_BASE_URL, and the proxies and gateways between this machine and the API."
      ],
      [
        "CERT_HAS_EXPIRED",
        "Tls",
        "the TLS handshake failed. Check the certificate of the API, the authorities that this program trusts, and whether the API " +
        "requires a client certificate or another version of TLS. `credit-data doctor` shows the reason."
      ],
      [
        "ETIMEDOUT",
        "Timeout",
        "it took too long. Check whether the API is slow, or whether a firewall drops the connection."
      ],
      [
        "ECONNRESET",
        "Reset",
        "the connection was closed before a response arrived. This is usually temporary. If it persists, contact the operator. " +
        "If no request ever succeeds, check that the API accepts HTTP/1.1, and whether it requires a client certificate."
      ],
      ["EOTHER", "Other", "the connection failed. Check the network between this machine and the API."]
    ] as const
  ) {
    it(`a request that failed with ${code} is described: ${reason}`, () => {
      const error = failed({ code })
      assert.strictEqual(Transport.reason(error), reason)
      assert.strictEqual(Transport.describe(error, server), `No response from the API: ${expected}`)
    })
  }

  it("the failure of a forward proxy, and of a port that does not speak TLS, is described", () => {
    const proxy = "Check the proxy settings (HTTPS_PROXY), the proxy's credentials and its rules."
    assert.strictEqual(
      Transport.describe(failed({ message: "Proxy response (407) !== 200 when HTTP Tunneling" }), server),
      `No response from the API: the forward proxy returned 407. ${proxy}`
    )
    assert.strictEqual(
      Transport.describe(failed({ code: "ECONNREFUSED", address: "10.0.0.1", port: 3128 }), server),
      `No response from the API: the forward proxy 10.0.0.1:3128 could not be reached. ${proxy}`
    )
    assert.include(
      Transport.describe(failed({ code: "ERR_SSL_WRONG_VERSION_NUMBER", message: "wrong version number" }), server),
      "The server did not respond with TLS. The port is probably for plain HTTP."
    )
  })
})
