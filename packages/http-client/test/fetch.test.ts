import { DataAccess, Fetch } from "@credit-data/http-client"
import { isRequestError } from "@credit-data/test-support/httpErrors"
import { recordingTracer } from "@credit-data/test-support/recordingTracer"
import { HttpClient, type HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Scope } from "effect"
import { setImmediate, setTimeout } from "node:timers/promises"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { over, supply } from "./support/fakes.ts"

setFlagsFromString("--expose-gc")
const collect: () => void = runInNewContext("gc")

/** A `fetch` over a transport with these responses, and the requests that were sent. */
const setUp = Effect.fnUntraced(function*(
  respond: (request: HttpClientRequest.HttpClientRequest) => Response = () => Response.json({ id: 42 }),
  options: Parameters<typeof supply>[0] = {}
) {
  const sent: Array<HttpClientRequest.HttpClientRequest> = []
  const client = HttpClient.make((request) => {
    sent.push(request)
    return Effect.succeed(HttpClientResponse.fromWeb(request, respond(request)))
  })
  const dataAccess = yield* Effect.provide(
    DataAccess.DataAccess,
    over(DataAccess.layer(), yield* supply(options), client)
  )
  return { fetch: yield* Fetch.make(dataAccess), call: yield* Fetch.makeCall(dataAccess), sent }
})

const refusing = (...tokens: ReadonlyArray<string>) => (request: HttpClientRequest.HttpClientRequest) =>
  new Response("the body", {
    status: tokens.some((text) => request.headers["authorization"] === `Bearer ${text}`) ? 401 : 200
  })

/** The caller of a `fetch` aborts it with its own controller, outside of Effect. */
const callerAbort = () => new AbortController()

/** Why it rejects. What hangs does not reject either. */
const rejection = (run: () => Promise<unknown>) =>
  Effect.promise(() =>
    Promise.race([run(), setTimeout(5_000, undefined, { ref: false })])
      .then(() => assert.fail("it did not reject"), (error: unknown) => error)
  )

const bodyOf = (request: HttpClientRequest.HttpClientRequest | undefined) =>
  request?.body._tag === "Uint8Array" ? new TextDecoder().decode(request.body.body) : undefined

/** Everything of a `Request` but its prototype. */
const like = (request: Request) => ({
  url: request.url,
  method: request.method,
  headers: request.headers,
  signal: request.signal,
  body: request.body,
  arrayBuffer: () => request.arrayBuffer()
})

