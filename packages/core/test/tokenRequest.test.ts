import { FetchHttpClient, HttpClient, HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { AccessTokens, TokenEndpoint } from "@credit-data/core"
import { after } from "@credit-data/test-support/after"
import { fiberLocal } from "@credit-data/test-support/fiberLocal"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Layer, Option, Redacted, TestClock } from "effect"
import { isolated } from "../src/internal/isolated.ts"
import { makeTokenEndpoint } from "../src/internal/tokenEndpoint.ts"
import { environment } from "./support/fakeEndpoint.ts"
import { granted, json, raw } from "./support/fakeTransport.ts"
import { credentials, make, options } from "./support/tokenEndpoint.ts"

describe("the token request", () => {
  it.effect("a token request is a POST of a form with the fields of the contract", () =>
    Effect.gen(function*() {
      const endpoint = yield* make({}, json(granted))
      yield* endpoint.requestToken({ _tag: "Nothing" })
      const [request] = yield* endpoint.sent
      assert(request !== undefined)
      assert.strictEqual(request.method, "POST")
      assert.strictEqual(request.url, "https://v2.example/oauth2/token")
      assert.strictEqual(
        request.body,
        "client_id=the-client&client_secret=the-secret&audience=audience&scope=data-access%3Aall+furnishment%3Aall&grant_type=client_credentials"
      )
      assert.strictEqual(request.headers["accept"], "application/json")
      assert.notProperty(request.headers, "traceparent")
    }))

  it.effect("a token request has no scope field for an endpoint without scopes", () =>
    Effect.gen(function*() {
      const endpoint = yield* make({ scopes: undefined }, json(granted))
      yield* endpoint.requestToken({ _tag: "Nothing" })
      assert.notInclude((yield* endpoint.sent)[0]?.body, "scope")
    }))

  it.effect("a token request carries trace headers only with propagateTrace", () =>
    Effect.gen(function*() {
      const endpoint = yield* make({ propagateTrace: true }, json(granted))
      yield* Effect.withSpan(endpoint.requestToken({ _tag: "Nothing" }), "caller")
      assert.property((yield* endpoint.sent)[0]?.headers, "traceparent")
    }))

  it.effect("a token request keeps the fetch options of the layer and of the call, and leaves none behind", () =>
    Effect.gen(function*() {
      const inits: Array<RequestInit | undefined> = []
      const fetch: typeof globalThis.fetch = (_, init) => {
        inits.push(init)
        return Promise.resolve(new Response(JSON.stringify(granted)))
      }
      const endpoint = yield* makeTokenEndpoint(options).pipe(
        Effect.provide(
          FetchHttpClient.layer.pipe(
            Layer.provide(Layer.succeed(FetchHttpClient.Fetch, fetch)),
            Layer.provide(Layer.succeed(FetchHttpClient.RequestInit, { keepalive: true, redirect: "follow" }))
          )
        )
      )
      yield* endpoint.requestToken({ _tag: "Nothing" })
      yield* Effect.provideService(endpoint.requestToken({ _tag: "Nothing" }), FetchHttpClient.RequestInit, {
        cache: "no-store"
      })
      assert.deepInclude(inits[0], { redirect: "manual", keepalive: true })
      assert.deepInclude(inits[1], { redirect: "manual", cache: "no-store" })
      assert.isTrue(Option.isNone(yield* Effect.serviceOption(FetchHttpClient.RequestInit)))
    }))

  it.scoped("a token request of a supply has nothing of the use that built the supply, or of a caller", () =>
    Effect.gen(function*() {
      const tenant = fiberLocal("nobody")
      const seen: Array<unknown> = []
      const outcome = Effect.flatMap(tenant.get, (name) => {
        seen.push(name)
        return json({ ...granted, expires_in: 60 })
      })
      const transport = yield* make({}, outcome)
      const of = (name: string) => <A, E, R>(use: Effect.Effect<A, E, R>) =>
        Effect.provideService(tenant.locally(name)(use), FetchHttpClient.RequestInit, { headers: { tenant: name } })
      const { get } = yield* AccessTokens.make().pipe(
        of("the first user"),
        Effect.provideService(TokenEndpoint.TokenEndpoint, transport)
      )
      yield* of("the first user")(get)
      yield* TestClock.adjust("1 minute")
      yield* of("a caller")(get)
      assert.deepStrictEqual(seen, ["nobody", "nobody"])
      const inits = (yield* transport.sent).map(({ init }) => Option.getOrUndefined(init))
      assert.deepStrictEqual(inits, [{ redirect: "manual" }, { redirect: "manual" }])
    }))

  it.effect("what is isolated leaves the fiber-local values behind it as they were", () => {
    const tenant = fiberLocal("nobody")
    return Effect.zipRight(isolated(Effect.void), tenant.get).pipe(
      tenant.locally("acme"),
      Effect.map((name) => assert.strictEqual(name, "acme"))
    )
  })

  it.effect("a token request goes only to its own address, even if transformClient follows redirects", () =>
    Effect.gen(function*() {
      const elsewhere = raw(null, { status: 307, headers: { location: "https://elsewhere.example/" } })
      const endpoint = yield* make({ transformClient: HttpClient.followRedirects() }, elsewhere)
      assert.deepInclude({ ...(yield* Effect.flip(endpoint.requestToken({ _tag: "Nothing" }))) }, {
        _tag: "TransportError",
        reason: "NotAllowed"
      })
      assert.strictEqual((yield* endpoint.sent).length, 1)
    }))

  it.effect("nothing is sent, and no middleware is run, before a token is requested", () =>
    Effect.gen(function*() {
      let seen = 0
      const client = HttpClient.make((request) => Effect.succeed(HttpClientResponse.fromWeb(request, new Response())))
        .pipe(
          HttpClient.mapRequest((request) => (seen++, request)),
          HttpClient.tapError(() => Effect.sync(() => seen++))
        )
      yield* makeTokenEndpoint(options).pipe(Effect.provideService(HttpClient.HttpClient, client))
      assert.strictEqual(seen, 0)
    }))

  it.effect("transformClient wraps the client of a token request", () =>
    Effect.gen(function*() {
      const endpoint = yield* make({
        transformClient: HttpClient.mapRequest(HttpClientRequest.setHeader("x-test", "here"))
      }, json(granted))
      yield* endpoint.requestToken({ _tag: "Nothing" })
      assert.strictEqual((yield* endpoint.sent)[0]?.headers["x-test"], "here")
    }))

  it.effect("a token request has one deadline for everything, 10 s by default", () =>
    Effect.gen(function*() {
      const silent = Effect.sync(() =>
        new Response(new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array([123])) }))
      )
      for (
        const [deadline, outcome] of [[undefined, Effect.never], [undefined, silent], ["3 seconds", silent]] as const
      ) {
        const endpoint = yield* make({ deadline }, outcome)
        const { result, seconds } = yield* after(
          "10 seconds",
          Effect.flip(endpoint.requestToken({ _tag: "Nothing" }))
        )
        assert.deepInclude({ ...result }, { _tag: "TransportError", reason: "Timeout" })
        assert.strictEqual(seconds, Duration.toSeconds(endpoint.deadline))
      }
    }))

  it.effect("a failed token request carries the hint of its adapter", () =>
    Effect.gen(function*() {
      const endpoint = yield* make({ hint: ({ status }) => `about ${status}` }, raw(null, { status: 404 }))
      assert.include(
        (yield* Effect.flip(endpoint.requestToken({ _tag: "Nothing" }))).message,
        "returned an error: 404. about 404"
      )
    }))

  it.effect("a token request over an uninterruptible transport ends at the deadline", () =>
    Effect.gen(function*() {
      const endpoint = yield* make({}, Effect.uninterruptible(Effect.never))
      const { result } = yield* after("10 seconds", Effect.flip(endpoint.requestToken({ _tag: "Nothing" })))
      assert.deepInclude({ ...result }, { _tag: "TransportError", reason: "Timeout" })
    }))
})

