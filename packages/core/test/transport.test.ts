import { TokenEndpoint, Transport } from "@credit-data/core"
import { FetchHttpClient, HttpClient, HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FiberRef, Layer, Option, Redacted, Schedule } from "effect"
import { granted, json } from "./support/fakeTransport.ts"
import { credentials, make, options } from "./support/tokenEndpoint.ts"

type Client = HttpClient.HttpClient

/** A client that remembers what it sent, and answers so. */
const recording = (answer: () => Response = () => Response.json(granted)) => {
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
        traced: yield* FiberRef.get(FiberRef.currentTracerEnabled)
      })
      return HttpClientResponse.fromWeb(request, answer())
    })
  )
  return { client, sent }
}

const requestTokenOver = (client: Client) =>
  Effect.flatMap(TokenEndpoint.make(options), (endpoint) => endpoint.requestToken).pipe(
    Effect.provide(Layer.succeed(HttpClient.HttpClient, client))
  )

describe("a token request over a client of the program's own", () => {
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
    it.effect(`that rewrites URLs by ${name} leads the secret nowhere else`, () =>
      Effect.gen(function*() {
        const { client, sent } = recording()
        const error = yield* Effect.flip(requestTokenOver(rewrite(client)))
        assert.deepInclude({ ...error }, { _tag: "TransportError", reason: "Other" })
        assert.deepStrictEqual(sent, [])
      }))
  }

  it.effect("that traces by itself is silent, and follows no redirects", () =>
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

  it.effect("that lets no other status than 2xx through gets the failures that the answer means", () =>
    Effect.gen(function*() {
      for (
        const [status, tag] of [[401, "InvalidClient"], [400, "ServerError"], [503, "ServerError"], [
          302,
          "InvalidResponse"
        ]] as const
      ) {
        const { client, sent } = recording(() => Response.json({ error: "x" }, { status }))
        const error = yield* Effect.flip(requestTokenOver(HttpClient.filterStatusOk(client)))
        assert.deepInclude({ ...error }, { _tag: tag, status })
        assert.strictEqual(sent.length, 1)
      }
    }))

  it.effect("asks for JSON", () =>
    Effect.gen(function*() {
      const { client, sent } = recording()
      yield* requestTokenOver(client)
      assert.strictEqual(sent[0]?.request.headers["accept"], "application/json")
    }))

  it.effect("that fails with what is no HttpClientError is a typed failure", () =>
    Effect.gen(function*() {
      const fails = HttpClient.transform(recording().client, () => Effect.fail("a text"))
      // @ts-expect-error: what a program without types may do
      const error = yield* Effect.flip(requestTokenOver(fails))
      assert.deepInclude({ ...error }, { _tag: "TransportError", reason: "Other" })
    }))
})

describe("a sealed client", () => {
  it.effect("leaves the fiber of its caller as it was, in success and in failure", () =>
    Effect.gen(function*() {
      const { client } = recording()
      for (const isAllowed of [true, false]) {
        yield* Effect.ignore(Transport.sealed(client, { isAllowed: () => isAllowed }).get("https://api.example"))
        assert.isTrue(yield* FiberRef.get(FiberRef.currentTracerEnabled))
        assert.isTrue(Option.isNone(yield* Effect.serviceOption(FetchHttpClient.RequestInit)))
      }
    }))

  it.effect("changes the request in its last step, after the check", () =>
    Effect.gen(function*() {
      const { client, sent } = recording()
      const sealed = Transport.sealed(HttpClient.mapRequest(client, HttpClientRequest.setHeader("x", "theirs")), {
        isAllowed: (url) => url === "https://api.example",
        lastStep: (request) => Effect.succeed(HttpClientRequest.setHeader(request, "x", "ours"))
      })
      yield* sealed.get("https://api.example")
      assert.strictEqual(sent[0]?.request.headers["x"], "ours")
    }))

  it.effect("refuses other URLs with the reason", () =>
    Effect.gen(function*() {
      const { client } = recording()
      const error = yield* Effect.flip(Transport.sealed(client, { isAllowed: () => false }).get("https://api.example"))
      assert(error._tag === "RequestError")
      assert.strictEqual(error.reason, "InvalidUrl")
      assert.include(error.message, "A secret or a token is sent to no other server")
    }))
})

describe("a foreign error", () => {
  it("is reduced to texts, and to nothing where it is none", () => {
    for (const nothing of [undefined, null, 42, Symbol("a"), true]) {
      assert.isUndefined(Transport.foreignError(nothing, []))
    }
    assert.strictEqual(Transport.foreignError("a text", []), "a text")
    const error = Transport.foreignError({ message: 42, code: {}, name: "" }, [])
    assert(error instanceof Error)
    assert.deepInclude<object>({ ...error }, { name: "Error", code: undefined })
    assert.strictEqual(error.message, "")
    assert.isUndefined(error.cause)
  })

  it("is followed through eight causes at most", () => {
    let deep = new Error("0")
    for (let depth = 1; depth < 20; depth++) deep = new Error(String(depth), { cause: deep })
    let depth = 0
    for (let error: unknown = Transport.foreignError(deep, []); error instanceof Error; error = error.cause) depth++
    assert.strictEqual(depth, 9)
  })
})

describe("a refused client", () => {
  const hinted = Effect.fnUntraced(function*(clientId: string, clientSecret: string) {
    const endpoint = yield* make(
      { credentials: { clientId, clientSecret: Redacted.make(clientSecret) } },
      json({ error: "invalid_client" }, { status: 401 })
    )
    return (yield* Effect.flip(endpoint.requestToken)).message
  })

  it.effect("says what is odd about the credentials, without showing them", () =>
    Effect.gen(function*() {
      const rows = [
        ["id", " canary", "The client secret begins or ends with a blank."],
        ["id", "canary\t".trimEnd() + " ", "The client secret begins or ends with a blank."],
        ["id", "\"canary\"", "The client secret is surrounded by quotes."],
        ["id", "'canary'", "The client secret is surrounded by quotes."],
        [
          "id",
          " 'canary' ",
          "The client secret begins or ends with a blank. The client secret is surrounded by quotes."
        ],
        ["'id'", "canary", "The client id is surrounded by quotes."]
      ] as const
      for (const [id, secret, hint] of rows) {
        const message = yield* hinted(id, secret)
        assert.include(message, `${hint} Check whether it was copied correctly.`)
        assert.notInclude(message, "canary")
      }
      for (const secret of ["canary", "'canary", "can ary", "\"canary'"]) {
        assert.notInclude(yield* hinted("id", secret), "copied")
      }
      assert.notInclude(yield* hinted(credentials.clientId, "canary"), "copied")
    }))
})