describe("the client of a group as a fetch", () => {
  it.scoped("sends a request with a token to the base URL, and returns the response", () =>
    Effect.gen(function*() {
      const { fetch, sent } = yield* setUp()
      const response = yield* Effect.promise(() => fetch("/a?page=2", { headers: { "x-mine": "1" } }))
      assert.deepStrictEqual(yield* Effect.promise(() => response.json()), { id: 42 })
      assert.strictEqual(response.headers.get("content-type"), "application/json")
      assert.strictEqual(sent[0]?.url, "https://api.example/v1/a?page=2")
      assert.deepInclude({ ...sent[0]?.headers }, { "x-mine": "1", authorization: "Bearer token-1" })
      assert.strictEqual(sent[0]?.body._tag, "Empty")
    }))

  it.scoped("accepts a URL, a Request, and a Request with changes", () =>
    Effect.gen(function*() {
      const { fetch, sent } = yield* setUp()
      yield* Effect.promise(() => fetch(new URL("https://api.example/v1/url")))
      const request = new Request("https://api.example/v1/request", { method: "PUT", body: "from the request" })
      yield* Effect.promise(() => fetch(request.clone()))
      yield* Effect.promise(() => fetch(request, { headers: { "x-changed": "1" } }))
      assert.deepStrictEqual(sent.map(({ method, url }) => `${method} ${url}`), [
        "GET https://api.example/v1/url",
        "PUT https://api.example/v1/request",
        "PUT https://api.example/v1/request"
      ])
      assert.strictEqual(bodyOf(sent[1]), "from the request")
      assert.strictEqual(bodyOf(sent[2]), "from the request")
      assert.strictEqual(sent[2]?.headers["x-changed"], "1")
    }))

  it.scoped("replaces the token after a 401, and sends the body again", () =>
    Effect.gen(function*() {
      const { fetch, sent } = yield* setUp(refusing("token-1"))
      const form = new FormData()
      form.set("field", "value")
      const response = yield* Effect.promise(() => fetch("/a", { method: "POST", body: form }))
      assert.strictEqual(response.status, 200)
      assert.deepStrictEqual(sent.map(({ headers }) => headers["authorization"]), ["Bearer token-1", "Bearer token-2"])
      for (const request of sent) {
        assert.match(String(request.headers["content-type"]), /^multipart\/form-data; boundary=/)
        assert.include(bodyOf(request), "value")
      }
    }))

  it.scoped("returns redirects, empty responses and all cookies unchanged", () =>
    Effect.gen(function*() {
      const { fetch } = yield* setUp(({ url }) => {
        const [empty] = /\d+$/.exec(url) ?? []
        if (empty !== undefined) return new Response(null, { status: Number(empty) })
        const headers = new Headers({ location: "https://elsewhere.example" })
        headers.append("set-cookie", "a=1")
        headers.append("set-cookie", "b=2")
        return new Response(null, { status: 302, headers })
      })
      const redirect = yield* Effect.promise(() => fetch("/redirect"))
      assert.strictEqual(redirect.status, 302)
      assert.strictEqual(redirect.headers.get("location"), "https://elsewhere.example")
      assert.deepStrictEqual(redirect.headers.getSetCookie(), ["a=1", "b=2"])
      for (const status of [204, 205, 304]) {
        const empty = yield* Effect.promise(() => fetch(`/${status}`).catch(String))
        assert(empty instanceof Response, `${status}: ${empty}`)
        assert.deepStrictEqual([empty.status, empty.body], [status, null])
      }
    }))

  it.scoped("accepts a method in lower case", () =>
    Effect.gen(function*() {
      const { fetch, sent } = yield* setUp()
      for (const method of ["patch", "put"]) yield* Effect.promise(() => fetch("/a", { method, body: "x" }))
      assert.deepStrictEqual(sent.map(({ method }) => method), ["PATCH", "PUT"])
    }))

  it.scoped("rejects with the client's error", () =>
    Effect.gen(function*() {
      const { fetch, sent } = yield* setUp(undefined, { granted: [] })
      assert.deepInclude(yield* rejection(() => fetch("/a")), { _tag: "InsufficientScope" })
      const other = yield* setUp()
      assert.isTrue(isRequestError(yield* rejection(() => other.fetch("https://elsewhere.example"))))
      assert.deepStrictEqual([...sent, ...other.sent], [])
    }))

  it.scoped("rejects when the arguments are not a valid request, and never throws", () =>
    Effect.gen(function*() {
      const { fetch, sent } = yield* setUp()
      assert.instanceOf(yield* rejection(() => fetch("/a", { headers: { "not a name": "x" } })), TypeError)
      const unknown = yield* rejection(() => fetch("/a", { method: "PURGE" }))
      assert.strictEqual(String(unknown), "TypeError: The method PURGE is not supported")
      const used = new Request("https://api.example/v1/a", { method: "POST", body: "x" })
      yield* Effect.promise(() => used.text())
      assert.instanceOf(yield* rejection(() => fetch(used)), TypeError)
      assert.deepStrictEqual(sent, [])
    }))

  it.scoped("rejects with the reason of the signal when it is aborted before or during the request", () =>
    Effect.gen(function*() {
      const client = HttpClient.make(() => Effect.never)
      const dataAccess = yield* Effect.provide(DataAccess.DataAccess, over(DataAccess.layer(), yield* supply(), client))
      const fetch = yield* Fetch.make(dataAccess)
      const reason = new Error("too late")
      assert.strictEqual(yield* rejection(() => fetch("/a", { signal: AbortSignal.abort(reason) })), reason)
      const late = yield* rejection(() => fetch("/a", { signal: AbortSignal.timeout(1) }))
      assert.include(String(late), "TimeoutError")
    }))

  it.scoped("rejects while the body is read with the reason of the signal, and when the scope closes", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const client = HttpClient.make((request) =>
        Effect.succeed(
          HttpClientResponse.fromWeb(request, new Response(new ReadableStream({ pull: () => new Promise(() => {}) })))
        )
      )
      const dataAccess = yield* Effect.provide(DataAccess.DataAccess, over(DataAccess.layer(), yield* supply(), client))
      const fetch = yield* Scope.extend(Fetch.make(dataAccess), scope)
      const controller = callerAbort()
      const reason = new Error("enough")
      const [first, second] = [
        yield* Effect.promise(() => fetch("/a", { signal: controller.signal })),
        yield* Effect.promise(() => fetch("/a"))
      ]
      const read = rejection(() => first.text())
      controller.abort(reason)
      assert.include(String(yield* read), "enough")
      const reading = yield* Effect.fork(rejection(() => second.text()))
      yield* Effect.yieldNow()
      yield* Scope.close(scope, Exit.void)
      assert.include(String(yield* Fiber.join(reading)), "The scope of this fetch was closed")
    }))

  it.scopedLive("rejects while the body is read with the reason of the signal, even if the Request was collected", () =>
    Effect.gen(function*() {
      const { fetch } = yield* setUp()
      const controller = callerAbort()
      const { signal } = controller
      const response = yield* Effect.promise(() => fetch(new Request("https://api.example/v1/a", { signal })))
      for (let turn = 0; turn < 5; turn++) {
        collect()
        yield* Effect.sleep("5 millis")
      }
      controller.abort(new Error("enough"))
      assert.include(String(yield* rejection(() => response.text())), "enough")
    }))

  it.scopedLive("keeps nothing in memory of a call that has failed", () =>
    Effect.gen(function*() {
      const { fetch } = yield* setUp()
      const failed = async () => {
        const request = new Request("https://another.example/a")
        await fetch(request).then(() => assert.fail("it did not reject"), () => undefined)
        return new WeakRef(request)
      }
      const request = yield* Effect.promise(failed)
      for (let turn = 0; turn < 50 && request.deref() !== undefined; turn++) {
        yield* Effect.sleep("5 millis")
        collect()
      }
      assert.isUndefined(request.deref())
    }))

  it.scoped("reads at most one chunk of a body before its caller, cancels it with its caller, and reads one that no caller gets", () =>
    Effect.gen(function*() {
      let [pulled, cancelled] = [0, 0]
      const body = () =>
        new ReadableStream({
          pull: (controller) => {
            if (++pulled > 3) controller.close()
            else controller.enqueue(new Uint8Array(1))
          },
          cancel: () => void cancelled++
        }, { highWaterMark: 0 })
      const { fetch } = yield* setUp(() => new Response(body()))
      const response = yield* Effect.promise(() => fetch("/a"))
      for (let turn = 0; turn < 10; turn++) yield* Effect.promise(() => setImmediate())
      assert.isAtMost(pulled, 1)
      assert.strictEqual(cancelled, 0)
      yield* Effect.promise(async () => response.body?.cancel())
      assert.isAtMost(pulled, 1)
      assert.strictEqual(cancelled, 1)
      pulled = 0
      const head = yield* Effect.promise(() => fetch("/a", { method: "HEAD" }))
      assert.deepStrictEqual([head.body, pulled, cancelled], [null, 4, 1])
      pulled = 0
      const odd = yield* setUp(() => Object.defineProperty(new Response(body()), "status", { value: 600 }))
      assert.instanceOf(yield* rejection(() => odd.fetch("/a")), TypeError)
      assert.deepStrictEqual([pulled, cancelled], [4, 1])
    }))

  it.scoped("accepts a Request of another implementation, with a body and without", () =>
    Effect.gen(function*() {
      const { fetch, sent } = yield* setUp()
      const own = new Request("https://api.example/v1/a", { method: "PUT", body: "hello", headers: { "x-a": "1" } })
      yield* Effect.promise(() => Reflect.apply(fetch, undefined, [like(own), { headers: { "x-b": "2" } }]))
      yield* Effect.promise(() => Reflect.apply(fetch, undefined, [like(new Request("https://api.example/v1/b"))]))
      const post = new Request("https://api.example/v1/c", { method: "POST", headers: { "x-c": "3" } })
      yield* Effect.promise(() => Reflect.apply(fetch, undefined, [like(post)]))
      assert.deepStrictEqual(sent.map(({ method, url }) => `${method} ${url}`), [
        "PUT https://api.example/v1/a",
        "GET https://api.example/v1/b",
        "POST https://api.example/v1/c"
      ])
      assert.deepStrictEqual(sent.map(bodyOf), ["hello", undefined, undefined])
      assert.deepStrictEqual(sent.map(({ headers }) => [headers["x-a"], headers["x-b"], headers["x-c"]]), [
        [undefined, "2", undefined],
        [undefined, undefined, undefined],
        [undefined, undefined, "3"]
      ])
      assert.deepStrictEqual(sent.map(({ body }) => body._tag), ["Uint8Array", "Empty", "Empty"])
    }))

  it.scopedLive("rejects with the reason of the signal while the body of a Request of another implementation is read", () =>
    Effect.gen(function*() {
      const { fetch, sent } = yield* setUp()
      const reason = new Error("too late")
      const controller = callerAbort()
      const own = new Request("https://api.example/v1/a", { method: "POST", signal: controller.signal, body: "x" })
      const endless = { ...like(own), arrayBuffer: () => new Promise(() => {}) }
      const fiber = yield* Effect.fork(rejection(() => Reflect.apply(fetch, undefined, [endless])))
      yield* Effect.promise(() => setTimeout(20))
      controller.abort(reason)
      assert.strictEqual(yield* Fiber.join(fiber), reason)
      assert.deepStrictEqual(sent, [])
    }))

  it.scoped("makes calls outside of the span in which it was made, which has ended", () => {
    const { spans, tracer } = recordingTracer()
    return Effect.gen(function*() {
      const { fetch } = yield* Effect.withSpan(setUp(), "startup")
      yield* Effect.promise(() => fetch("/a"))
      assert.deepStrictEqual(spans.map(({ name, parent }) => [name, parent]), [["startup", undefined], [
        "GET",
        undefined
      ]])
    }).pipe(Effect.withTracer(tracer))
  })

  it.scoped("returns an empty body of a response that has none, whatever its status is", () =>
    Effect.gen(function*() {
      for (const status of [200, 201, 401, 503]) {
        const { fetch } = yield* setUp(() => new Response(null, { status }))
        const text = yield* Effect.promise(() => fetch("/a").then((response) => response.text()).catch(String))
        assert.strictEqual(text, "", `${status}`)
      }
    }))

  it.scoped("rejects with a TypeError what is neither a URL nor a Request, and a status that no Response has", () =>
    Effect.gen(function*() {
      const { fetch, sent } = yield* setUp()
      const all = like(new Request("https://api.example/v1/a"))
      const parts = Object.keys(all).filter((part) => part !== "body")
      const incomplete = parts.map((part) => Object.fromEntries(Object.entries(all).filter(([key]) => key !== part)))
      for (const wrong of [undefined, null, 42, {}, { href: 42 }, ...incomplete]) {
        const error = yield* rejection(() => Reflect.apply(fetch, undefined, [wrong]))
        assert.strictEqual(String(error), "TypeError: Expected a URL or a Request")
      }
      assert.deepStrictEqual(sent, [])
      for (const status of [101, 199, 600]) {
        const odd = Object.defineProperty(new Response("x"), "status", { value: status })
        const { fetch } = yield* setUp(() => odd)
        assert.strictEqual(
          String(yield* rejection(() => fetch("/a"))),
          `TypeError: The API responded with ${status}, which is not the status of a Response`
        )
      }
      const last = yield* setUp(() => Object.defineProperty(new Response("x"), "status", { value: 599 }))
      assert.strictEqual((yield* Effect.promise(() => last.fetch("/a"))).status, 599)
    }))

  it.effect("rejects the calls that are under way when the scope closes", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const client = HttpClient.make(() => Effect.never)
      const dataAccess = yield* Effect.provide(DataAccess.DataAccess, over(DataAccess.layer(), yield* supply(), client))
      const fetch = yield* Scope.extend(Fetch.make(dataAccess), scope)
      const call = fetch("/a").then(() => "a response", String)
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual(yield* Effect.promise(() => call), "AbortError: The scope of this fetch was closed")
    }))

  it.effect("rejects with an AbortError after its scope has closed, and sends nothing", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const { fetch, sent } = yield* Scope.extend(setUp(), scope)
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual(
        String(yield* rejection(() => fetch("/a"))),
        "AbortError: The scope of this fetch was closed"
      )
      assert.deepStrictEqual(sent, [])
    }))
})

