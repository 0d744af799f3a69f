import { AccessTokens, TokenError } from "@credit-data/core"
import { HttpError } from "@credit-data/core/Internal"
import { CallError, Fetch, GroupClient } from "@credit-data/http-client"
import { FetchHttpClient, HttpClientError, HttpClientRequest, type HttpMethod } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect, identity, Predicate, Redacted, Stream } from "effect"
import { createServer, type ServerResponse } from "node:http"
import { supply } from "./support/fakes.ts"

// One table for both doors, Effect's client and the `fetch`, over sockets: the same calls, the same requests on the wire.

interface Call {
  readonly method?: HttpMethod.HttpMethod
  readonly url?: string
  /** Makes a call of the path `/consumers/{id}` with this value. */
  readonly id?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Sends the body as a stream. */
  readonly isStream?: boolean
  /** Ends the call when the server has the request, or while it waits for a token. */
  readonly ends?: "at the server" | "before a token"
}

/** What the server does with a request: a status, or the end of its connection. */
type Step = number | "large 401" | "reset" | "silence"

interface Case {
  readonly name: string
  readonly calls: ReadonlyArray<Call>
  /** For each request in turn. Afterwards, each gets a 200. */
  readonly steps?: ReadonlyArray<Step>
  readonly supply?: Parameters<typeof supply>[0]
  /** How each call ends. */
  readonly results: ReadonlyArray<string>
  /** What the server gets: the request, the token and the body. */
  readonly sent: ReadonlyArray<string>
  /** What the supply is told about rejected tokens. */
  readonly reported?: ReadonlyArray<string>
}

const get: Call = { url: "/a" }
const post: Call = { method: "POST", url: "/a", body: "x" }
const keyed: Call = { ...post, headers: { "idempotency-key": "1" } }
const own: Call = { ...get, headers: { authorization: "Basic own" } }
const reset: Step = "reset"
const unavailable = new TokenError.ServerError({
  environment: "test",
  tokenEndpoint: "https://auth.example/oauth2/token",
  endpointStatus: 503
})

