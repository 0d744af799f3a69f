import { HttpBody, HttpClientRequest } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { changed, requestToken, withDataAccess } from "../src/clients.ts"
import { granted, respond, serveSockets } from "../src/servers.ts"
import { keeping } from "../src/transports.ts"

/** A request as a server reads it from its connection. */
interface Received {
  readonly line: string
  readonly body: string
}

/** Reads one request from the beginning of the bytes, or nothing if it is not complete. */
const parse = (bytes: string): readonly [request: Received, rest: string] | undefined => {
  const end = bytes.indexOf("\r\n\r\n")
  if (end < 0) return undefined
  const [line = "", ...headers] = bytes.slice(0, end).toLowerCase().split("\r\n")
  const rest = bytes.slice(end + 4)
  if (headers.includes("transfer-encoding: chunked")) {
    const last = rest.indexOf("0\r\n\r\n")
    return last < 0 ? undefined : [{ line, body: rest.slice(0, last) }, rest.slice(last + 5)]
  }
  const length = Number(headers.find((header) => header.startsWith("content-length: "))?.split(" ")[1] ?? 0)
  return rest.length < length ? undefined : [{ line, body: rest.slice(0, length) }, rest.slice(length)]
}

/** A server on a raw socket that follows the framing of what it receives, and responds to each request with its number. */
const serve = Effect.gen(function*() {
  const received: Array<Received> = []
  const url = yield* serveSockets((socket) => {
    let bytes = ""
    socket.on("data", (data) => {
      bytes += data.toString("latin1")
      for (let next = parse(bytes); next !== undefined; next = parse(bytes)) {
        bytes = next[1]
        socket.write(respond(JSON.stringify({ ...granted(1), number: received.push(next[0]) })))
      }
    })
  })
  return { url, received }
})

const text = "AAAAA\r\nGET /second HTTP/1.1\r\nHost: a\r\n\r\n"
const bytes = new TextEncoder().encode(text)

const bodies: ReadonlyArray<readonly [name: string, body: HttpBody.HttpBody, received: RegExp]> = [
  ["no body", HttpBody.empty, /^$/],
  ["an empty text", HttpBody.text(""), /^$/],
  ["a text", HttpBody.text(text), new RegExp(`^${text}$`)],
  ["bytes", HttpBody.uint8Array(bytes), new RegExp(`^${text}$`)],
  ["a form", HttpBody.urlParams([["a", "1"], ["b", "2"]]), /^a=1&b=2$/],
  ["a multipart form", HttpBody.formDataRecord({ a: "1" }), /name="a"/],
  ["a stream", HttpBody.stream(Stream.make(bytes)), /AAAAA/],
  ["a stream of known length", HttpBody.stream(Stream.make(bytes), "text/plain", bytes.length), /AAAAA/]
]

describe.each(keeping({ maxSockets: 1 }))("a Content-Length that a caller forwards, over %s", (name, transport) => {
  for (const [what, body, expected] of bodies) {
    // the platform's client over undici cannot send one
    if (name === "undici" && what === "a multipart form") continue
    for (const length of ["5", "600"]) {
      it.scopedLive(`of ${length} does not change how ${what} is read`, () =>
        Effect.gen(function*() {
          const { received, url } = yield* serve
          const header = HttpClientRequest.setHeader("content-length", length)
          const requests = [
            HttpClientRequest.post("/a", { body }).pipe(header),
            HttpClientRequest.get("/next"),
            HttpClientRequest.post("/a").pipe(header, HttpClientRequest.setBody(body)),
            HttpClientRequest.get("/next")
          ]
          const responses = yield* withDataAccess(url, transport, (client) =>
            Effect.forEach(requests, (request) =>
              Effect.flatMap(client.execute(request), ({ json }) => json))).pipe(Effect.timeout("5 seconds"))
          const numbers = responses.map((response) =>
            Object(response).number
          )
          assert.deepStrictEqual(numbers, [1, 2, 3, 4], "each caller has its own response")
          const lines = received.map(({ line }) => line.replace(" http/1.1", ""))
          assert.deepStrictEqual(lines, ["post /a", "get /next", "post /a", "get /next"])
          for (const index of [0, 2]) assert.match(received[index]?.body ?? "none", expected)
        }))
    }
  }

  it.scopedLive("and a custom client adds it, does not cut the form of a token request", () =>
    Effect.gen(function*() {
      const { received, url } = yield* serve
      const adding = changed(transport, HttpClientRequest.setHeader("content-length", "5"))
      yield* Effect.replicateEffect(requestToken(url, adding), 2)
      assert.strictEqual(received.length, 2)
      for (const { body, line } of received) {
        assert.strictEqual(line, "post /oauth2/token http/1.1")
        assert.match(body, /^client_id=id&client_secret=.*&grant_type=client_credentials$/)
      }
    }))
})