describe("a refused client", () => {
  const hinted = Effect.fnUntraced(function*(clientId: string, clientSecret: string) {
    const endpoint = yield* make(
      { credentials: { clientId, clientSecret: Redacted.make(clientSecret) } },
      json({ error: "invalid_client" }, { status: 401 })
    )
    return (yield* Effect.flip(endpoint.requestToken({ _tag: "Nothing" }))).message
  })

  it.effect("the message of a refusal names stray blanks and quotes of the credentials, without showing them", () =>
    Effect.gen(function*() {
      const rows = [
        ["id", " canary", "The client secret begins or ends with a space."],
        ["id", "canary\t".trimEnd() + " ", "The client secret begins or ends with a space."],
        ["id", "\"canary\"", "The client secret is surrounded by quotes."],
        ["id", "'canary'", "The client secret is surrounded by quotes."],
        [
          "id",
          " 'canary' ",
          "The client secret begins or ends with a space. The client secret is surrounded by quotes."
        ],
        ["id", "“canary”", "The client secret is surrounded by quotes."],
        ["id", "\u00a0canary", "The client secret begins or ends with a space."],
        ["'id'", "canary", "The client id is surrounded by quotes."]
      ] as const
      for (const [id, secret, hint] of rows) {
        const message = yield* hinted(id, secret)
        assert.include(message, `${hint} Remove what is not part of the value.`)
        assert.notInclude(message, "canary")
      }
      for (const secret of ["canary", "'canary", "can ary", "\"canary'"]) {
        assert.notInclude(yield* hinted("id", secret), "copied")
      }
      assert.notInclude(yield* hinted(credentials.clientId, "canary"), "copied")
    }))
})

