import { AuthV2 } from "@credit-data/auth-v2"
import { AccessTokens, TokenStatus } from "@credit-data/core"
import { DataAccess } from "@credit-data/http-client"
import { HealthCheck, Prometheus, Telemetry } from "@credit-data/telemetry"
import * as TestClocks from "@credit-data/test-support/clock"
import { listen } from "@credit-data/test-support/listen"
import * as VirtualClock from "@credit-data/test-support/virtualClock"
import type { HttpClient } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { type Clock, Context, Duration, Effect, Layer, Logger, Redacted } from "effect"
import { createServer } from "node:http"

/** A clock that runs ten times as fast, so that half a minute takes three seconds. */
const factor = 10
const began = performance.now()
const now = () => (performance.now() - began) * factor / 1_000
const fast = TestClocks.make({
  wallMillis: () => now() * 1_000,
  monotonicNanos: () => BigInt(Math.round(now() * 1e9)),
  sleep: (duration) =>
    Effect.async<void>((resume) => {
      const timer = setTimeout(() => resume(Effect.void), Duration.toMillis(duration) / factor)
      return Effect.sync(() => clearTimeout(timer))
    })
})
const seconds = (count: number) => Effect.sleep(Duration.seconds(count)).pipe(Effect.withClock(fast))

interface Token {
  readonly text: string
  readonly version: string
  readonly at: number
  readonly expiresIn: number
}

/** A server for tokens of both versions and for the API, which accepts a token for a path or does not. */
const startServer = Effect.fnUntraced(function*(options: {
  readonly accepts: (token: Token, path: string, issued: ReadonlyArray<Token>) => boolean
  readonly next?: (fresh: Token, issued: ReadonlyArray<Token>) => Token
}) {
  const issued: Array<Token> = []
  let requests = 0
  const port = yield* listen(createServer((request, response) => {
    request.resume()
    response.setHeader("content-type", "application/json")
    const path = request.url ?? ""
    if (path.startsWith("/oauth")) {
      requests++
      const version = path.startsWith("/oauth2") ? "V2" : "V1"
      const fresh = { text: `${version}-${requests}`, version, at: now(), expiresIn: 3_600 }
      const token = options.next?.(fresh, issued) ?? fresh
      issued.push(token)
      response.end(JSON.stringify({
        access_token: token.text,
        token_type: "Bearer",
        expires_in: token.expiresIn,
        scope: version === "V2" ? "data-access:all" : "read:consumers"
      }))
      return
    }
    const text = request.headers.authorization?.slice("Bearer ".length)
    const token = issued.findLast((each) => each.text === text)
    response.statusCode = token !== undefined && options.accepts(token, path, issued) ? 200 : 401
    response.end("{}")
  }))
  const url = `http://127.0.0.1:${port}`
  return {
    requests: () => requests,
    auth: {
      environment: { name: "test", audience: "audience", baseUrl: url, authV1Url: url, authV2Url: url },
      credentials: { clientId: "id", clientSecret: Redacted.make("secret") },
      scopes: ["data-access:all"] as const,
      // no request expires because the machine is busy
      deadline: "5 minutes"
    } as const
  }
})

/** A program over such a server. Its time stands still, unless a clock is given, so no timeout depends on the machine. */
const startProgram = Effect.fnUntraced(function*(
  Auth: Layer.Layer<AccessTokens.AccessTokens, unknown, HttpClient.HttpClient>,
  test: string,
  clock: Clock.Clock = VirtualClock.make().clock
) {
  const lines: Array<string> = []
  const logger = Logger.make(({ logLevel, message }) => void lines.push(`${logLevel.label} ${String(message)}`))
  const context = yield* Layer.build(
    Layer.merge(DataAccess.layer(), Telemetry.layer({ attributes: { test } })).pipe(
      Layer.provideMerge(Auth),
      Layer.provideMerge(NodeHttpClient.layer),
      Layer.provide(Logger.replace(Logger.defaultLogger, logger))
    )
  ).pipe(Effect.withClock(clock))
  const client = Context.get(context, DataAccess.DataAccess)
  const tokens = Context.get(context, AccessTokens.AccessTokens)
  const call = (path: string) => Effect.map(client.get(path), ({ status }) => status).pipe(Effect.withClock(clock))
  return {
    call,
    tokens,
    lines,
    /** Calls these paths in turn for so many seconds, a few times a second, and returns the statuses for each. */
    calls: Effect.fnUntraced(function*(duration: number, ...paths: ReadonlyArray<string>) {
      const statuses: Record<string, Array<number>> = {}
      for (const until = now() + duration; now() < until;) {
        for (const path of paths) (statuses[path] ??= []).push(yield* call(path))
        yield* seconds(0.5)
      }
      return statuses
    })
  }
})

