import { AccessTokens, TokenError } from "@credit-data/core"
import { observeCalls } from "@credit-data/core/Internal"
import { CallError, Fetch } from "@credit-data/http-client"
import { recordingTracer } from "@credit-data/test-support/recordingTracer"
import { assert, describe, it, vi } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { setImmediate, setTimeout } from "node:timers/promises"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { supply } from "./support/fakes.ts"

setFlagsFromString("--expose-gc")
const collect: () => void = runInNewContext("gc")

interface Sent {
  readonly url: string
  readonly method: string
  readonly headers: Headers
  readonly init: RequestInit
  readonly body: string
}

type Respond = (request: Sent) => Response | Promise<Response>

/** A `fetch` of the program with these responses, and the requests that it got. */
const fake = (respond: Respond) => {
  const sent: Array<Sent> = []
  const fetch: typeof globalThis.fetch = async (input, init = {}) => {
    const { headers, method, url } = new Request(input, init)
    const body = await new Response(init.body).text()
    sent.push({ url, method, headers, init, body })
    return respond({ url, method, headers, init, body })
  }
  return { fetch, sent }
}

const over = (tokens: AccessTokens.Service, fetch: typeof globalThis.fetch) =>
  Fetch.make({ name: "Data Access", scope: "data-access:all", fetch }).pipe(
    Effect.provideService(AccessTokens.AccessTokens, tokens)
  )

const setUp = Effect.fnUntraced(function*(
  respond: Respond = () => Response.json({ id: 42 }),
  options: Parameters<typeof supply>[0] = {}
) {
  const { fetch, sent } = fake(respond)
  return { fetch: yield* over(yield* supply(options), fetch), sent }
})

const refusing = (...tokens: ReadonlyArray<string>) => (request: Sent) =>
  new Response("the body", {
    status: tokens.some((text) => request.headers.get("authorization") === `Bearer ${text}`) ? 401 : 200
  })

const bearers = (sent: ReadonlyArray<Sent>) => sent.map(({ headers }) => headers.get("authorization"))

/** Why it rejects. What hangs does not reject either. */
const rejection = (run: () => Promise<unknown>) =>
  Effect.promise(() =>
    Promise.race([run(), setTimeout(5_000, undefined, { ref: false })])
      .then(() => assert.fail("it did not reject"), (error: unknown) => error)
  )

/** The caller of a `fetch` aborts it with its own controller, outside of Effect. */
const callerAbort = () => new AbortController()

/** Everything of a `Request` but its prototype. */
const like = (request: Request) => ({
  url: request.url,
  method: request.method,
  headers: request.headers,
  signal: request.signal,
  body: request.body,
  arrayBuffer: () => request.arrayBuffer()
})

const isCallError = (error: unknown, reason: CallError.CallError["reason"]) => {
  assert.instanceOf(error, CallError.CallError, String(error))
  assert.strictEqual(error.reason, reason, error.message)
  return error
}

const endless = () => new Response(new ReadableStream({ pull: () => new Promise(() => {}) }))