const cases: ReadonlyArray<Case> = [
  {
    name: "a call has a token",
    calls: [{ ...get, url: "/a?page=2" }],
    results: ["200 ok"],
    sent: ["GET /v1/a?page=2 token-1"]
  },
  {
    name: "a redirect is not followed",
    calls: [get],
    steps: [302],
    results: ["302 no"],
    sent: ["GET /v1/a token-1"]
  },
  {
    name: "a rejected token is replaced",
    calls: [post],
    steps: [401],
    results: ["200 ok"],
    sent: ["POST /v1/a token-1 x", "POST /v1/a token-2 x"],
    reported: ["replace 1 after"]
  },
  {
    name: "a large body of a 401 is not waited for",
    calls: [get],
    steps: ["large 401"],
    results: ["200 ok"],
    sent: ["GET /v1/a token-1", "GET /v1/a token-2"],
    reported: ["replace 1 after"]
  },
  {
    name: "a call tries three tokens",
    calls: [get],
    steps: [401, 401, 401],
    supply: { renewals: 3 },
    results: ["401 no"],
    sent: ["GET /v1/a token-1", "GET /v1/a token-2", "GET /v1/a token-3"],
    reported: ["replace 1 after", "replace 2 after 1", "invalidate 3"]
  },
  {
    name: "a token is tried once",
    calls: [get],
    steps: [401, 401],
    supply: { renewals: 0 },
    results: ["401 no"],
    sent: ["GET /v1/a token-1"],
    reported: ["replace 1 after"]
  },
  {
    name: "without a replacement, the caller gets the 401",
    calls: [get],
    steps: [401],
    supply: { replacementFails: unavailable },
    results: ["401 no"],
    sent: ["GET /v1/a token-1"],
    reported: ["replace 1 after"]
  },
  {
    name: "a stream is sent once, and its token is reported",
    calls: [{ ...post, isStream: true }],
    steps: [401],
    results: ["401 no"],
    sent: ["POST /v1/a token-1 x"],
    reported: ["invalidate 1"]
  },
  {
    name: "the caller's own Authorization is sent as it is, and its 401 is returned",
    calls: [own],
    steps: [401],
    supply: { granted: [] },
    results: ["401 no"],
    sent: ["GET /v1/a Basic own"]
  },
  {
    name: "after a closed connection, a GET is sent again",
    calls: [get],
    steps: [reset, reset],
    results: ["200 ok"],
    sent: ["GET /v1/a token-1", "GET /v1/a token-1", "GET /v1/a token-1"]
  },
  {
    name: "and a POST is not",
    calls: [post],
    steps: [reset],
    results: ["Transport"],
    sent: ["POST /v1/a token-1 x"]
  },
  {
    name: "but with an Idempotency-Key",
    calls: [keyed],
    steps: [reset],
    results: ["200 ok"],
    sent: ["POST /v1/a token-1 x", "POST /v1/a token-1 x"]
  },
  {
    name: "and not as a stream",
    calls: [{ ...keyed, isStream: true }],
    steps: [reset],
    results: ["Transport"],
    sent: ["POST /v1/a token-1 x"]
  },
  {
    name: "a call is sent four times at most, and all calls share three resends or one for each",
    calls: [get, get],
    steps: [reset, reset, reset, reset, reset],
    results: ["Transport", "Transport"],
    sent: Array.from({ length: 5 }, () => "GET /v1/a token-1")
  },
  {
    name: "after a 401 and a closed connection, the newer token is sent",
    calls: [get],
    steps: [401, reset],
    results: ["200 ok"],
    sent: ["GET /v1/a token-1", "GET /v1/a token-2", "GET /v1/a token-2"],
    reported: ["replace 1 after"]
  },
  {
    name: "a token that does not cover the group is not sent",
    calls: [get],
    supply: { granted: ["furnishment:all"] },
    results: ["InsufficientScope"],
    sent: []
  },
  {
    name: "values are encoded",
    calls: [{ id: "a/b?c" }],
    results: ["200 ok"],
    sent: ["GET /v1/consumers/a%2Fb%3Fc token-1"]
  },
  {
    name: "values that make another path are refused",
    calls: ["..", ".", ""].map((id) => ({ id })),
    results: ["InvalidUrl", "InvalidUrl", "InvalidUrl"],
    sent: []
  },
  {
    name: "other addresses are refused",
    calls: ["https://elsewhere.example/v1/a", "//elsewhere.example/a", "/../a", "/%2e%2e/a", "/..;/a"].map((url) => ({
      url
    })),
    results: ["InvalidUrl", "InvalidUrl", "InvalidUrl", "InvalidUrl", "InvalidUrl"],
    sent: []
  },
  {
    name: "headers of a connection are dropped",
    calls: [{
      ...get,
      headers: {
        host: "elsewhere.example",
        connection: "close",
        "content-length": "3",
        "transfer-encoding": "chunked",
        "x-own": "1"
      }
    }],
    results: ["200 ok"],
    sent: ["GET /v1/a token-1 x-own"]
  },
  {
    name: "headers that cannot be sent are refused",
    calls: [{ ...get, headers: { "x-own": "a\nb" } }],
    results: ["Encode"],
    sent: []
  },
  {
    name: "a call that ends before it has a token sends nothing",
    calls: [{ ...get, ends: "before a token" }],
    results: ["ended"],
    sent: []
  },
  {
    name: "a call that ends early ends its request",
    calls: [{ ...get, ends: "at the server" }],
    steps: ["silence"],
    results: ["ended"],
    sent: ["GET /v1/a token-1"]
  }
]

const respond = (response: ServerResponse, step: Step): void => {
  if (step === "silence") return
  if (step === "reset") return void response.socket?.resetAndDestroy()
  if (typeof step === "number") {
    response.writeHead(step, { location: "/elsewhere" })
    return void response.end(step === 200 ? "ok" : "no")
  }
  response.writeHead(401)
  // it never ends
  response.write("x".repeat(200_000))
}

/** The server of a case, and what it gets. */
const listen = Effect.fnUntraced(function*(steps: ReadonlyArray<Step>) {
  const left = [...steps]
  const sent: Array<string> = []
  let arrived: () => void = () => {}
  let gone: () => void = () => {}
  const isGone = new Promise<void>((resolve) => gone = resolve)
  const server = createServer((request, response) => {
    let body = ""
    request.setEncoding("utf8").on("data", (text) => body += text)
    request.on("end", () => {
      const { authorization, connection, host } = request.headers
      const extra = "x-own" in request.headers ? "x-own" : body
      assert.strictEqual(`${host} ${connection}`, `127.0.0.1:${port} keep-alive`)
      const token = authorization?.replace("Bearer ", "")
      sent.push(`${request.method} ${request.url} ${token} ${extra}`.trim())
      arrived()
      response.on("close", () => gone())
      respond(response, left.shift() ?? 200)
    })
  })
  yield* Effect.acquireRelease(
    Effect.async<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
    () =>
      Effect.async<void>((resume) => {
        server.close(() => resume(Effect.void))
        server.closeAllConnections()
      })
  )
  const address = server.address()
  const port = typeof address === "object" ? address?.port : undefined
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    sent,
    arrival: () => new Promise<void>((resolve) => arrived = resolve),
    isGone
  }
})

