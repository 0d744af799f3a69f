import { TokenError } from "@credit-data/core"
import { DataAccess } from "@credit-data/http-client"
import {
  FetchHttpClient,
  HttpBody,
  HttpClient,
  HttpClientError,
  HttpClientRequest,
  HttpClientResponse
} from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Option, Schedule, Stream } from "effect"
import { inspect } from "node:util"
import { over, rejecting, supply, transport } from "./support/fakes.ts"
import { recordingTracer } from "@credit-data/test-support/recordingTracer"

type Client = HttpClient.HttpClient

/** Makes a call of Data Access over a client of the program's own. */
const callOver = <A, E>(
  client: Client,
  use: (client: DataAccess.DataAccess["Type"]) => Effect.Effect<A, E>,
  options: Parameters<typeof supply>[0] = {}
) =>
  Effect.gen(function*() {
    const layer = over(DataAccess.layer(), yield* supply(options), client)
    return yield* Effect.provide(Effect.flatMap(DataAccess.DataAccess, use), layer)
  })

const get = (client: Client) => callOver(client, (client) => client.get("/consumers/42?page=2"))

describe("a client of the program's own that rewrites URLs", () => {
  const elsewhere = HttpClientRequest.prependUrl("https://elsewhere.example/?")
  const rewriting: Record<string, (client: Client) => Client> = {
    "mapRequest": HttpClient.mapRequest(elsewhere),
    "mapRequestInput": HttpClient.mapRequestInput(elsewhere),
    "mapRequestEffect": HttpClient.mapRequestEffect((request) => Effect.succeed(elsewhere(request))),
    "mapRequestInputEffect": HttpClient.mapRequestInputEffect((request) => Effect.succeed(elsewhere(request))),
    "mapRequest, then others": (client) =>
      client.pipe(
        HttpClient.mapRequest(elsewhere),
        HttpClient.filterStatusOk,
        HttpClient.retryTransient({ times: 2, schedule: Schedule.recurs(2) }),
        HttpClient.transform((response) => response),
        HttpClient.followRedirects(),
        HttpClient.withTracerPropagation(true)
      )
  }
  for (const [name, rewrite] of Object.entries(rewriting)) {
    it.effect(`by ${name} leads the token nowhere else`, () =>
      Effect.gen(function*() {
        const { client, sent } = yield* transport(rejecting())
        const error = yield* Effect.flip(get(rewrite(client)))
        assert(error._tag === "RequestError")
        assert.strictEqual(error.reason, "InvalidUrl")
        assert.deepStrictEqual(yield* sent, [])
      }))
  }
})

describe("a client of the program's own that traces", () => {
  const tracing: Record<string, (client: Client) => Client> = {
    "withTracerDisabledWhen": HttpClient.withTracerDisabledWhen(() => false),
    "withTracerPropagation": HttpClient.withTracerPropagation(true),
    "both, beneath others": (client) =>
      client.pipe(
        HttpClient.withTracerDisabledWhen(() => false),
        HttpClient.withTracerPropagation(true),
        HttpClient.transform((response) => response),
        HttpClient.tap(() => Effect.void)
      )
  }
  for (const [name, trace] of Object.entries(tracing)) {
    it.effect(`by ${name} sends no trace headers, and puts no query into a span`, () =>
      Effect.gen(function*() {
        const { spans, tracer } = recordingTracer()
        const { client, sent } = yield* transport(rejecting())
        yield* get(trace(client)).pipe(Effect.withTracer(tracer))
        const [request] = yield* sent
        assert.notProperty(request?.headers, "traceparent")
        assert.notProperty(request?.headers, "b3")
        assert.deepStrictEqual(spans.map(({ name }) => name), ["Data Access GET"])
        assert.notInclude(JSON.stringify(spans.map(({ attributes }) => attributes)), "page")
      }))
  }

  it.effect("keeps its own spans, and their parents", () =>
    Effect.gen(function*() {
      const { spans, tracer } = recordingTracer()
      const { client } = yield* transport(rejecting())
      const own = HttpClient.transformResponse(client, Effect.withSpan("own"))
      yield* get(own).pipe(Effect.withSpan("caller"), Effect.withTracer(tracer))
      assert.deepStrictEqual(spans.map(({ name }) => name), ["caller", "Data Access GET", "own"])
    }))
})

