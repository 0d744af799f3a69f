import { AuthV2 } from "@credit-data/auth-v2"
import { AccessTokens, TokenEndpoint } from "@credit-data/core"
import { DataAccess } from "@credit-data/http-client"
import { FetchHttpClient, HttpBody, HttpClient, HttpClientRequest } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted, Stream } from "effect"
import { createServer } from "node:net"
import { canary } from "../src/canaries.ts"
import { granted } from "../src/serverInMemory.ts"
import { listen } from "../src/tls.ts"
import { tested, type TransportName } from "../src/transports.ts"

/** The transports, with connections that are kept open. */
const keeping: ReadonlyArray<readonly [name: TransportName, transport: Layer.Layer<HttpClient.HttpClient>]> = tested([
  ["fetch", FetchHttpClient.layer],
  [
    "node:http",
    Layer.provide(
      NodeHttpClient.layerWithoutAgent,
      NodeHttpClient.makeAgentLayer({ keepAlive: true, maxSockets: 1 })
    )
  ],
  ["undici", NodeHttpClient.layerUndici]
])

/** A request as a server reads it from its connection. */
interface Received {
  readonly line: string
  readonly headers: string
  readonly body: string
}

/** Reads one request from the beginning of the bytes, or nothing if it is not complete. */
const parse = (bytes: string): readonly [request: Received, rest: string] | undefined => {
  const end = bytes.indexOf("\r\n\r\n")
  if (end < 0) return undefined
  const [line = "", ...fields] = bytes.slice(0, end).split("\r\n")
  const headers = fields.join("\n").toLowerCase()
  const rest = bytes.slice(end + 4)
  if (headers.includes("transfer-encoding: chunked")) {
    const last = rest.indexOf("0\r\n\r\n")
    return last < 0 ? undefined : [{ line, headers, body: rest.slice(0, last) }, rest.slice(last + 5)]
  }
  const length = Number(/^content-length: (\d+)$/m.exec(headers)?.[1] ?? 0)
  return rest.length < length ? undefined : [{ line, headers, body: rest.slice(0, length) }, rest.slice(length)]
}

/** A server on a raw socket that follows the framing of what it receives, and responds to each request with its number. */
const serve = Effect.gen(function*() {
  const received: Array<Received> = []
  const port = yield* listen(createServer((socket) => {
    let bytes = ""
    socket.on("error", () => socket.destroy())
    socket.on("data", (data) => {
      bytes += data.toString("latin1")
      for (let next = parse(bytes); next !== undefined; next = parse(bytes)) {
        const [request, rest] = next
        bytes = rest
        const body = JSON.stringify({ ...granted(1), number: received.push(request) })
        socket.write(
          `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
        )
      }
    })
  }))
  return { url: `http://127.0.0.1:${port}`, received }
})

const text = "AAAAA\r\nGET /second HTTP/1.1\r\nHost: a\r\n\r\n"
const bytes = new TextEncoder().encode(text)

const bodies: ReadonlyArray<readonly [name: string, body: HttpBody.HttpBody, received: string | RegExp]> = [
  ["no body", HttpBody.empty, ""],
  ["an empty text", HttpBody.text(""), ""],
  ["a text", HttpBody.text(text), text],
  ["bytes", HttpBody.uint8Array(bytes), text],
  ["a form", HttpBody.urlParams([["a", "1"], ["b", "2"]]), "a=1&b=2"],
  ["a multipart form", HttpBody.formDataRecord({ a: "1" }), /name="a"/],
  ["a stream", HttpBody.stream(Stream.make(bytes)), /AAAAA/],
  ["a stream of known length", HttpBody.stream(Stream.make(bytes), "text/plain", bytes.length), /AAAAA/]
]

const withDataAccess = <A, E>(
  url: string,
  transport: Layer.Layer<HttpClient.HttpClient>,
  use: (client: Effect.Effect.Success<typeof DataAccess.DataAccess>) => Effect.Effect<A, E>
) =>
  Effect.flatMap(DataAccess.DataAccess, use).pipe(Effect.provide(
    DataAccess.layer().pipe(
      Layer.provide([
        AccessTokens.layerTest({ secret: Redacted.make(canary), environment: { baseUrl: url } }),
        transport
      ])
    )
  ))

describe.each(keeping)("a Content-Length that a caller forwards, over %s", (transportName, transport) => {
  for (const [name, body, expected] of bodies) {
    // the platform's client over undici cannot send one
    if (transportName === "undici" && name === "a multipart form") continue
    for (const length of ["5", "600"]) {
      it.scopedLive(`of ${length} does not change how ${name} is read`, () =>
        Effect.gen(function*() {
          const { received, url } = yield* serve
          const header = HttpClientRequest.setHeader("content-length", length)
          const requests = [
            HttpClientRequest.post("/a", { body }).pipe(header),
            HttpClientRequest.post("/a").pipe(header, HttpClientRequest.setBody(body))
          ]
          const numbers = yield* withDataAccess(url, transport, (client) =>
            Effect.forEach(requests, (request) =>
              Effect.zip(
                Effect.flatMap(client.execute(request), ({ json }) =>
                  json),
                Effect.flatMap(client.get("/next"), ({ json }) =>
                  json)
              ))).pipe(Effect.timeout("5 seconds"))
          assert.deepStrictEqual(
            received.map(({ line }) =>
              line.split(" ").slice(0, 2).join(" ")
            ),
            [
              "POST /a",
              "GET /next",
              "POST /a",
              "GET /next"
            ]
          )
          assert.deepStrictEqual(
            numbers.flat().map((response) => Object(response).number),
            [1, 2, 3, 4],
            "each caller has its own response"
          )
          for (const { body } of [received[0], received[2]].filter((each) => each !== undefined)) {
            if (typeof expected === "string") assert.strictEqual(body, expected)
            else assert.match(body, expected)
          }
        }))
    }
  }

  it.scopedLive("and a custom client adds it, does not cut the form of a token request", () =>
    Effect.gen(function*() {
      const { received, url } = yield* serve
      const adding = Layer.effect(
        HttpClient.HttpClient,
        Effect.map(
          HttpClient.HttpClient,
          HttpClient.mapRequest(HttpClientRequest.setHeader("content-length", "5"))
        )
      )
      const endpoint = AuthV2.layerTokenEndpoint({
        environment: { name: "raw", audience: "a", baseUrl: url, authV2Url: url },
        credentials: { clientId: "id", clientSecret: Redacted.make(canary) },
        scopes: ["data-access:all"]
      }).pipe(Layer.provide(adding), Layer.provide(transport))
      yield* Effect.flatMap(TokenEndpoint.TokenEndpoint, ({ requestToken }) =>
        Effect.replicateEffect(requestToken({ _tag: "Nothing" }), 2)).pipe(Effect.provide(endpoint))
      assert.strictEqual(received.length, 2)
      for (const { body, line } of received) {
        assert.strictEqual(line, "POST /oauth2/token HTTP/1.1")
        assert.match(body, /^client_id=id&client_secret=.*&grant_type=client_credentials$/)
      }
    }))
})