const number = (secret: Redacted.Redacted) => Redacted.value(secret).replace("token-", "")

/** A supply, and what it is told about its tokens. */
const recording = Effect.fnUntraced(function*(options: Parameters<typeof supply>[0]) {
  const reported: Array<string> = []
  const tokens = yield* supply(options)
  const service: AccessTokens.Service = {
    ...tokens,
    invalidate: (token) =>
      Effect.suspend(() => {
        reported.push(`invalidate ${number(token.secret)}`)
        return tokens.invalidate(token)
      }),
    replace: (token, ...earlier) =>
      Effect.suspend(() => {
        reported.push(
          `replace ${number(token.secret)} after ${earlier.map(({ secret }) => number(secret)).join(" ")}`.trim()
        )
        return tokens.replace(token, ...earlier)
      })
  }
  return { reported, service }
})

/** Makes a call that `end` ends. */
type Door = (call: Call, end: Promise<void> | undefined) => Effect.Effect<string>

const group = { name: "Data Access", scope: "data-access:all" } as const

const nameOf = (error: unknown): string => {
  if (HttpClientError.isHttpClientError(error)) return HttpError.requestReason(error) ?? "Transport"
  if (error instanceof CallError.CallError) {
    return error.reason === "InvalidUrl" || error.reason === "Encode" ? error.reason : "Transport"
  }
  return Predicate.hasProperty(error, "_tag") ? String(error._tag) : String(error)
}

const ofFetch = Effect.map(Fetch.make(group), (api): Door => (call, end) =>
  Effect.promise(async () => {
    const { body, headers, id, isStream, method = "GET", url = "/a" } = call
    const controller = new AbortController()
    void end?.then(() => controller.abort())
    const init = {
      method,
      headers: { ...headers },
      signal: controller.signal,
      ...(body !== undefined && { body: isStream === true ? new Blob([body]).stream() : body }),
      ...(isStream === true && { duplex: "half" })
    }
    try {
      const response = await (id === undefined ? api(url, init) : api.call(method, "/consumers/{id}", { id }, init))
      return `${response.status} ${await response.text()}`
    } catch (error) {
      return error === controller.signal.reason ? "ended" : nameOf(error)
    }
  }))

const ofEffect = Effect.map(GroupClient.make(group), (client): Door => (call, end) => {
  const { body, headers, id, isStream, method = "GET", url = "/a" } = call
  const bytes = new TextEncoder().encode(body)
  const request = HttpClientRequest.make(method)(url, { headers: { ...headers } }).pipe(
    body === undefined
      ? identity
      : isStream === true
      ? HttpClientRequest.bodyStream(Stream.make(bytes))
      : HttpClientRequest.bodyUint8Array(bytes)
  )
  const response = id === undefined
    ? client.execute(request)
    : GroupClient.call(client, method, "/consumers/{id}", { id })
  const result = Effect.flatMap(response, ({ status, text }) => Effect.map(text, (text) => `${status} ${text}`)).pipe(
    Effect.catchAll((error) => Effect.succeed(nameOf(error)))
  )
  return end === undefined ? result : Effect.raceFirst(result, Effect.as(Effect.promise(() => end), "ended"))
}).pipe(Effect.provide(FetchHttpClient.layer))

describe.each([["Effect's client", ofEffect], ["the fetch", ofFetch]] as const)("%s", (_, make) => {
  for (const each of cases) {
    it.scopedLive(each.name, () =>
      Effect.gen(function*() {
        const server = yield* listen(each.steps ?? [])
        const { reported, service } = yield* recording({ baseUrl: server.baseUrl, ...each.supply })
        const waits = each.calls.some(({ ends }) => ends === "before a token")
        const door = yield* Effect.provideService(make, AccessTokens.AccessTokens, {
          ...service,
          ...(waits && { get: Effect.never })
        })
        const results: Array<string> = []
        for (const call of each.calls) {
          const end = call.ends === "at the server"
            ? server.arrival()
            : call.ends === "before a token"
            ? new Promise<void>((resolve) => setImmediate(resolve))
            : undefined
          results.push(yield* door(call, end))
          if (call.ends === "at the server") yield* Effect.promise(() => server.isGone)
        }
        assert.deepStrictEqual({ results, sent: server.sent, reported }, {
          results: each.results,
          sent: each.sent,
          reported: each.reported ?? []
        })
      }))
  }
})