describe("the stream of a request body", () => {
  it.effect("runs in the context of its caller: fetch options and tracing are his", () =>
    Effect.gen(function*() {
      const { spans, tracer } = recordingTracer()
      const seen: Array<unknown> = []
      const client = HttpClient.make((request) =>
        Effect.gen(function*() {
          seen.push(Option.getOrUndefined(yield* Effect.serviceOption(FetchHttpClient.RequestInit))?.redirect)
          if (request.body._tag === "Stream") yield* Effect.orDie(Stream.runDrain(request.body.stream))
          return HttpClientResponse.fromWeb(request, new Response())
        })
      )
      const body = HttpBody.stream(
        Stream.fromEffect(
          Effect.gen(function*() {
            const init = yield* Effect.serviceOption(FetchHttpClient.RequestInit)
            seen.push(Option.getOrUndefined(init)?.redirect)
            return new Uint8Array([1])
          }).pipe(Effect.withSpan("inner"))
        ),
        "text/plain",
        1
      )
      yield* callOver(client, (client) => client.post("/consumers", { body })).pipe(
        Effect.withSpan("caller"),
        Effect.provideService(FetchHttpClient.RequestInit, { redirect: "error" }),
        Effect.withTracer(tracer)
      )
      assert.deepStrictEqual(seen, ["manual", "error"])
      const [caller, , inner] = spans
      assert.deepStrictEqual([inner?.name, inner?.parent], ["inner", caller?.spanId])
    }))

  it.effect("keeps its type and its length", () =>
    Effect.gen(function*() {
      const { client, sent } = yield* transport(rejecting())
      const body = HttpBody.stream(Stream.make(new Uint8Array([1, 2])), "text/csv", 2)
      yield* callOver(client, (client) => client.post("/consumers", { body }))
      const [request] = yield* sent
      assert.deepInclude({ ...request?.body }, { _tag: "Stream", contentType: "text/csv", contentLength: 2 })
    }))

  it.effect("leaves nothing behind in the fiber of its caller", () =>
    Effect.gen(function*() {
      const { client } = yield* transport(rejecting())
      const before = yield* Effect.context<never>()
      yield* get(client)
      yield* Effect.ignore(get(HttpClient.mapRequestEffect(client, (request) => Effect.as(Effect.yieldNow(), request))))
      assert.strictEqual((yield* Effect.context<never>()).unsafeMap.size, before.unsafeMap.size)
    }))
})

describe("a client of the program's own that lets no other status than 2xx through", () => {
  it.effect("does not keep a 401 from being renewed", () =>
    Effect.gen(function*() {
      const { client, sent } = yield* transport(rejecting("token-1"))
      const response = yield* get(HttpClient.filterStatusOk(client))
      assert.strictEqual(response.status, 200)
      assert.strictEqual((yield* sent).length, 2)
    }))

  it.effect("returns other statuses, and a 401 that stays, as the errors that it makes of them", () =>
    Effect.gen(function*() {
      for (const status of [401, 404, 500]) {
        const { client } = yield* transport(() => new Response("the body", { status }))
        const error = yield* Effect.flip(get(HttpClient.filterStatusOk(client)))
        assert(error._tag === "ResponseError")
        assert.deepStrictEqual([error.reason, error.response.status], ["StatusCode", status])
        assert.strictEqual(yield* error.response.text, "the body")
        assert.notInclude(inspect(error, { depth: Infinity, customInspect: false }), "token-1")
      }
    }))
})

