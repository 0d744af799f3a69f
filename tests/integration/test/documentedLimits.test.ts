// What the documentation says about matters that the packages leave to the program or to its surroundings.

import { AuthV2 } from "@credit-data/auth-v2"
import { AccessTokens, TokenError } from "@credit-data/core"
import { SharedTokens, TokenStore } from "@credit-data/fleet"
import { DataAccess } from "@credit-data/http-client"
import { Simulator } from "@credit-data/simulator"
import { run } from "@credit-data/test-support/childProcess"
import { whileTimePasses } from "@credit-data/test-support/whileTimePasses"
import { HttpClient, HttpClientResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Exit, Layer, ManagedRuntime, Redacted, Schema, TestClock } from "effect"
import { AsyncLocalStorage } from "node:async_hooks"
import { subscribe, unsubscribe } from "node:diagnostics_channel"
import { createServer, type Server } from "node:http"
import { granted } from "../src/serverInMemory.ts"
import { everyTransport } from "../src/transports.ts"

const environment = {
  name: "test",
  audience: "audience",
  baseUrl: "https://api.example",
  authV2Url: "https://v2.example"
}
const credentials = { clientId: "id", clientSecret: Redacted.make("a client secret of at least 32 characters") }
const options = { environment, credentials, scopes: ["data-access:all"] } as const

const call = Effect.flatMap(DataAccess.DataAccess, (client) => client.get("/a"))
const isTokenRequest = (url: string) => url.endsWith("/oauth2/token")

describe("a server with one active token per client", () => {
  /** Issuing a token revokes the one before. */
  const makeServer = () => {
    const server = { requests: 0, active: "" }
    const client = HttpClient.make((request) =>
      Effect.sync(() => {
        if (isTokenRequest(request.url)) {
          const token = granted(++server.requests)
          server.active = token.access_token
          return HttpClientResponse.fromWeb(request, Response.json(token))
        }
        const status = request.headers["authorization"] === `Bearer ${server.active}` ? 200 : 401
        return HttpClientResponse.fromWeb(request, new Response(null, { status }))
      })
    )
    return { server, Http: Layer.succeed(HttpClient.HttpClient, client) }
  }

  /** Calls of two processes, one per second each, for a minute: how many had the status 401. */
  const rejected = Effect.fnUntraced(function*<E, R>(
    processes: ReadonlyArray<Layer.Layer<DataAccess.DataAccess, E, R>>
  ) {
    const clients = yield* Effect.forEach(processes, (layer) => Layer.build(Layer.fresh(layer)))
    const count = { calls: 0, rejected: 0 }
    for (let second = 0; second < 60; second++) {
      for (const context of clients) {
        const { status } = yield* whileTimePasses(call.pipe(Effect.provide(context)))
        count.calls++
        if (status === 401) count.rejected++
      }
      yield* TestClock.adjust("1 second")
    }
    return count
  })

  it.scoped("rejects about half of the calls of two processes without a shared store", () =>
    Effect.gen(function*() {
      const { Http, server } = makeServer()
      const process = () => DataAccess.layer().pipe(Layer.provide(AuthV2.layer(options)), Layer.provide(Http))
      const { calls, rejected: failed } = yield* rejected([process(), process()])
      assert.isAbove(failed, 0.4 * calls)
      assert.isAbove(server.requests, 4)
    }))

  it.scoped("rejects no call of two processes with a shared store", () =>
    Effect.gen(function*() {
      const { Http, server } = makeServer()
      const store = yield* Layer.build(TokenStore.layerMemory)
      const process = () =>
        DataAccess.layer().pipe(
          Layer.provide(SharedTokens.layer()),
          Layer.provide(AuthV2.layerTokenEndpoint(options)),
          Layer.provide(Layer.succeedContext(store)),
          Layer.provide(Http)
        )
      const { rejected: failed } = yield* rejected([process(), process()])
      assert.strictEqual(failed, 0)
      assert.strictEqual(server.requests, 1)
    }))
})