describe("the fetch of a group", () => {
  it.scoped("sends a request with a token to the base URL, and returns the response", () =>
    Effect.gen(function*() {
      const { fetch, sent } = yield* setUp()
      const response = yield* Effect.promise(() => fetch("/a?page=2", { headers: { "x-mine": "1" } }))
      assert.deepStrictEqual(yield* Effect.promise(() => response.json()), { id: 42 })
      assert.strictEqual(sent[0]?.url, "https://api.example/v1/a?page=2")
      assert.strictEqual(sent[0]?.headers.get("x-mine"), "1")
      assert.match(String(sent[0]?.headers.get("user-agent")), /^credit-data\//)
      assert.deepStrictEqual(bearers(sent), ["Bearer token-1"])
      assert.strictEqual(sent[0]?.init.redirect, "manual")
    }))

  it.scoped("accepts a URL, a Request, and a Request with changes", () =>
    Effect.gen(function*() {
      const { fetch, sent } = yield* setUp()
      yield* Effect.promise(() => fetch(new URL("https://api.example/v1/url")))
      const request = new Request("https://api.example/v1/request", { method: "PUT", body: "from the request" })
      yield* Effect.promise(() => fetch(request.clone()))
      yield* Effect.promise(() => fetch(request, { headers: { "x-changed": "1" } }))
      assert.deepStrictEqual(sent.map(({ body, method, url }) => `${method} ${url} ${body}`), [
        "GET https://api.example/v1/url ",
        "PUT https://api.example/v1/request from the request",
        "PUT https://api.example/v1/request from the request"
      ])
      assert.strictEqual(sent[2]?.headers.get("x-changed"), "1")
    }))

  it.scoped("replaces the token after a 401, and sends a body again that can be read again", () =>
    Effect.gen(function*() {
      const form = new FormData()
      form.set("field", "value")
      const url = "https://api.example/v1/a"
      const bodies = [
        form,
        "value",
        new URLSearchParams("a=value"),
        new TextEncoder().encode("value"),
        new Blob(["value"])
      ]
      const calls: ReadonlyArray<(fetch: Fetch.GroupFetch) => Promise<Response>> = [
        ...bodies.map((body) => (fetch: Fetch.GroupFetch) => fetch(url, { method: "POST", body })),
        (fetch) => fetch(new Request(url, { method: "POST", body: "value" }))
      ]
      for (const call of calls) {
        const { fetch, sent } = yield* setUp(refusing("token-1"))
        assert.strictEqual((yield* Effect.promise(() => call(fetch))).status, 200)
        assert.deepStrictEqual(bearers(sent), ["Bearer token-1", "Bearer token-2"])
        for (const { body } of sent) assert.include(body, "value")
      }
    }))

  it.scoped("does not send a stream again, and reports its token", () =>
    Effect.gen(function*() {
      for (const source of ["init", "Request"]) {
        const { fetch, sent } = yield* setUp(refusing("token-1"))
        const init = { method: "POST", duplex: "half" as const }
        const streamed = () => {
          let left = 3
          return new ReadableStream({
            pull: (controller) => left-- > 0 ? controller.enqueue(new Uint8Array(500_000)) : controller.close()
          })
        }
        const call = () =>
          source === "init"
            ? fetch("/a", { ...init, body: streamed() })
            : fetch(new Request("https://api.example/v1/a", { ...init, body: streamed() }))
        const response = yield* Effect.promise(call)
        assert.strictEqual(response.status, 401)
        assert.strictEqual(yield* Effect.promise(() => response.text()), "the body")
        assert.strictEqual((yield* Effect.promise(() => fetch("/a"))).status, 200)
        assert.deepStrictEqual(bearers(sent), ["Bearer token-1", "Bearer token-2"])
        assert.strictEqual(sent[0]?.body.length, 1_500_000)
      }
    }))

  it.scoped("returns the 401 with its body if no other token works", () =>
    Effect.gen(function*() {
      const { fetch, sent } = yield* setUp(
        (request) =>
          new Response(request.headers.get("authorization"), { status: 401, statusText: "No", headers: { "x-a": "1" } })
      )
      const response = yield* Effect.promise(() => fetch("/a"))
      assert.deepStrictEqual([response.status, response.statusText, response.headers.get("x-a")], [401, "No", "1"])
      assert.strictEqual(yield* Effect.promise(() => response.text()), "Bearer token-2")
      assert.deepStrictEqual(bearers(sent), ["Bearer token-1", "Bearer token-2"])
    }))

  it.scoped("returns the 401 whose body stalls, and its beginning does not pass for all of it", () =>
    Effect.gen(function*() {
      const { fetch } = yield* setUp(() => {
        const stalled = new ReadableStream({
          start: (controller) => controller.enqueue(new TextEncoder().encode("{}"))
        })
        return new Response(stalled, { status: 401 })
      }, { renewals: 0 })
      const response = yield* Effect.promise(() => fetch("/a"))
      assert.strictEqual(response.status, 401)
      isCallError(yield* rejection(() => response.json()), "Cut")
    }))

  it.scoped("cancels the rest of a 401's body that is too large to be read, which closes its connection", () =>
    Effect.gen(function*() {
      let cancelled = 0
      const { fetch } = yield* setUp((request) => {
        if (request.headers.get("authorization") !== "Bearer token-1") return new Response()
        const endless = new ReadableStream({
          pull: (controller) => controller.enqueue(new Uint8Array(16 * 1024)),
          cancel: () => void cancelled++
        })
        return new Response(endless, { status: 401 })
      })
      assert.strictEqual((yield* Effect.promise(() => fetch("/a"))).status, 200)
      assert.strictEqual(cancelled, 1)
    }))

  it.scoped("leaves no timer after a 401 whose body was read, which would keep a process alive", () =>
    Effect.gen(function*() {
      vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
      yield* Effect.addFinalizer(() => Effect.sync(() => vi.useRealTimers()))
      const { fetch } = yield* setUp(refusing("token-1"))
      assert.strictEqual((yield* Effect.promise(() => fetch("/a"))).status, 200)
      assert.strictEqual(vi.getTimerCount(), 0)
    }))

  it.scoped("sends nothing with the caller's own Authorization after the scope has closed", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const { fetch, sent } = yield* Scope.extend(setUp(), scope)
      const init = { method: "POST", headers: { authorization: "Basic own" }, body: "a body" }
      const call = fetch(new Request("https://api.example/v1/a", init))
      const failure = call.catch((error: unknown) => error)
      yield* Scope.close(scope, Exit.void)
      assert.include(yield* Effect.promise(() => failure), { reason: "Closed" })
      assert.deepStrictEqual(sent, [])
    }))

  it.scoped("rejects what cannot be sent, names it without its value, and never throws", () =>
    Effect.gen(function*() {
      const { fetch, sent } = yield* setUp()
      const refused = [
        [{ headers: { "x-key": "canary\n" } }, "x-key"],
        [{ headers: [["x-key", "canary\u0001"]] }, "x-key"],
        [{ headers: { "not a name": "canary" } }, "not?a?name"],
        [{ method: "PURGE" }, "PURGE"],
        [{ method: "QUERY" }, "QUERY"],
        [{ body: "canary" }, "GET"],
        [{ method: "DELETE", body: new ReadableStream() }, "DELETE"]
      ] as const
      for (const [init, name] of refused) {
        const { message } = isCallError(yield* rejection(() => Reflect.apply(fetch, undefined, ["/a", init])), "Encode")
        assert.include(message, name)
        assert.notInclude(message, "canary")
      }
      const used = new Request("https://api.example/v1/a", { method: "POST", body: "x" })
      yield* Effect.promise(() => used.text())
      assert.instanceOf(yield* rejection(() => fetch(used)), TypeError)
      assert.deepStrictEqual(sent, [])
    }))

  it.scoped("rejects what is neither a URL nor a Request", () =>
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
    }))

  it.scoped("accepts a Request of another implementation, with a body and without", () =>
    Effect.gen(function*() {
      const { fetch, sent } = yield* setUp()
      const own = new Request("https://api.example/v1/a", { method: "PUT", body: "hello", headers: { "x-a": "1" } })
      yield* Effect.promise(() => Reflect.apply(fetch, undefined, [like(own)]))
      // the body of node-fetch is a stream of Node
      const other = { ...like(new Request("https://api.example/v1/b", { method: "PUT", body: "hello" })), body: {} }
      yield* Effect.promise(() => Reflect.apply(fetch, undefined, [other]))
      yield* Effect.promise(() => Reflect.apply(fetch, undefined, [like(new Request("https://api.example/v1/c"))]))
      assert.deepStrictEqual(sent.map(({ body, method, url }) => `${method} ${url} ${body}`), [
        "PUT https://api.example/v1/a hello",
        "PUT https://api.example/v1/b hello",
        "GET https://api.example/v1/c "
      ])
      assert.strictEqual(sent[0]?.headers.get("x-a"), "1")
    }))

  it.scoped("rejects with what its own fetch throws that is no failure of a connection, without its secrets", () =>
    Effect.gen(function*() {
      const { fetch } = yield* setUp((request) => {
        throw new Error(`canary ${request.headers.get("authorization")}`)
      })
      const error = isCallError(yield* rejection(() => fetch("/a")), "Other")
      assert.include(String(error.cause), "canary")
      assert.notInclude(String(error.cause), "token-1")
      const own = new TokenError.InvalidClient({
        environment: "test",
        tokenEndpoint: "http://localhost",
        endpointStatus: 401
      })
      const throwing = yield* setUp(() => Promise.reject(own))
      assert.strictEqual(yield* rejection(() => throwing.fetch("/a")), own)
      const nothing = yield* setUp(() => JSON.parse("null"))
      assert.include(String(isCallError(yield* rejection(() => nothing.fetch("/a")), "Other").cause), "Response")
    }))
})