const failingWith = (makeCause: (request: HttpClientRequest.HttpClientRequest) => unknown, description?: string) =>
  HttpClient.make((request) =>
    Effect.fail(
      new HttpClientError.RequestError({
        request,
        reason: "Transport",
        cause: makeCause(request),
        ...(description === undefined ? {} : { description })
      })
    )
  )

describe("what a transport's error is caused by", () => {
  const bearer = (request: HttpClientRequest.HttpClientRequest) => request.headers["authorization"] ?? ""
  const leaking: Record<string, (request: HttpClientRequest.HttpClientRequest) => unknown> = {
    "a parser's error with the raw bytes": (request) =>
      Object.assign(new Error("Parse Error"), { code: "HPE_INVALID_CONSTANT", data: bearer(request) }),
    "a packet in a buffer": (request) =>
      Object.assign(new Error("Parse Error"), { rawPacket: Buffer.from(bearer(request)) }),
    "an error that wraps the request": (request) => new Error("wrapped", { cause: request }),
    "an error that wraps the platform's": (request) =>
      new Error("wrapped", { cause: new HttpClientError.RequestError({ request, reason: "Transport" }) }),
    "many errors": (request) => new AggregateError([new Error("first", { cause: request })], "many"),
    "a Cause of Effect": (request) => Cause.fail(request),
    "the request itself": (request) => request,
    "a message that quotes it": (request) => new Error(`failed: ${bearer(request)} was refused`),
    "a name that is it": (request) => Object.assign(new Error("x"), { name: bearer(request) }),
    "a code that is it": (request) => Object.assign(new Error("x"), { code: bearer(request) }),
    "a string that quotes it in base64": (request) => Buffer.from(bearer(request)).toString("base64"),
    "an error that leads back to itself": (request) => {
      const error: Error & { cause?: unknown; request?: unknown } = new Error("circular")
      error.cause = error
      error.request = request
      return error
    }
  }
  for (const [name, cause] of Object.entries(leaking)) {
    it.effect(`is shown without the token: ${name}`, () =>
      Effect.gen(function*() {
        const exit = yield* Effect.exit(get(failingWith(cause)))
        const shown = inspect(exit, { depth: Infinity, customInspect: false, showHidden: true }) + inspect(exit) +
          JSON.stringify(exit) + (Exit.isFailure(exit) ? Cause.pretty(exit.cause, { renderErrorCause: true }) : "")
        for (const text of ["token-1", "746f6b656e2d31", Buffer.from("Bearer token-1").toString("base64")]) {
          assert.notInclude(shown.toLowerCase(), text.toLowerCase())
        }
      }))
  }

  it.effect("keeps name, message and code, and its own causes likewise", () =>
    Effect.gen(function*() {
      const inner = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:1"), {
        code: "ECONNREFUSED",
        more: "hidden"
      })
      const error = yield* Effect.flip(get(failingWith(() => new TypeError("fetch failed", { cause: inner }))))
      assert(error._tag === "RequestError" && error.cause instanceof Error)
      const { cause } = error
      assert.deepStrictEqual([cause.name, cause.message], ["TypeError", "fetch failed"])
      assert(cause.cause instanceof Error)
      assert.deepInclude<object>({ ...cause.cause }, { code: "ECONNREFUSED" })
      assert.strictEqual(cause.cause.message, inner.message)
      assert.notInclude(inspect(error, { depth: Infinity }), "hidden")
      assert.strictEqual(cause.stack, "TypeError: fetch failed")
    }))

  it.effect("is a text of 200 characters at most", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(get(failingWith(() => "x".repeat(10_000), "y".repeat(10_000))))
      assert(error._tag === "RequestError")
      assert.strictEqual(String(error.cause).length, 200)
      assert.isBelow(error.message.length, 300)
    }))
})

