import { DataAccess, Fetch } from "@credit-data/http-client"
import { isRequestError } from "@credit-data/test-support/httpErrors"
import { HttpClient, type HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { over, supply } from "./support/fakes.ts"

/** A `fetch` over a transport with these answers, and the requests that were sent. */
const setUp = Effect.fnUntraced(function*(
  answer: (request: HttpClientRequest.HttpClientRequest) => Response = () => Response.json({ id: 42 }),
  options: Parameters<typeof supply>[0] = {}
) {
  const sent: Array<HttpClientRequest.HttpClientRequest> = []
  const client = HttpClient.make((request) => {
    sent.push(request)
    return Effect.succeed(HttpClientResponse.fromWeb(request, answer(request)))
  })
  const dataAccess = yield* Effect.provide(
    DataAccess.DataAccess,
    over(DataAccess.layer(), yield* supply(options), client)
  )
  return { fetch: yield* Fetch.make(dataAccess), sent }
})

const refusing = (...tokens: ReadonlyArray<string>) => (request: HttpClientRequest.HttpClientRequest) =>
  new Response("the body", {
    status: tokens.some((text) => request.headers["authorization"] === `Bearer ${text}`) ? 401 : 200
  })

const rejection = (run: () => Promise<unknown>) =>
  Effect.promise(() => run().then(() => assert.fail("it did not reject"), (error: unknown) => error))

const bodyOf = (request: HttpClientRequest.HttpClientRequest | undefined) =>
  request?.body._tag === "Uint8Array" ? new TextDecoder().decode(request.body.body) : undefined

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

  it.scoped("returns redirects, empty answers and all cookies unchanged", () =>
    Effect.gen(function*() {
      const { fetch } = yield* setUp(({ url }) => {
        if (url.endsWith("/empty")) return new Response(null, { status: 204 })
        const headers = new Headers({ location: "https://elsewhere.example" })
        headers.append("set-cookie", "a=1")
        headers.append("set-cookie", "b=2")
        return new Response(null, { status: 302, headers })
      })
      const redirect = yield* Effect.promise(() => fetch("/redirect"))
      assert.strictEqual(redirect.status, 302)
      assert.strictEqual(redirect.headers.get("location"), "https://elsewhere.example")
      assert.deepStrictEqual(redirect.headers.getSetCookie(), ["a=1", "b=2"])
      const empty = yield* Effect.promise(() => fetch("/empty"))
      assert.strictEqual(empty.status, 204)
      assert.isNull(empty.body)
    }))

  it.scoped("rejects with the error of the client", () =>
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

  it.effect("rejects the calls that are under way when the scope closes", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const client = HttpClient.make(() => Effect.never)
      const dataAccess = yield* Effect.provide(DataAccess.DataAccess, over(DataAccess.layer(), yield* supply(), client))
      const fetch = yield* Scope.extend(Fetch.make(dataAccess), scope)
      const call = fetch("/a").then(() => "an answer", () => "rejected")
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual(yield* Effect.promise(() => call), "rejected")
    }))
})
