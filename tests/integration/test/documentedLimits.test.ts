// What the documentation says about matters that the packages leave to the program or to its surroundings.

import { AuthV2 } from "@credit-data/auth-v2"
import { AccessTokens, TokenError } from "@credit-data/core"
import { SharedTokens, TokenStore } from "@credit-data/fleet"
import { DataAccess } from "@credit-data/http-client"
import { Simulator } from "@credit-data/simulator"
import { run } from "@credit-data/test-support/childProcess"
import { listen } from "@credit-data/test-support/listen"
import { whileTimePasses } from "@credit-data/test-support/whileTimePasses"
import { HttpClient, HttpClientResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Exit, Layer, ManagedRuntime, Schema, TestClock } from "effect"
import { AsyncLocalStorage } from "node:async_hooks"
import { subscribe, unsubscribe } from "node:diagnostics_channel"
import { createServer } from "node:http"
import { credentials, optionsAt } from "../src/clients.ts"
import { granted } from "../src/servers.ts"
import { everyTransport } from "../src/transports.ts"

const options = optionsAt("https://v2.example", "https://api.example")
const call = Effect.flatMap(DataAccess.DataAccess, (client) => client.get("/a"))
const get = Effect.flatMap(AccessTokens.AccessTokens, (tokens) => tokens.get)

/** A transport in memory. */
const transport = (
  respond: (request: { readonly url: string; readonly authorization: string | undefined }) => Response
) =>
  Layer.succeed(
    HttpClient.HttpClient,
    HttpClient.make((request) =>
      Effect.sync(() =>
        HttpClientResponse.fromWeb(
          request,
          respond({ url: request.url, authorization: request.headers["authorization"] })
        )
      )
    )
  )

describe("two processes of a client, at a server that revokes a client's token when it issues another", () => {
  /** Calls of two processes, one per second each, for a minute. Returns how many were rejected. */
  const run = Effect.fnUntraced(function*(store: Layer.Layer<TokenStore.TokenStore> | undefined) {
    let requests = 0
    const Http = transport(({ authorization, url }) =>
      url.endsWith("/oauth2/token")
        ? Response.json(granted(++requests))
        : new Response(null, { status: authorization === `Bearer ${granted(requests).access_token}` ? 200 : 401 })
    )
    const process = Effect.suspend(() => {
      const Auth = store === undefined
        ? AuthV2.layer(options)
        : SharedTokens.layer().pipe(Layer.provide(AuthV2.layerTokenEndpoint(options)), Layer.provide(store))
      return Layer.build(DataAccess.layer().pipe(Layer.provide(Auth), Layer.provide(Http)))
    })
    const clients = [yield* process, yield* process]
    let rejected = 0
    for (let second = 0; second < 60; second++) {
      for (const context of clients) {
        const { status } = yield* whileTimePasses(call.pipe(Effect.provide(context)))
        if (status === 401) rejected++
      }
      yield* TestClock.adjust("1 second")
    }
    return { rejected, requests }
  })

  it.scoped("have about half of their calls rejected without a shared store", () =>
    Effect.gen(function*() {
      const { rejected, requests } = yield* run(undefined)
      assert.isAbove(rejected, 0.4 * 120)
      assert.isAbove(requests, 4)
    }))

  it.scoped("have no call rejected with a shared store", () =>
    Effect.gen(function*() {
      const store = yield* Layer.build(TokenStore.layerMemory)
      assert.deepStrictEqual(yield* run(Layer.succeedContext(store)), { rejected: 0, requests: 1 })
    }))
})

it.live("a runtime whose layer could not be built keeps the failure, until the handler in the documentation replaces it", () =>
  Effect.gen(function*() {
    let reads = 0
    // a secret manager that fails once
    const secrets = Effect.suspend(() => ++reads === 1 ? Effect.fail("it is down") : Effect.succeed(credentials))
    const Clients = AuthV2.layer({ ...options, credentials: secrets }).pipe(
      Layer.provide(transport(() => Response.json(granted(1))))
    )
    let runtime = ManagedRuntime.make(Clients)
    for (let invocation = 0; invocation < 2; invocation++) {
      assert.isTrue(Exit.isFailure(yield* Effect.promise(() => runtime.runPromiseExit(get))))
    }
    const current = async () => {
      const used = runtime
      try {
        await used.runPromise(Effect.void)
      } catch (error) {
        if (runtime === used) runtime = ManagedRuntime.make(Clients)
        throw error
      }
      return used
    }
    const handler = () => current().then((used) => used.runPromise(get).then(() => "a token"), () => "failed")
    const outcomes = yield* Effect.promise(() => Promise.all([handler(), handler()]))
    assert.deepStrictEqual([...outcomes, yield* Effect.promise(handler)], ["failed", "failed", "a token"])
  }))