describe("a request that got no answer", () => {
  it.effect("says why, and what to check", () =>
    Effect.gen(function*() {
      const rows: ReadonlyArray<readonly [cause: unknown, message: string]> = [
        [
          { code: "ENOTFOUND", hostname: "api.example" },
          "Transport: The API did not answer: its host name does not resolve. Check CREDIT_DATA_BASE_URL, and the name service."
        ],
        [
          { code: "ECONNREFUSED", port: 443 },
          "Transport: The API did not answer: the connection was refused. Check the host and the port in CREDIT_DATA_BASE_URL."
        ],
        [
          { code: "ECONNREFUSED", address: "10.0.0.1", port: 3128 },
          "Transport: The API did not answer: the forward proxy 10.0.0.1:3128 could not be reached. Check the settings of the " +
          "proxy (HTTPS_PROXY), its credentials and its rules."
        ],
        [
          { code: "EPROTO", message: "wrong version number" },
          "Transport: The API did not answer: the TLS handshake failed, so nothing was sent. The port does not speak TLS, it " +
          "probably speaks plain HTTP. Check the port in the address, and whether it has to be https."
        ]
      ]
      for (const [cause, message] of rows) {
        const error = yield* Effect.flip(get(failingWith(() => cause)))
        assert.strictEqual(error.message, `${message} (GET https://api.example/v1/consumers/42?page=2)`)
      }
      const described = yield* Effect.flip(get(failingWith(() => undefined, "As the program says it")))
      assert.include(described.message, "Transport: As the program says it")
    }))
})

describe("a connection that was reset before an answer", () => {
  const reset = { code: "ECONNRESET" }

  /** Fails so for the first requests, and then answers. */
  const flaky = (times: number, cause: unknown = reset, reason: "Transport" | "Encode" = "Transport") => {
    let requests = 0
    const client = HttpClient.make((request) =>
      ++requests <= times
        ? Effect.fail(new HttpClientError.RequestError({ request, reason, cause }))
        : Effect.succeed(HttpClientResponse.fromWeb(request, new Response()))
    )
    return { client, requests: () => requests }
  }

  const requests: ReadonlyArray<
    readonly [name: string, request: HttpClientRequest.HttpClientRequest, sent: number]
  > = [
    ["GET", HttpClientRequest.get("/a"), 2],
    ["HEAD", HttpClientRequest.head("/a"), 2],
    ["OPTIONS", HttpClientRequest.options("/a"), 2],
    ["POST", HttpClientRequest.post("/a"), 1],
    ["PUT", HttpClientRequest.put("/a"), 1],
    ["PATCH", HttpClientRequest.patch("/a"), 1],
    ["DELETE", HttpClientRequest.del("/a"), 1],
    ["POST with a key", HttpClientRequest.post("/a", { headers: { "Idempotency-Key": "1" } }), 2],
    [
      "PUT with a key and a body",
      HttpClientRequest.put("/a", { headers: { "idempotency-key": "1" }, body: HttpBody.text("b") }),
      2
    ],
    [
      "PUT with a key and a stream",
      HttpClientRequest.put("/a", {
        headers: { "idempotency-key": "1" },
        body: HttpBody.stream(Stream.make(new Uint8Array([1])))
      }),
      1
    ]
  ]
  for (const [name, request, sent] of requests) {
    it.effect(`is met ${sent === 2 ? "by sending it again once" : "by an error"}: ${name}`, () =>
      Effect.gen(function*() {
        const once = flaky(1)
        const exit = yield* Effect.exit(callOver(once.client, (client) => client.execute(request)))
        assert.strictEqual(Exit.isSuccess(exit), sent === 2)
        assert.strictEqual(once.requests(), sent)
        const twice = flaky(2)
        assert.isTrue(Exit.isFailure(yield* Effect.exit(callOver(twice.client, (client) => client.execute(request)))))
        assert.strictEqual(twice.requests(), sent)
      }))
  }

  it.effect("is told apart from other failures", () =>
    Effect.gen(function*() {
      for (
        const code of ["ENOTFOUND", "ECONNREFUSED", "ETIMEDOUT", "CERT_HAS_EXPIRED", "HPE_INVALID_CONSTANT", undefined]
      ) {
        const other = flaky(1, { code })
        yield* Effect.flip(callOver(other.client, (client) => client.get("/a")))
        assert.strictEqual(other.requests(), 1)
      }
      const encoding = flaky(1, reset, "Encode")
      yield* Effect.flip(callOver(encoding.client, (client) => client.get("/a")))
      assert.strictEqual(encoding.requests(), 1)
    }))

  it.effect("once in a call, also when its token is replaced; each time is counted in its span", () =>
    Effect.gen(function*() {
      const { spans, tracer } = recordingTracer()
      let requests = 0
      const client = HttpClient.make((request) => {
        requests++
        return requests === 1 || requests === 3
          ? Effect.fail(new HttpClientError.RequestError({ request, reason: "Transport", cause: reset }))
          : Effect.succeed(HttpClientResponse.fromWeb(request, rejecting("token-1")(request)))
      })
      const error = yield* Effect.flip(callOver(client, (client) => client.get("/a"))).pipe(Effect.withTracer(tracer))
      assert.strictEqual(error._tag, "RequestError")
      assert.strictEqual(requests, 3)
      assert.strictEqual(spans[0]?.attributes["http.request.resend_count"], 2)
    }))

  it.effect("with an Authorization of the caller's own likewise, and its error does not quote it", () =>
    Effect.gen(function*() {
      const request = HttpClientRequest.get("/a", { headers: { authorization: "Basic my-own-credentials" } })
      const once = flaky(1)
      yield* callOver(once.client, (client) => client.execute(request))
      assert.strictEqual(once.requests(), 2)
      const error = yield* Effect.flip(
        callOver(failingWith(() => new Error("it was Basic my-own-credentials")), (client) => client.execute(request))
      )
      assert(error._tag === "RequestError")
      assert.notInclude(String(error.cause), "my-own-credentials")
    }))
})

