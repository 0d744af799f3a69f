import { TokenEndpoint } from "@credit-data/core"
import { FetchHttpClient, HttpClient, HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Layer, Option, Redacted, Ref, TestClock } from "effect"
import { environment } from "./support/fakeEndpoint.ts"
import { granted, json, raw } from "./support/fakeTransport.ts"
import { credentials, make } from "./support/tokenEndpoint.ts"

const refused = json({ error: "invalid_client" }, { status: 401 })

describe("the token request", () => {
  it.effect("is a POST of a form with the contract's fields", () =>
    Effect.gen(function*() {
      const endpoint = yield* make({}, json(granted))
      yield* endpoint.requestToken
      const [request] = yield* endpoint.sent
      assert(request !== undefined)
      assert.strictEqual(request.method, "POST")
      assert.strictEqual(request.url, "https://v2.example/oauth2/token")
      assert.strictEqual(
        request.body,
        "client_id=the-client&client_secret=the-secret&audience=audience&scope=data-access%3Aall+furnishment%3Aall&grant_type=client_credentials"
      )
      assert.notProperty(request.headers, "traceparent")
    }))

  it.effect("has no scope field for an endpoint that knows none", () =>
    Effect.gen(function*() {
      const endpoint = yield* make({ requestedScopes: Option.none() }, json(granted))
      yield* endpoint.requestToken
      assert.notInclude((yield* endpoint.sent)[0]?.body, "scope")
    }))

  it.effect("carries trace headers only if it is told to", () =>
    Effect.gen(function*() {
      const endpoint = yield* make({ propagateTrace: true }, json(granted))
      yield* endpoint.requestToken
      assert.property((yield* endpoint.sent)[0]?.headers, "traceparent")
    }))

  it.effect("keeps the options of fetch, those of the layer and those of the call, and leaves none behind", () =>
    Effect.gen(function*() {
      const inits: Array<RequestInit | undefined> = []
      const fetch: typeof globalThis.fetch = (_, init) => {
        inits.push(init)
        return Promise.resolve(new Response(JSON.stringify(granted)))
      }
      const endpoint = yield* TokenEndpoint.make({
        environment,
        authorizationServer: "authV2Url",
        path: "/oauth2/token",
        credentials,
        requestedScopes: Option.none(),
        coverage: "AnyScope"
      }).pipe(
        Effect.provide(
          FetchHttpClient.layer.pipe(
            Layer.provide(Layer.succeed(FetchHttpClient.Fetch, fetch)),
            Layer.provide(Layer.succeed(FetchHttpClient.RequestInit, { keepalive: true, redirect: "follow" }))
          )
        )
      )
      yield* endpoint.requestToken
      yield* Effect.provideService(endpoint.requestToken, FetchHttpClient.RequestInit, { cache: "no-store" })
      assert.deepInclude(inits[0], { redirect: "manual", keepalive: true })
      assert.deepInclude(inits[1], { redirect: "manual", cache: "no-store" })
      assert.isTrue(Option.isNone(yield* Effect.serviceOption(FetchHttpClient.RequestInit)))
    }))

  it.effect("goes to its address alone, whatever wraps the client", () =>
    Effect.gen(function*() {
      const elsewhere = raw(null, { status: 307, headers: { location: "https://elsewhere.example/" } })
      const endpoint = yield* make({ transformClient: HttpClient.followRedirects() }, elsewhere)
      assert.deepInclude({ ...(yield* Effect.flip(endpoint.requestToken)) }, {
        _tag: "TransportError",
        reason: "Other"
      })
      assert.strictEqual((yield* endpoint.sent).length, 1)
    }))

  it.effect("over a transport that dies is a typed failure", () =>
    Effect.gen(function*() {
      const endpoint = yield* make({}, Effect.die(new Error("the-secret")))
      assert.deepInclude({ ...(yield* Effect.flip(endpoint.requestToken)) }, {
        _tag: "TransportError",
        reason: "Other"
      })
    }))

  it.effect("nothing is sent, and no middleware is run, before a token is asked for", () =>
    Effect.gen(function*() {
      let seen = 0
      const client = HttpClient.make((request) => Effect.succeed(HttpClientResponse.fromWeb(request, new Response())))
        .pipe(
          HttpClient.mapRequest((request) => (seen++, request)),
          HttpClient.tapError(() => Effect.sync(() => seen++))
        )
      yield* TokenEndpoint.make({
        environment,
        authorizationServer: "authV2Url",
        path: "/oauth2/token",
        credentials,
        requestedScopes: Option.none(),
        coverage: "AnyScope"
      }).pipe(Effect.provideService(HttpClient.HttpClient, client))
      assert.strictEqual(seen, 0)
    }))

  it.effect("can be wrapped", () =>
    Effect.gen(function*() {
      const endpoint = yield* make({
        transformClient: HttpClient.mapRequest(HttpClientRequest.setHeader("x-test", "here"))
      }, json(granted))
      yield* endpoint.requestToken
      assert.strictEqual((yield* endpoint.sent)[0]?.headers["x-test"], "here")
    }))

  it.effect("has one deadline over everything, of 10 s or what is set", () =>
    Effect.gen(function*() {
      const silent = Effect.sync(() =>
        new Response(new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array([123])) }))
      )
      for (
        const [deadline, answer] of [[undefined, Effect.never], [undefined, silent], ["3 seconds", silent]] as const
      ) {
        const endpoint = yield* make({ deadline }, answer)
        const request = yield* Effect.fork(Effect.timed(Effect.flip(endpoint.requestToken)))
        yield* TestClock.adjust("10 seconds")
        const [duration, error] = yield* Fiber.join(request)
        assert.deepInclude({ ...error }, { _tag: "TransportError", reason: "Timeout" })
        assert.strictEqual(Duration.toMillis(duration), Duration.toMillis(endpoint.deadline))
      }
    }))

  it.effect("reads no more of a body than is set", () =>
    Effect.gen(function*() {
      const endpoint = yield* make({ maxBodySize: 10 }, json(granted))
      assert.deepInclude({ ...(yield* Effect.flip(endpoint.requestToken)) }, { _tag: "InvalidResponse", rule: "Size" })
    }))

  it.effect("carries the hint of its adapter in its failure", () =>
    Effect.gen(function*() {
      const endpoint = yield* make({ hint: ({ _tag }) => `about ${_tag}` }, raw(null, { status: 404 }))
      assert.include((yield* Effect.flip(endpoint.requestToken)).message, "failed: 404. about ServerError")
    }))
})