describe("the body of a response", () => {
  it.scoped("that breaks off rejects with a CallError, however it is read", () =>
    Effect.gen(function*() {
      const cut = () =>
        new Response(
          new ReadableStream({
            pull: (controller) =>
              controller.error(Object.assign(new TypeError("terminated"), { cause: new Error("closed") }))
          })
        )
      const { fetch } = yield* setUp(cut)
      const readings: ReadonlyArray<(response: Response) => Promise<unknown>> = [
        (response) => response.text(),
        (response) => response.json(),
        (response) => response.arrayBuffer(),
        (response) => response.blob(),
        (response) => response.clone().text(),
        async (response) => response.body?.getReader().read()
      ]
      for (const read of readings) {
        const error = isCallError(yield* rejection(async () => read(await fetch("/a"))), "Cut")
        assert.isTrue(error.retryable)
      }
    }))

  it.scoped("that breaks off rejects without the token, which an error of its fetch may quote", () =>
    Effect.gen(function*() {
      const { fetch } = yield* setUp((request) => {
        const quoting = new Error(`canary ${request.headers.get("authorization")}`, { cause: new Error("closed") })
        return new Response(new ReadableStream({ pull: (controller) => controller.error(quoting) }))
      })
      const { cause } = isCallError(yield* rejection(async () => (await fetch("/a")).text()), "Cut")
      assert.include(String(cause), "canary")
      assert.notInclude(String(cause), "token-1")
    }))

  it.scoped("that is no JSON rejects as it does elsewhere, and is read once", () =>
    Effect.gen(function*() {
      const { fetch } = yield* setUp(() => new Response("no JSON"))
      const response = yield* Effect.promise(() => fetch("/a"))
      assert.isNotNull(response.body)
      assert.instanceOf(yield* rejection(() => response.json()), SyntaxError)
      assert.instanceOf(yield* rejection(() => response.text()), TypeError)
    }))

  it.scoped("is read as a stream of bytes, chunk by chunk, and cancelled with its caller", () =>
    Effect.gen(function*() {
      let [pulled, cancelled] = [0, 0]
      const { fetch } = yield* setUp(() =>
        new Response(
          new ReadableStream({
            pull: (controller) => ++pulled > 3 ? controller.close() : controller.enqueue(new Uint8Array(2)),
            cancel: () => void cancelled++
          }, { highWaterMark: 0 })
        )
      )
      const response = yield* Effect.promise(() => fetch("/a"))
      for (let turn = 0; turn < 10; turn++) yield* Effect.promise(() => setImmediate())
      assert.strictEqual(pulled, 0)
      const reader = response.body?.getReader({ mode: "byob" })
      const first = yield* Effect.promise(async () => reader?.read(new Uint8Array(1)))
      assert.strictEqual(first?.value?.length, 1)
      yield* Effect.promise(async () => reader?.cancel())
      assert.strictEqual(cancelled, 1)
    }))
})