describe("a 401", () => {
  it.effect("is the caller's when the renewal fails", () =>
    Effect.gen(function*() {
      const { client, sent } = yield* transport(rejecting("token-1"))
      const replacementFails = new TokenError.ServerError({ environment: "test", tokenEndpoint: "t", status: 503 })
      const text = yield* callOver(
        client,
        (client) =>
          Effect.flatMap(client.get("/a"), ({ status, text }) => Effect.map(text, (text) => `${status} ${text}`)),
        { replacementFails }
      )
      assert.strictEqual(text, "401 the body")
      assert.strictEqual((yield* sent).length, 1)
    }))
})

describe("a URL of the same host", () => {
  it.effect("with a user or a password is refused, each by itself", () =>
    Effect.gen(function*() {
      for (const url of ["https://user@api.example/v1/a", "https://:pass@api.example/v1/a"]) {
        const { client, sent } = yield* transport(rejecting())
        const error = yield* Effect.flip(callOver(client, (client) => client.get(url)))
        assert(error._tag === "RequestError")
        assert.include(error.message, "A token is sent to https://api.example alone")
        assert.deepStrictEqual(yield* sent, [])
      }
    }))

  it.effect("that leaves the base path is refused with the reason", () =>
    Effect.gen(function*() {
      const { client } = yield* transport(rejecting())
      const error = yield* Effect.flip(callOver(client, (client) => client.get("../other")))
      assert.include(error.message, "The path leaves https://api.example/v1")
    }))

  it.effect("is recognized in any spelling when a client rewrites it", () =>
    Effect.gen(function*() {
      const { client, sent } = yield* transport(rejecting())
      const spelled = HttpClient.mapRequest(client, HttpClientRequest.setUrl("HTTPS://API.example:443/v1/b"))
      yield* get(spelled)
      assert.strictEqual((yield* sent).length, 1)
    }))
})
