import { HttpError } from "@credit-data/core/Internal"
import { AccessTokens } from "@credit-data/core"
import { DataAccess, EnablementServices, Furnishment, GroupClient } from "@credit-data/http-client"
import { HttpBody, HttpClient, HttpClientError, HttpClientRequest } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Layer, Stream } from "effect"
import { inspect } from "node:util"
import { call } from "./support/calls.ts"
import { bearers, over, rejecting, supply, transport } from "./support/fakes.ts"
import { isRequestError, kindOf } from "@credit-data/test-support/httpErrors"

type Tokens = AccessTokens.Service
type Client = HttpClient.HttpClient

describe("a call", () => {
  it.effect("carries the token, a User-Agent and the caller's headers, and no other header", () =>
    Effect.gen(function*() {
      const { sent } = yield* call((client) => client.get("/consumers", { headers: { "x-mine": "1" } }))
      const { "user-agent": userAgent, ...headers } = { ...sent[0]?.headers }
      assert.match(userAgent ?? "none", /^credit-data\/\d/)
      assert.deepStrictEqual(headers, { "x-mine": "1", authorization: "Bearer token-1" })
    }))

  it.effect("returns every status unchanged, including redirects", () =>
    Effect.gen(function*() {
      for (const status of [204, 301, 307, 400, 403, 404, 429, 500, 503]) {
        const { sent, value } = yield* call((client) => client.get("/consumers"), {
          respond: () => new Response(null, { status, headers: { location: "https://elsewhere.example" } })
        })
        assert.strictEqual(Either.getOrThrow(value).status, status)
        assert.strictEqual(sent.length, 1)
      }
    }))

  it.effect("goes through the client that transformClient returns", () =>
    Effect.gen(function*() {
      const { sent } = yield* call((client) => client.get("/consumers"), {
        settings: { transformClient: HttpClient.mapRequest(HttpClientRequest.setHeader("x-inside", "1")) }
      })
      assert.strictEqual(sent[0]?.headers["x-inside"], "1")
    }))

  it.effect("fails with a RequestError without the token if the client that transformClient returns throws", () =>
    Effect.gen(function*() {
      const { exit } = yield* call((client) => client.get("/consumers"), {
        settings: {
          transformClient: (client) => ({
            ...client,
            execute: ({ headers }) => {
              throw new Error(`Cannot send ${JSON.stringify(headers)}`)
            }
          })
        }
      })
      assert.notInclude(inspect(exit, { depth: null }), "token-1")
      const error = yield* Effect.flip(exit)
      assert.strictEqual(kindOf(error), "RequestError Transport")
    }))
})

describe("a client that follows redirects", () => {
  it.effect("within transformClient sends the token to no other origin", () =>
    Effect.gen(function*() {
      const { sent, value } = yield* call((client) => client.get("/consumers"), {
        respond: () => new Response(null, { status: 307, headers: { location: "https://elsewhere.example" } }),
        settings: { transformClient: HttpClient.followRedirects() }
      })
      const error = Either.getOrThrow(Either.flip(value))
      assert(isRequestError(error))
      assert.strictEqual(sent.length, 1)
      assert.notProperty(error.request.headers, "authorization")
    }))
})