describe("a call of a path with values", () => {
  it.scoped("encodes the values, and sends headers and body as the fetch does", () =>
    Effect.gen(function*() {
      const { call, sent } = yield* setUp()
      const response = yield* Effect.promise(() =>
        call("POST", "/consumers/{id}/{part}", { id: "a/b", part: 7 }, { body: "a body", headers: { "x-own": "c" } })
      )
      assert.deepStrictEqual(yield* Effect.promise(() => response.json()), { id: 42 })
      assert.strictEqual(sent[0]?.method, "POST")
      assert.strictEqual(sent[0]?.url, "https://api.example/v1/consumers/a%2Fb/7")
      assert.strictEqual(sent[0]?.headers["x-own"], "c")
      assert.strictEqual(bodyOf(sent[0]), "a body")
    }))

  it.scoped("rejects with the client's error for a value that makes another path, and sends nothing", () =>
    Effect.gen(function*() {
      const { call, sent } = yield* setUp()
      assert.isTrue(isRequestError(yield* rejection(() => call("GET", "/consumers/{id}", { id: ".." }))))
      assert.strictEqual(sent.length, 0)
    }))

  it.scoped("rejects with the reason of its signal", () =>
    Effect.gen(function*() {
      const { call } = yield* setUp()
      const controller = callerAbort()
      controller.abort("no longer needed")
      const call42 = () => call("GET", "/consumers/{id}", { id: 42 }, { signal: controller.signal })
      assert.strictEqual(yield* rejection(call42), "no longer needed")
    }))
})