const of = (statuses: ReadonlyArray<number> | undefined) => new Set(statuses)

/** How many calls ended with this status, as the metric shows it. */
const measured = (test: string, status: number) =>
  Effect.map(Prometheus.text, (text) => {
    const line = new RegExp(
      `^http_client_request_duration_seconds_count\\{(?=.*test="${test}").*http_response_status_code="${status}".*\\} (\\d+)$`,
      "m"
    )
    return Number(line.exec(text)?.[1] ?? 0)
  })

describe.concurrent("a process whose API rejects tokens", () => {
  it.scopedLive("requests at most three tokens in a minute for one path that is always refused", () =>
    Effect.gen(function*() {
      const server = yield* startServer({ accepts: (_, path) => path !== "/refused" })
      const { calls } = yield* startProgram(AuthV2.layer(server.auth), "path", fast)
      const statuses = yield* calls(60, "/a", "/b", "/refused", "/c")
      assert.deepStrictEqual(of(statuses["/refused"]), new Set([401]))
      for (const path of ["/a", "/b", "/c"]) assert.deepStrictEqual(of(statuses[path]), new Set([200]), path)
      assert.isAtMost(server.requests(), 3)
    }))

  it.scopedLive("fails no call at a renewal whose token is accepted after 31 s, and starts cold when it is accepted", () =>
    Effect.gen(function*() {
      const server = yield* startServer({
        accepts: (token, _, [first]) => token === first || now() - token.at >= 31,
        // the first token is due soon
        next: (fresh, issued) => issued.length === 0 ? { ...fresh, expiresIn: 50 } : fresh
      })
      const { calls } = yield* startProgram(
        AuthV2.layer({ ...server.auth, renewalWindow: { from: 0.1, to: 0.1 } }),
        "late",
        fast
      )
      const statuses = yield* calls(45, "/a")
      assert.deepStrictEqual(of(statuses["/a"]), new Set([200]))
      assert.strictEqual(server.requests(), 2)

      const other = yield* startServer({ accepts: (token) => now() - token.at >= 31 })
      const cold = yield* startProgram(AuthV2.layer(other.auth), "cold", fast)
      const all = (yield* cold.calls(40, "/a"))["/a"] ?? []
      assert.strictEqual(all[0], 401)
      assert.strictEqual(all.at(-1), 200)
      assert.isAtMost(other.requests(), 3)
    }))

  it.scopedLive("shows in the log and in the metric of calls that the server repeats a revoked token", () =>
    Effect.gen(function*() {
      let isRevoked = false
      const server = yield* startServer({
        accepts: () => !isRevoked,
        next: (fresh, [first]) => first ?? fresh
      })
      const { call, lines, tokens } = yield* startProgram(AuthV2.layer(server.auth), "repeated")
      assert.strictEqual(yield* call("/a"), 200)
      isRevoked = true
      for (let times = 0; times < 12; times++) assert.strictEqual(yield* call("/a"), 401)
      const status = yield* tokens.status
      assert.isTrue(status.rejected)
      assert.isTrue(TokenStatus.isUsable(status))
      assert.lengthOf(lines.filter((line) => line.startsWith("WARN The API rejected the access token")), 1)
      assert.strictEqual(yield* measured("repeated", 401), 12)
      assert.strictEqual(server.requests(), 2)
    }))

  it.scopedLive("is ready after two rejections, although no call follows", () =>
    Effect.gen(function*() {
      const server = yield* startServer({ accepts: () => false })
      const { call, tokens } = yield* startProgram(AuthV2.layer(server.auth), "ready")
      assert.strictEqual(yield* call("/a"), 401)
      const { status } = yield* Effect.provideService(HealthCheck.ready, AccessTokens.AccessTokens, tokens)
      assert.strictEqual(status, 200)
    }))

  it.scopedLive("shows the calls that get 401, although a public path returns 200", () =>
    Effect.gen(function*() {
      const server = yield* startServer({ accepts: (_, path) => path === "/public" })
      const { call, lines } = yield* startProgram(AuthV2.layer(server.auth), "public")
      for (let times = 0; times < 12; times++) {
        assert.strictEqual(yield* call("/business"), 401)
        assert.strictEqual(yield* call("/public"), 200)
      }
      assert.deepStrictEqual([yield* measured("public", 401), yield* measured("public", 200)], [12, 12])
      assert.isAtLeast(lines.filter((line) => line.startsWith("WARN The API rejected the access token")).length, 1)
    }))
})