describe("a call that ends early", () => {
  const hanging: Respond = ({ init }) =>
    new Promise((_, reject) => init.signal?.addEventListener("abort", () => reject(init.signal?.reason)))

  it.scoped("rejects with the reason of the signal before and during the request, and leaves no listener", () =>
    Effect.gen(function*() {
      const { fetch } = yield* setUp(hanging)
      const reason = new Error("too late")
      assert.strictEqual(yield* rejection(() => fetch("/a", { signal: AbortSignal.abort(reason) })), reason)
      assert.include(String(yield* rejection(() => fetch("/a", { signal: AbortSignal.timeout(1) }))), "TimeoutError")
      const { signal } = callerAbort()
      let listeners = 0
      const add = signal.addEventListener.bind(signal)
      const remove = signal.removeEventListener.bind(signal)
      signal.addEventListener = (...args: Parameters<typeof add>) => {
        listeners++
        add(...args)
      }
      signal.removeEventListener = (...args: Parameters<typeof remove>) => {
        listeners--
        remove(...args)
      }
      const { fetch: responding } = fake(({ url }) =>
        url.endsWith("/none")
          ? new Response(null, { status: 204 })
          : url.endsWith("/failing")
          ? Promise.reject(new Error("no connection"))
          : Response.json({})
      )
      const tokens = yield* supply()
      const slow = Effect.zipRight(Effect.promise(() => setImmediate()), tokens.get)
      const done = yield* over({ ...tokens, get: slow }, responding)
      const request = () => new Request("https://api.example/v1/a", { method: "POST", body: "a body" })
      yield* Effect.promise(async () => {
        await (await done("/a", { signal })).text()
        await (await done("/a", { signal })).body?.cancel()
        await new Response((await done("/a", { signal })).body).text()
        await (await done(request(), { signal })).text()
        const foreign: Response = await Reflect.apply(done, undefined, [{ ...like(request()), body: {} }, { signal }])
        await foreign.text()
        await done("/none", { signal })
        await done("/failing", { signal }).catch(() => undefined)
      })
      assert.strictEqual(listeners, 0)
    }))

  it.effect("ends over a fetch that ignores its signal", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const { fetch } = fake(() => new Promise(() => {}))
      const api = yield* Scope.extend(over(yield* supply(), fetch), scope)
      assert.include(String(yield* rejection(() => api("/a", { signal: AbortSignal.timeout(1) }))), "TimeoutError")
      const closed = yield* Effect.fork(rejection(() => api("/a")))
      yield* Effect.promise(() => setImmediate())
      yield* Scope.close(scope, Exit.void)
      isCallError(yield* Fiber.join(closed), "Closed")
    }))

  it.scoped("rejects with the reason of the signal while it waits for a token, and sends nothing", () =>
    Effect.gen(function*() {
      const { fetch, sent } = fake(() => new Response())
      let interrupted = 0
      const get = Effect.onInterrupt(Effect.never, () => Effect.sync(() => void interrupted++))
      const api = yield* over({ ...yield* supply(), get }, fetch)
      const controller = callerAbort()
      const call = rejection(() => api("/a", { signal: controller.signal }))
      const reason = new Error("enough")
      yield* Effect.sync(() => queueMicrotask(() => controller.abort(reason)))
      assert.strictEqual(yield* call, reason)
      assert.deepStrictEqual([interrupted, sent.length], [1, 0])
    }))

  it.scopedLive("rejects while the body is read with the reason of the signal, even if the Request was collected", () =>
    Effect.gen(function*() {
      const { fetch } = yield* setUp(({ init }) =>
        new Response(
          new ReadableStream({
            start: (body) => init.signal?.addEventListener("abort", () => body.error(init.signal?.reason))
          })
        )
      )
      const controller = callerAbort()
      const { signal } = controller
      const response = yield* Effect.promise(() => fetch(new Request("https://api.example/v1/a", { signal })))
      for (let turn = 0; turn < 5; turn++) {
        collect()
        yield* Effect.sleep("5 millis")
      }
      const reason = new Error("enough")
      controller.abort(reason)
      assert.strictEqual(yield* rejection(() => response.text()), reason)
    }))

  it.scoped("rejects with the reason of the signal while the body of a Request is read", () =>
    Effect.gen(function*() {
      const { fetch, sent } = yield* setUp()
      for (const body of [undefined, new ReadableStream({ pull: () => new Promise(() => {}) })]) {
        const controller = callerAbort()
        const own = new Request("https://api.example/v1/a", { method: "POST", signal: controller.signal, body: "x" })
        const endlessly = { ...like(own), body: body ?? {}, arrayBuffer: () => new Promise(() => {}) }
        const call = rejection(() => Reflect.apply(fetch, undefined, [endlessly]))
        const reason = new Error("too late")
        yield* Effect.sync(() => queueMicrotask(() => controller.abort(reason)))
        assert.strictEqual(yield* call, reason)
      }
      assert.deepStrictEqual(sent, [])
    }))

  it.scoped("cancels the long body of a Request when its own fetch does not read it to the end", () =>
    Effect.gen(function*() {
      let cancelled = 0
      const api = yield* over(yield* supply(), async (_, init) => {
        if (init?.body instanceof ReadableStream) await init.body.cancel()
        return new Response()
      })
      const body = new ReadableStream({
        pull: (controller) => controller.enqueue(new Uint8Array(64 * 1024)),
        cancel: () => void cancelled++
      })
      const request = like(new Request("https://api.example/v1/a", { method: "POST", body: "x" }))
      yield* Effect.promise(() => Reflect.apply(api, undefined, [{ ...request, body }]))
      assert.strictEqual(cancelled, 1)
    }))

  it.scopedLive("keeps nothing in memory of a call that has failed", () =>
    Effect.gen(function*() {
      const { fetch } = yield* setUp(() => Promise.reject(new TypeError("fetch failed")))
      const failed = async () => {
        const request = new Request("https://api.example/v1/a")
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

  it.scopedLive("aborts a response that is collected unread, and not one whose body is kept", () =>
    Effect.gen(function*() {
      const signals: Array<AbortSignal | null | undefined> = []
      const { fetch } = yield* setUp(({ init }) => {
        signals.push(init.signal)
        return endless()
      })
      const body = yield* Effect.promise(async () => {
        await fetch("/dropped")
        return (await fetch("/kept")).body
      })
      for (let turn = 0; turn < 50 && signals[0]?.aborted !== true; turn++) {
        yield* Effect.sleep("5 millis")
        collect()
      }
      assert.deepStrictEqual(signals.map((signal) => signal?.aborted), [true, false])
      assert.isFalse(body?.locked)
    }))

  it.effect("rejects when the scope closes: while it waits, while its body is read, and later", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const aborted: Array<unknown> = []
      const { fetch, sent } = fake(({ init, url }) => {
        init.signal?.addEventListener("abort", () => aborted.push(init.signal?.reason))
        return url.endsWith("/hanging") ?
          hanging({ url, init, body: "", method: "", headers: new Headers() }) :
          new Response(
            new ReadableStream({
              start: (body) => init.signal?.addEventListener("abort", () => body.error(init.signal?.reason))
            })
          )
      })
      const tokens = yield* supply()
      const api = yield* Scope.extend(over(tokens, fetch), scope)
      const waiting = yield* Scope.extend(over({ ...tokens, get: Effect.never }, fetch), scope)
      const response = yield* Effect.promise(() => api("/streaming"))
      const calls = [api("/hanging"), response.text(), waiting("/a")].map((call) =>
        call.catch((error: unknown) => error)
      )
      yield* Effect.promise(() => setImmediate())
      yield* Scope.close(scope, Exit.void)
      for (const call of calls) isCallError(yield* Effect.promise(() => call), "Closed")
      isCallError(yield* rejection(() => api("/later")), "Closed")
      isCallError(yield* rejection(() => api.call("GET", "/{id}", { id: 1 })), "Closed")
      assert.deepStrictEqual([sent.length, aborted.length], [2, 2])
    }))
})