describe("the scopes of a token", () => {
  it.effect("a call whose token does not cover the group fails with InsufficientScope, and nothing is sent", () =>
    Effect.gen(function*() {
      const { sent, value } = yield* call((client) => client.get("/consumers"), {
        supply: { granted: ["furnishment:all"] }
      })
      const error = Either.getOrThrow(Either.flip(value))
      assert.strictEqual(error._tag, "InsufficientScope")
      assert.strictEqual(sent.length, 0)
      assert.strictEqual(
        error.message,
        "The token of test does not cover data-access:all: the server granted furnishment:all. Nothing was sent. " +
          "Ask the operator to grant data-access:all to this client. The next token request for this scope is not sent " +
          "before 1970-01-01T00:01:00.000Z."
      )
    }))

  it.effect("a call with a V1 token is sent, whatever its scopes", () =>
    Effect.gen(function*() {
      const { sent } = yield* call((client) => client.get("/consumers"), {
        supply: {
          granted: ["read:consumers"],
          covered: ["data-access:all", "furnishment:all", "serviceplus:all"],
          requested: []
        }
      })
      assert.strictEqual(sent.length, 1)
    }))

  const build = <A, E>(...parts: Parameters<typeof over<A, E>>) =>
    Effect.either(Effect.scoped(Layer.build(over(...parts))))

  const groups = [
    ["data-access:all", "Data Access", (tokens: Tokens, client: Client) => build(DataAccess.layer(), tokens, client)],
    ["furnishment:all", "Furnishment", (tokens: Tokens, client: Client) => build(Furnishment.layer(), tokens, client)],
    [
      "serviceplus:all",
      "Enablement Services",
      (tokens: Tokens, client: Client) => build(EnablementServices.layer(), tokens, client)
    ]
  ] as const
  for (const [scope, name, buildGroup] of groups) {
    it.effect(`the layer of ${name} fails to build over a supply that does not request ${scope}`, () =>
      Effect.gen(function*() {
        const { client } = yield* transport(rejecting())
        for (const [requested] of groups) {
          const tokens = yield* supply({ requested: [requested] })
          const built: Either.Either<unknown, unknown> = yield* buildGroup(tokens, client)
          if (requested === scope) Either.getOrThrow(built)
          else {
            const error = String(Either.getOrThrow(Either.flip(built)))
            assert.include(error, `Expected ${scope} `)
          }
        }
      }))
  }

  it.effect("the merged layers of all groups fail to build over a supply that does not request all three scopes", () =>
    Effect.gen(function*() {
      const { client } = yield* transport(rejecting())
      const some = yield* supply({ requested: ["data-access:all"] })
      const clients = Layer.mergeAll(DataAccess.layer(), Furnishment.layer(), EnablementServices.layer())
      Either.getOrThrow(yield* build(clients, yield* supply(), client))
      assert.isTrue(Either.isLeft(yield* build(clients, some, client)))
    }))

  it.effect("the layer of a group fails to build over a base URL that is not secure", () =>
    Effect.gen(function*() {
      const { exit } = yield* call((client) => client.get("/consumers"), { supply: { baseUrl: "http://api.example" } })
      assert.include(String(exit), "environment")
    }))
})

describe("a client for other paths", () => {
  const clientOf = Effect.fnUntraced(function*(
    options: GroupClient.Options,
    supplied: Parameters<typeof supply>[0] = {}
  ) {
    const { client, sent } = yield* transport(rejecting("token-1"))
    const own = yield* Effect.provide(
      GroupClient.make(options),
      Layer.mergeAll(
        Layer.succeed(AccessTokens.AccessTokens, yield* supply(supplied)),
        Layer.succeed(HttpClient.HttpClient, client)
      )
    )
    return { client: own, sent }
  })

  it.effect("without a scope sends any token of any supply, and replaces it after a 401", () =>
    Effect.gen(function*() {
      const { client, sent } = yield* clientOf({ name: "Reports" }, {
        granted: [],
        requested: ["furnishment:all"]
      })
      assert.strictEqual((yield* client.get("/reports")).status, 200)
      assert.deepStrictEqual(bearers(yield* sent), ["Bearer token-1", "Bearer token-2"])
    }))

  it.effect("with a scope sends no token that does not cover it, and is not made over a supply that does not request it", () =>
    Effect.gen(function*() {
      const options = { name: "Reports", scope: "serviceplus:all" } as const
      const { client, sent } = yield* clientOf(options, { granted: ["furnishment:all"] })
      const error = yield* Effect.flip(client.get("/reports"))
      assert.deepInclude({ ...error }, { _tag: "InsufficientScope", needed: "serviceplus:all" })
      assert.deepStrictEqual(yield* sent, [])
      const refused = yield* Effect.flip(clientOf(options, { requested: ["furnishment:all"] }))
      assert.include(String(refused), "Expected serviceplus:all ")
    }))
})