describe("a rotated secret", () => {
  const rotating = Effect.fnUntraced(function*(...secrets: ReadonlyArray<string>) {
    const readings = yield* Ref.make(0)
    const read = Effect.map(Ref.getAndUpdate(readings, (count) => count + 1), (count) => ({
      clientId: "the-client",
      clientSecret: Redacted.make(secrets[Math.min(count, secrets.length - 1)] ?? "")
    }))
    return { read, readings: Ref.get(readings) }
  })

  it.effect("is read again once, and the request is repeated with it at once", () =>
    Effect.gen(function*() {
      const { read, readings } = yield* rotating("old", "new")
      const endpoint = yield* make({ credentials: read }, refused, json(granted))
      assert.strictEqual(yield* readings, 1)
      yield* endpoint.requestToken
      assert.strictEqual(yield* readings, 2)
      yield* endpoint.requestToken
      const sent = yield* endpoint.sent
      assert.deepStrictEqual(sent.map(({ body }) => new URLSearchParams(body).get("client_secret")), [
        "old",
        "new",
        "new"
      ])
      assert.strictEqual(yield* readings, 2)
    }))

  it.effect("that hasn't changed isn't tried again", () =>
    Effect.gen(function*() {
      const { read, readings } = yield* rotating("same")
      const endpoint = yield* make({ credentials: read }, refused)
      assert.strictEqual((yield* Effect.flip(endpoint.requestToken))._tag, "InvalidClient")
      assert.strictEqual(yield* readings, 2)
      assert.strictEqual((yield* endpoint.sent).length, 1)
    }))

  it.effect("that is refused too is a refusal, after two requests", () =>
    Effect.gen(function*() {
      const { read } = yield* rotating("old", "new", "newer")
      const endpoint = yield* make({ credentials: read }, refused)
      assert.strictEqual((yield* Effect.flip(endpoint.requestToken))._tag, "InvalidClient")
      assert.strictEqual((yield* endpoint.sent).length, 2)
    }))

  it.effect("given as a value is never read again", () =>
    Effect.gen(function*() {
      const endpoint = yield* make({}, refused)
      assert.strictEqual((yield* Effect.flip(endpoint.requestToken))._tag, "InvalidClient")
      assert.strictEqual((yield* endpoint.sent).length, 1)
    }))

  it.effect("whose second reading fails, dies, hangs or brings nonsense leaves the refusal standing", () =>
    Effect.gen(function*() {
      for (
        const second of [
          Effect.fail("the manager is down"),
          Effect.die("a bug"),
          Effect.never,
          Effect.succeed({ clientId: "", clientSecret: Redacted.make("") })
        ]
      ) {
        const reading = yield* Ref.make(0)
        const read = Effect.flatMap(
          Ref.getAndUpdate(reading, (count) => count + 1),
          (count): Effect.Effect<typeof credentials, string> => count === 0 ? Effect.succeed(credentials) : second
        )
        const endpoint = yield* make({ credentials: read }, refused)
        const request = yield* Effect.fork(Effect.timed(Effect.flip(endpoint.requestToken)))
        yield* TestClock.adjust("10 seconds")
        const [, error] = yield* Fiber.join(request)
        assert.strictEqual(error._tag, "InvalidClient")
      }
    }))

  it.effect("whose first reading fails makes building fail so", () =>
    Effect.gen(function*() {
      const failure = yield* Effect.flip(make({ credentials: Effect.fail("the manager is down") }, json(granted)))
      assert.strictEqual(failure, "the manager is down")
    }))

  it.effect("stays within the one deadline", () =>
    Effect.gen(function*() {
      const { read } = yield* rotating("old", "new")
      const endpoint = yield* make({ credentials: Effect.delay(read, "4 seconds") }, refused, Effect.never).pipe(
        Effect.fork,
        Effect.tap(() => TestClock.adjust("4 seconds")),
        Effect.flatMap(Fiber.join)
      )
      const request = yield* Effect.fork(Effect.timed(Effect.flip(endpoint.requestToken)))
      yield* TestClock.adjust("10 seconds")
      const [duration, error] = yield* Fiber.join(request)
      assert.deepInclude({ ...error }, { _tag: "TransportError", reason: "Timeout" })
      assert.strictEqual(Duration.toMillis(duration), Duration.toMillis(endpoint.deadline))
    }))
})