/** A part of the context, as the tags of metrics are. */
class Team extends Context.Reference<Team>()("test/Team", { defaultValue: (): string => "none" }) {}

describe("the metrics of a fetch", () => {
  it.scoped("count its calls, with the context in which it was made and outside of its span", () => {
    const { spans, tracer } = recordingTracer()
    return Effect.gen(function*() {
      const tokens = yield* supply()
      const calls: Array<unknown> = []
      let open = 0
      yield* observeCalls(tokens, {
        begins: () => Effect.sync(() => void open++),
        ends: ({ errorType, group, method, status, template }) =>
          Effect.map(Team, (team) => {
            open--
            calls.push([group, method, template, status, errorType, team])
          })
      })
      const { fetch } = fake(({ url }) => new Response(null, { status: url.endsWith("/missing") ? 404 : 200 }))
      const api = yield* over(tokens, fetch).pipe(Effect.withSpan("startup"), Effect.provideService(Team, "a"))
      yield* Effect.promise(() => api.call("GET", "/consumers/{id}", { id: 42 }))
      yield* Effect.promise(() => api("/missing", { method: "POST" }))
      yield* rejection(() => api("/a", { signal: AbortSignal.timeout(0) }).then(() => Promise.reject(new Error())))
      yield* rejection(() => api("https://elsewhere.example"))
      assert.deepStrictEqual(calls.slice(0, 2), [
        ["Data Access", "GET", "/consumers/{id}", 200, undefined, "a"],
        ["Data Access", "POST", undefined, 404, "404", "a"]
      ])
      assert.isAtMost(calls.length, 3)
      assert.strictEqual(open, 0)
      assert.deepStrictEqual(spans.map(({ name }) => name), ["startup"])
    }).pipe(Effect.withTracer(tracer))
  })
})