describe("a transport whose failure contains the request", () => {
  const failing = (
    fail: (request: HttpClientRequest.HttpClientRequest) => Effect.Effect<never, HttpClientError.HttpClientError>
  ) =>
    Effect.gen(function*() {
      const layer = over(DataAccess.layer(), yield* supply(), HttpClient.make((request) => fail(request)))
      return yield* Effect.exit(
        Effect.provide(Effect.flatMap(DataAccess.DataAccess, (client) => client.get("/consumers")), layer)
      )
    })

  it.effect("fails the call with a RequestError without the token when it dies", () =>
    Effect.gen(function*() {
      const exit = yield* failing((request) => Effect.die(request))
      assert.strictEqual(kindOf(yield* Effect.flip(exit)), "RequestError Transport")
      assert.notInclude(inspect(exit, { depth: Infinity, customInspect: false }) + JSON.stringify(exit), "token-1")
    }))

  it.effect("fails the call with an error whose cause does not show the token", () =>
    Effect.gen(function*() {
      const exit = yield* failing((request) => {
        const inner = HttpError.requestError("Transport", { request, cause: new Error("inner") })
        return Effect.fail(HttpError.requestError("Transport", { request, cause: inner }))
      })
      const text = inspect(exit, { depth: Infinity, customInspect: false })
      assert.include(text, "inner")
      assert.notInclude(text + JSON.stringify(exit), "token-1")
    }))
})

describe("a 401", () => {
  it.effect("is returned if the only other token is one that the call has tried", () =>
    Effect.gen(function*() {
      const tokens = yield* supply()
      const first = yield* tokens.get
      const { sent, value } = yield* call((client) => client.get("/consumers"), {
        respond: rejecting("token-1", "token-2"),
        changeTokens: ({ replace }) => ({
          replace: (token, ...tried) => tried.length === 0 ? replace(token) : Effect.succeed(first)
        })
      })
      assert.strictEqual(Either.getOrThrow(value).status, 401)
      assert.strictEqual(sent.length, 2)
    }))

  const form = new FormData()
  form.set("a", "b")
  const bodies: ReadonlyArray<readonly [name: string, body: HttpBody.HttpBody, repeated: boolean]> = [
    ["no body", HttpBody.empty, true],
    ["text", HttpBody.text("a"), true],
    ["bytes", HttpBody.uint8Array(new Uint8Array([1])), true],
    ["a form", HttpBody.formData(form), true],
    ["URL parameters", HttpBody.urlParams([["a", "b"]]), true],
    ["a raw string", HttpBody.raw("a"), true],
    ["a raw Blob", HttpBody.raw(new Blob(["a"])), true],
    ["a raw ArrayBuffer", HttpBody.raw(new ArrayBuffer(1)), true],
    ["raw bytes", HttpBody.raw(new Uint8Array([1])), true],
    ["raw numbers", HttpBody.raw(new Uint32Array([1])), true],
    ["a stream", HttpBody.stream(Stream.make(new Uint8Array([1]))), false],
    ["a raw ReadableStream", HttpBody.raw(new ReadableStream()), false]
  ]
  for (const [name, body, repeated] of bodies) {
    it.effect(`${repeated ? "sends" : "does not send"} a request with ${name} again, and the next call gets a new token`, () =>
      Effect.gen(function*() {
        const { sent } = yield* call(
          (client) => Effect.zipRight(client.post("/consumers", { body }), client.get("/next")),
          { respond: rejecting("token-1") }
        )
        assert.deepStrictEqual(
          bearers(sent),
          repeated ? ["Bearer token-1", "Bearer token-2", "Bearer token-2"] : ["Bearer token-1", "Bearer token-2"]
        )
      }))
  }
})
