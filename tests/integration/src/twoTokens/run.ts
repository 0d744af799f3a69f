import { AccessToken, AccessTokens, TokenEndpoint, TokenError } from "@credit-data/core"
import { SharedTokens, TokenStore } from "@credit-data/fleet"
import { DataAccess } from "@credit-data/http-client"
import { withConstantRandom } from "@credit-data/test-support/constantRandom"
import * as VirtualClock from "@credit-data/test-support/virtualClock"
import { HttpBody, HttpClient, HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { DateTime, Duration, Effect, Exit, Layer, Logger, Redacted, Stream } from "effect"
import type { Api, Issued } from "./worlds.ts"

/** In milliseconds. */
const requestTime = 300
const callTime = 100

const renewedAt = 60

const credentials = { clientId: "client", clientSecret: Redacted.make("a secret of the client for a shared store") }

const random = () => {
  let state = 1
  return () => (state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296) / 4_294_967_296
}

/** What happened. */
interface Result {
  readonly calls: number
  /** Calls that ended with 401 or without a response. */
  readonly failing: number
  /** How often a call was sent again. */
  readonly resent: number
  readonly requests: number
  /** Tokens that were sent after their end. */
  readonly expired: number
  /** The longest time in seconds in each of which at least half of the calls failed. */
  readonly longest: number
}

/**
 * Lets processes call this API 20 times a second, over 20 paths. A call takes 0.1 s and a token request 0.3 s. The process has a token whose
 * renewal is due after a minute, unless it starts cold.
 */
export const run = Effect.fnUntraced(function*(api: Api, options: {
  readonly seconds: number
  readonly isCold?: boolean
  /** Whether the bodies are streams, which cannot be sent again. */
  readonly isStream?: boolean
  /** The first token request after 160 s fails. */
  readonly failsOnce?: boolean
  /** In seconds. */
  readonly lifetime?: number
  /** How many processes call the API in turn. Several share one store. */
  readonly processes?: number
}) {
  const { failsOnce = false, isCold = false, isStream = false, lifetime = 3_600, processes = 1, seconds } = options
  const time = VirtualClock.make()
  const now = () => time.now() / 1_000
  const issued = new Map<string, Issued & { readonly expiresAt: number }>()
  const seen = { renewedAt: isCold ? 0 : renewedAt, random: random() }
  let requests = 0
  let hasFailed = !failsOnce
  let expired = 0
  let sent = 0

  const tokenEndpoint = Layer.succeed(TokenEndpoint.TokenEndpoint, {
    environment: { name: "test", audience: "audience", baseUrl: "https://api.example" },
    url: "https://v2.example/oauth2/token",
    requestedScopes: ["data-access:all"] as const,
    deadline: Duration.seconds(10),
    requestToken: Effect.fnUntraced(function*() {
      const number = requests++
      const isFirst = number === 0 && !isCold
      if (!isFirst) yield* Effect.sleep(requestTime)
      if (!hasFailed && now() >= 160) {
        hasFailed = true
        return yield* new TokenError.ServerError({ environment: "test", tokenEndpoint: "t", endpointStatus: 503 })
      }
      // as if the first one had been requested so long ago that it is renewed in a minute
      const issuedAt = isFirst ? renewedAt - 0.85 * lifetime : now()
      const text = `token-${number}`
      issued.set(text, { number, issuedAt, expiresAt: issuedAt + lifetime })
      return new AccessToken.AccessToken({
        secret: Redacted.make(text),
        scopes: ["data-access:all"],
        requestedAt: DateTime.unsafeMake(issuedAt * 1_000),
        expiresAt: DateTime.unsafeMake((issuedAt + lifetime) * 1_000)
      })
    }),
    credentials: { current: Effect.succeed(credentials), reread: Effect.succeed(credentials) }
  })
  const server = HttpClient.make((request, url) =>
    Effect.gen(function*() {
      sent++
      const token = issued.get(request.headers["authorization"]?.slice("Bearer ".length) ?? "")
      if (token === undefined || now() >= token.expiresAt) expired++
      yield* Effect.sleep(callTime)
      const path = Number(url.pathname.slice(1))
      const isAccepted = token !== undefined && api(token, { ...seen, now: now(), path, newest: issued.size - 1 })
      return HttpClientResponse.fromWeb(request, new Response(null, { status: isAccepted ? 200 : 401 }))
    })
  )
  const store = yield* Layer.build(TokenStore.layerMemory).pipe(Effect.withClock(time.clock))
  const settings = { renewalWindow: { from: 0.85, to: 0.85 } }
  const clients = yield* Effect.replicateEffect(
    Effect.gen(function*() {
      const context = yield* Layer.build(
        DataAccess.layer().pipe(
          Layer.provideMerge(processes === 1 ? AccessTokens.layer(settings) : SharedTokens.layer(settings)),
          Layer.provide([
            tokenEndpoint,
            Layer.succeedContext(store),
            Layer.succeed(HttpClient.HttpClient, server),
            Logger.remove(Logger.defaultLogger)
          ])
        )
      ).pipe(Effect.withClock(time.clock), withConstantRandom(0.5))
      if (!isCold) {
        yield* Effect.fork(Effect.provide(Effect.flatMap(AccessTokens.AccessTokens, ({ get }) => get), context))
        yield* time.pass(0)
      }
      return yield* Effect.provide(DataAccess.DataAccess, context)
    }),
    processes
  )

  const failedAt: Array<number> = []
  const body = Stream.make(new Uint8Array(1))
  const calls = seconds * 20
  for (let call = 0; call < calls; call++) {
    const request = isStream
      ? HttpClientRequest.setBody(HttpClientRequest.post(`/${call % 20}`), HttpBody.stream(body))
      : HttpClientRequest.get(`/${call % 20}`)
    const client = clients[call % processes]
    if (client === undefined) return yield* Effect.die(new Error("There is no process."))
    yield* Effect.exit(client.execute(request)).pipe(
      Effect.map((exit) => {
        if (Exit.isFailure(exit) || exit.value.status !== 200) failedAt.push(now())
      }),
      Effect.withClock(time.clock),
      Effect.forkDaemon
    )
    yield* time.pass(50)
  }
  yield* time.pass(60_000)

  let longest = 0
  let streak = 0
  for (let second = 0; second < seconds; second++) {
    streak = failedAt.filter((at) => Math.floor(at) === second).length >= 10 ? streak + 1 : 0
    longest = Math.max(longest, streak)
  }
  return { calls, failing: failedAt.length, resent: sent - calls, requests, expired, longest } satisfies Result
}, Effect.scoped)