describe("options that make no sense", () => {
  const fails = (options: Partial<TokenEndpoint.Options>) =>
    Effect.map(Effect.flip(make(options, json(granted))), (error) => String(error))

  it.effect("are a ConfigError when the endpoint is built, which names them all and shows no value", () =>
    Effect.gen(function*() {
      const error = yield* fails({
        environment: {
          name: " ",
          audience: "a\nb",
          baseUrl: "http://api.example",
          authV2Url: "https://user:pass@v2.example"
        },
        // @ts-expect-error: what a program without types may pass
        requestedScopes: Option.some(["read:consumers"]),
        credentials: { clientId: "", clientSecret: Redacted.make("canary\t") },
        deadline: Number.NaN,
        maxBodySize: 0
      })
      for (
        const name of [
          "environment.name",
          "environment.audience",
          "environment.baseUrl",
          "environment.authV2Url",
          "scopes",
          "credentials.clientId",
          "credentials.clientSecret",
          "deadline",
          "maxBodySize"
        ]
      ) {
        assert.strictEqual(error.split(`(Invalid data at ${name}:`).length, 2, `${name} in ${error}`)
      }
      assert.notInclude(error, "canary")
      assert.notInclude(error, "pass")
      assert.notInclude(error, "api.example")
    }))

  for (
    const url of [
      "",
      "v2.example",
      "http://v2.example",
      "ftp://v2.example",
      "https://user@v2.example",
      "https://:pass@v2.example",
      "https://v2.example?a=b",
      "https://v2.example/?",
      "https://v2.example#top",
      "http://127.0.0.1.evil.example",
      "http://localhost.evil.example",
      "http://10.0.0.1",
      "https://v2.example/oauth2/token",
      "https://v2.example/oauth2/token/"
    ]
  ) {
    it.effect(`an authorization server at ${JSON.stringify(url)} is refused`, () =>
      Effect.gen(function*() {
        assert.include(yield* fails({ environment: { ...environment, authV2Url: url } }), "environment.authV2Url")
      }))
  }

  for (
    const [url, endpointUrl] of [
      ["https://v2.example/", "https://v2.example/oauth2/token"],
      ["https://v2.example/tenant//", "https://v2.example/tenant/oauth2/token"],
      ["HTTPS://V2.example:443", "https://v2.example/oauth2/token"],
      ["http://localhost:8080", "http://localhost:8080/oauth2/token"],
      ["http://127.1.2.3", "http://127.1.2.3/oauth2/token"],
      ["http://[::1]:80", "http://[::1]/oauth2/token"]
    ] as const
  ) {
    it.effect(`an authorization server at ${url} is accepted`, () =>
      Effect.gen(function*() {
        const endpoint = yield* make({ environment: { ...environment, authV2Url: url } }, json(granted))
        yield* endpoint.requestToken
        assert.strictEqual((yield* endpoint.sent)[0]?.url, endpointUrl)
      }))
  }
})