describe("a program's own client below the layers", () => {
  it.effect("sends a refused secret once, and more often if the client retries", () =>
    Effect.gen(function*() {
      const requestsOver = (change: (client: HttpClient.HttpClient) => HttpClient.HttpClient) => {
        let requests = 0
        const refusing = transport(() => {
          requests++
          return Response.json({ error: "invalid_client" }, { status: 401 })
        })
        const changing = Layer.effect(HttpClient.HttpClient, Effect.map(HttpClient.HttpClient, change))
        return Effect.exit(get).pipe(
          Effect.provide(AuthV2.layer(options).pipe(Layer.provide(changing), Layer.provide(refusing))),
          Effect.map(() => requests)
        )
      }
      assert.strictEqual(yield* requestsOver((client) => client), 1)
      const retrying = requestsOver((client) => client.pipe(HttpClient.filterStatusOk, HttpClient.retry({ times: 3 })))
      assert.strictEqual(yield* retrying, 4)
    }))

  it.live("sees the AsyncLocalStorage of the caller that began the token request", () =>
    Effect.gen(function*() {
      const storage = new AsyncLocalStorage<string>()
      const seen: Array<string | undefined> = []
      const client = HttpClient.make((request) =>
        Effect.gen(function*() {
          yield* Effect.sleep("10 millis")
          seen.push(storage.getStore())
          return HttpClientResponse.fromWeb(request, Response.json(granted(1)))
        })
      )
      const runtime = ManagedRuntime.make(
        AuthV2.layer(options).pipe(Layer.provide(Layer.succeed(HttpClient.HttpClient, client)))
      )
      yield* Effect.promise(() => runtime.runPromise(Effect.void))
      yield* Effect.promise(() =>
        Promise.all(["first", "second"].map((name) => storage.run(name, () => runtime.runPromise(get))))
      )
      assert.deepStrictEqual(seen, ["first"])
    }))
})

describe("an instrumentation of undici", () => {
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
  const isRequest = (
    value: unknown
  ): value is { readonly headers: unknown; readonly addHeader: (name: string, value: string) => void } =>
    typeof value === "object" && value !== null && "headers" in value && "addHeader" in value

  it.scopedLive.each(everyTransport.filter(([name]) => name !== "node:http"))(
    "sees the token and adds its trace header to token requests, over %s",
    ([, transport]) =>
      Effect.gen(function*() {
        const seen: Array<string> = []
        const listener = (message: unknown) => {
          const request: unknown = Object(message).request
          if (!isRequest(request)) return
          request.addHeader("traceparent", traceparent)
          seen.push(String(request.headers))
        }
        subscribe("undici:request:create", listener)
        yield* Effect.addFinalizer(() => Effect.sync(() => unsubscribe("undici:request:create", listener)))
        const Auth = Layer.provide(AuthV2.layerConfig(), Simulator.layerConfigProvider)
        yield* call.pipe(Effect.provide(DataAccess.layer().pipe(Layer.provide(Auth), Layer.provide(transport))))
        const received = yield* Effect.flatMap(Simulator.Simulator, (simulator) => simulator.received)
        assert.deepStrictEqual(received.map(({ headers }) => headers["traceparent"]), [traceparent, traceparent])
        assert.include(seen[1], "Bearer ")
      }).pipe(Effect.provide(Simulator.layer()))
  )
})

it.scopedLive("Node with NODE_USE_ENV_PROXY=1 sends requests to this machine through a proxy, unless NO_PROXY lists it", () =>
  Effect.gen(function*() {
    const proxied: Array<string> = []
    const api = yield* listen(createServer((_, response) => response.end()))
    const proxy = yield* listen(
      createServer((request, response) => {
        proxied.push(request.url ?? "")
        response.writeHead(403).end()
      }).on("connect", (request, socket) => {
        // versions before 26 open a tunnel even for plain HTTP
        proxied.push(request.url ?? "")
        socket.end("HTTP/1.1 403 Forbidden\r\n\r\n")
      })
    )
    const fetchApi = (variables: Record<string, string>) =>
      run(
        [process.execPath, "-e", `fetch("http://127.0.0.1:${api}").catch(() => 0)`],
        { env: { NODE_USE_ENV_PROXY: "1", HTTP_PROXY: `http://127.0.0.1:${proxy}`, ...variables } }
      )
    yield* fetchApi({ NO_PROXY: "localhost,127.0.0.1,[::1],::1" })
    assert.isEmpty(proxied)
    yield* fetchApi({})
    const readsVariables = Number(process.versions.node.split(".")[0]) >= 24 ||
      process.allowedNodeEnvironmentFlags.has("--use-env-proxy")
    assert.lengthOf(proxied, readsVariables ? 1 : 0)
  }))

it("a failure that passes through its Schema is whole again behind structuredClone", () => {
  const failure = new TokenError.InvalidClient({
    environment: "test",
    tokenEndpoint: "https://v2.example/oauth2/token",
    endpointStatus: 401,
    error: "invalid_client",
    nextTryAt: DateTime.unsafeMake(0)
  })
  assert.notStrictEqual(structuredClone(failure).name, failure.name)
  const received = Schema.decodeUnknownSync(TokenError.TokenError)(
    structuredClone(Schema.encodeSync(TokenError.TokenError)(failure))
  )
  assert.isTrue(TokenError.isTokenError(received))
  assert.strictEqual(received.message, failure.message)
})