describe("a refused audience", () => {
  const quoted = "\"https://api.example\""
  const messageOf = (audience: string, status: number, error: string) =>
    Effect.gen(function*() {
      const endpoint = yield* make({ environment: { ...environment, audience } }, json({ error }, { status }))
      return (yield* Effect.flip(endpoint.requestToken({ _tag: "Nothing" }))).message
    })
  const hint = "The audience is surrounded by quotes. Remove what is not part of the value."

  it.effect("is named as the probable cause if it is surrounded by quotes, and only of a final refusal", () =>
    Effect.gen(function*() {
      assert.include(yield* messageOf(quoted, 403, "access_denied"), hint)
      assert.notInclude(yield* messageOf("https://api.example", 403, "access_denied"), hint)
      assert.notInclude(yield* messageOf(quoted, 503, "temporarily_unavailable"), hint)
      assert.notInclude(yield* messageOf(quoted, 401, "invalid_client"), hint)
    }))

  it.effect("is shown as it was sent, because it is the value to compare", () =>
    Effect.gen(function*() {
      assert.include(
        yield* messageOf("https://api.staging.example", 400, "invalid_target"),
        "the audience https://api.staging.example "
      )
      assert.notInclude(
        yield* messageOf(`https://api.example/${Redacted.value(credentials.clientSecret)}`, 400, "invalid_target"),
        Redacted.value(credentials.clientSecret)
      )
    }))
})

describe("a transport that fails in its own way", () => {
  const broken = HttpClient.make((request) =>
    Effect.succeed(new Proxy(HttpClientResponse.fromWeb(request, Response.json(granted)), { get: () => undefined }))
  )
  const dying = (outcome: Effect.Effect<never>) => HttpClient.make(() => outcome)
  for (
    const [how, client] of [
      ["dies with an error", dying(Effect.die(new Error("the-secret")))],
      ["dies with a text", dying(Effect.die("the-secret"))],
      ["interrupts itself", dying(Effect.interrupt)],
      ["returns a value that is not a response", broken]
    ] as const
  ) {
    it.effect(`is a TransportError for an unknown reason if it ${how}`, () =>
      Effect.gen(function*() {
        const endpoint = yield* makeTokenEndpoint(options).pipe(Effect.provideService(HttpClient.HttpClient, client))
        const error = yield* Effect.flip(endpoint.requestToken({ _tag: "Nothing" }))
        assert.deepInclude({ ...error }, { _tag: "TransportError", reason: "Other" })
        assert.notInclude(error.message, "the-secret")
      }))
  }
})