describe("a runtime whose layer could not be built", () => {
  /** A secret manager that fails once. */
  const makeLayer = () => {
    let reads = 0
    return AuthV2.layer({
      ...options,
      credentials: Effect.suspend(() =>
        ++reads === 1 ? Effect.fail("the secret manager is down") : Effect.succeed(credentials)
      )
    }).pipe(
      Layer.provide(Layer.succeed(
        HttpClient.HttpClient,
        HttpClient.make((request) => Effect.succeed(HttpClientResponse.fromWeb(request, Response.json(granted(1)))))
      ))
    )
  }
  const get = Effect.flatMap(AccessTokens.AccessTokens, (tokens) => tokens.get)

  it.live("keeps the failure", () =>
    Effect.gen(function*() {
      const runtime = ManagedRuntime.make(makeLayer())
      for (let invocation = 0; invocation < 3; invocation++) {
        const exit = yield* Effect.promise(() => runtime.runPromiseExit(get))
        assert.isTrue(Exit.isFailure(exit))
      }
    }))

  it.live("is replaced by the handler in the documentation", () =>
    Effect.gen(function*() {
      const Clients = makeLayer()
      let runtime = ManagedRuntime.make(Clients)
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
      const handler = () => current().then((used) => used.runPromiseExit(get), () => "failed" as const)
      const outcomes = yield* Effect.promise(() => Promise.all([handler(), handler()]))
      assert.deepStrictEqual(outcomes, ["failed", "failed"])
      const exit = yield* Effect.promise(handler)
      assert.isTrue(exit !== "failed" && Exit.isSuccess(exit))
    }))
})

describe("a program's own client below the layers", () => {
  const refusing = () => {
    const server = { requests: 0 }
    const client = HttpClient.make((request) =>
      Effect.sync(() => {
        server.requests++
        return HttpClientResponse.fromWeb(request, Response.json({ error: "invalid_client" }, { status: 401 }))
      })
    )
    return { client, server }
  }
  const requestsOver = (change: (client: HttpClient.HttpClient) => HttpClient.HttpClient) => {
    const { client, server } = refusing()
    return Effect.exit(Effect.flatMap(AccessTokens.AccessTokens, (tokens) => tokens.get)).pipe(
      Effect.provide(
        AuthV2.layer(options).pipe(Layer.provide(Layer.succeed(HttpClient.HttpClient, change(client))))
      ),
      Effect.map(() => server.requests)
    )
  }

  it.effect("sends a refused secret once, and more often if the client retries", () =>
    Effect.gen(function*() {
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
      const get = Effect.flatMap(AccessTokens.AccessTokens, (tokens) => tokens.get)
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
        const simulator = yield* Simulator.Simulator
        const seen: Array<string> = []
        const listener = (message: unknown) => {
          if (typeof message !== "object" || message === null || !("request" in message)) return
          const { request } = message
          if (!isRequest(request)) return
          request.addHeader("traceparent", traceparent)
          seen.push(String(request.headers))
        }
        subscribe("undici:request:create", listener)
        yield* Effect.addFinalizer(() => Effect.sync(() => unsubscribe("undici:request:create", listener)))
        yield* call.pipe(
          Effect.provide(
            DataAccess.layer().pipe(
              Layer.provide(AuthV2.layerConfig()),
              Layer.provide([transport, Simulator.layerConfigProvider])
            )
          )
        )
        const received = yield* simulator.received
        assert.deepStrictEqual(received.map(({ headers }) => headers["traceparent"]), [traceparent, traceparent])
        assert.include(seen[1], "Bearer ")
      }).pipe(Effect.provide(Simulator.layer()))
  )
})

it.scopedLive("Node 24 sends requests to this machine through a proxy, unless NO_PROXY lists it", () =>
  Effect.gen(function*() {
    const proxied: Array<string> = []
    const listening = (server: Server) =>
      Effect.acquireRelease(
        Effect.async<string>((resume) => {
          server.listen(0, "127.0.0.1", () => {
            const address = server.address()
            resume(Effect.succeed(`http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`))
          })
        }),
        () => Effect.sync(() => server.close())
      )
    const api = yield* listening(createServer((_, response) => response.end()))
    const proxy = yield* listening(
      createServer().on("connect", (request, socket) => {
        proxied.push(request.url ?? "")
        socket.end("HTTP/1.1 403 Forbidden\r\n\r\n")
      })
    )
    const fetchApi = (variables: Record<string, string>) =>
      run(
        [process.execPath, "-e", `fetch("${api}").catch(() => 0)`],
        { env: { NODE_USE_ENV_PROXY: "1", HTTP_PROXY: proxy, ...variables } }
      )
    yield* fetchApi({ NO_PROXY: "localhost,127.0.0.1,[::1],::1" })
    assert.isEmpty(proxied)
    yield* fetchApi({})
    const readsVariables = Number(process.versions.node.split(".")[0]) >= 24
    assert.lengthOf(proxied, readsVariables ? 1 : 0)
  }))

it("a failure that passes through its Schema is whole again behind structuredClone", () => {
  const failure = new TokenError.InvalidClient({
    environment: "test",
    tokenEndpoint: "https://v2.example/oauth2/token",
    status: 401,
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