describe("a call of a path with values", () => {
  it.scoped("encodes the values, and sends headers and body", () =>
    Effect.gen(function*() {
      const { fetch, sent } = yield* setUp()
      const init = { body: "a body", headers: { "x-own": "c" } }
      yield* Effect.promise(() => fetch.call("POST", "/consumers/{id}/{part}", { id: "a/b", part: 7 }, init))
      assert.strictEqual(`${sent[0]?.method} ${sent[0]?.url}`, "POST https://api.example/v1/consumers/a%2Fb/7")
      assert.strictEqual(sent[0]?.headers.get("x-own"), "c")
      assert.strictEqual(sent[0]?.body, "a body")
    }))

  it.scoped("rejects for a value that makes another path, without the value, and sends nothing", () =>
    Effect.gen(function*() {
      const { fetch, sent } = yield* setUp()
      const error = isCallError(
        yield* rejection(() => fetch.call("GET", "/consumers/{id}", { id: ".." })),
        "InvalidUrl"
      )
      assert.include(error.message, "{id}")
      assert.strictEqual(sent.length, 0)
    }))
})

describe("making a fetch", () => {
  it.scoped("fails for a scope that is not requested, and for a base URL that is not valid", () =>
    Effect.gen(function*() {
      const { fetch } = fake(() => new Response())
      assert.isTrue(Exit.isFailure(yield* Effect.exit(over(yield* supply({ requested: ["furnishment:all"] }), fetch))))
      assert.isTrue(Exit.isFailure(yield* Effect.exit(over(yield* supply({ baseUrl: "http://api.example" }), fetch))))
    }))

  it.scopedLive("sends with the global fetch by default, as it is then", () =>
    Effect.gen(function*() {
      const original = globalThis.fetch
      yield* Effect.addFinalizer(() => Effect.sync(() => void (globalThis.fetch = original)))
      const api = yield* Effect.provide(
        Fetch.make({ name: "Reports" }),
        Layer.succeed(AccessTokens.AccessTokens, yield* supply())
      )
      globalThis.fetch = async () => new Response("replaced")
      assert.strictEqual(yield* Effect.promise(() => api("/a").then((response) => response.text())), "replaced")
    }))
})
