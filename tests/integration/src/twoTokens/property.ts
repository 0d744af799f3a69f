import { AccessToken, AccessTokens, TokenEndpoint, TokenError } from "@credit-data/core"
import { DataAccess } from "@credit-data/http-client"
import { withConstantRandom } from "@credit-data/test-support/constantRandom"
import * as VirtualClock from "@credit-data/test-support/virtualClock"
import { HttpBody, HttpClient, HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { assert } from "@effect/vitest"
import { DateTime, Duration, Effect, Exit, FastCheck as fc, Fiber, Layer, Logger, Redacted, Stream } from "effect"

// What must hold whatever happens, and not how it is achieved. Times are in milliseconds.

const pause = 30_000
const deadline = 10_000
const callTime = 97
const margin = 5_000

/** How the token endpoint responds to requests that begin now. */
type Mode = "grants" | "grants late" | "grants a short life" | "grants the same" | "fails" | "refuses" | "hangs"

const modes: ReadonlyArray<Mode> = [
  "grants",
  "grants late",
  "grants a short life",
  "grants the same",
  "fails",
  "refuses",
  "hangs"
]

interface Issued {
  readonly text: string
  readonly requestedAt: number
  readonly arrivedAt: number
  readonly expiresAt: number
}

interface Send {
  readonly token: Issued | undefined
  readonly at: number
}

/** A call, and what the test knows of it. */
interface Call {
  readonly path: number
  readonly canResend: boolean
  readonly beganAt: number
  readonly sends: Array<Send>
  isInterrupted: boolean
  /** Changes of the API while it ran. */
  changes: number
  /** Tokens that were held when it began and that the API has accepted for its path ever since. */
  accepted: ReadonlyArray<Issued>
}

type Step =
  | { readonly _tag: "Pass"; readonly millis: number }
  | { readonly _tag: "Call"; readonly path: number; readonly canResend: boolean }
  /** Calls whose bodies can be sent again, over all paths. */
  | { readonly _tag: "Traffic"; readonly count: number; readonly gap: number }
  | { readonly _tag: "Interrupt"; readonly index: number }
  | { readonly _tag: "Endpoint"; readonly mode: Mode }
  | { readonly _tag: "Revoke" }
  | { readonly _tag: "AcceptAfter"; readonly millis: number }
  | { readonly _tag: "Refuse"; readonly path: number | undefined }
  | { readonly _tag: "Refresh" }

const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ _tag: fc.constant("Call" as const), path: fc.nat(2), canResend: fc.boolean() }) },
  {
    weight: 5,
    arbitrary: fc.record({
      _tag: fc.constant("Pass" as const),
      millis: fc.oneof(
        { weight: 5, arbitrary: fc.constantFrom(1, 50, 98, 107, 300, 1_000, 2_500, 5_000) },
        { weight: 3, arbitrary: fc.constantFrom(10_000, 29_999, 30_000, 30_001, 60_000) },
        { weight: 2, arbitrary: fc.constantFrom(470_000, 480_000, 590_000, 595_000, 600_000) },
        { weight: 1, arbitrary: fc.nat(700_000) }
      )
    })
  },
  {
    weight: 4,
    arbitrary: fc.record({
      _tag: fc.constant("Traffic" as const),
      count: fc.integer({ min: 2, max: 20 }),
      gap: fc.constantFrom(50, 500, 2_000)
    })
  },
  { weight: 1, arbitrary: fc.record({ _tag: fc.constant("Interrupt" as const), index: fc.nat(20) }) },
  {
    weight: 1,
    arbitrary: fc.record({ _tag: fc.constant("Endpoint" as const), mode: fc.constantFrom(...modes, "grants" as const) })
  },
  { weight: 1, arbitrary: fc.constant({ _tag: "Revoke" as const }) },
  {
    weight: 1,
    arbitrary: fc.record({
      _tag: fc.constant("AcceptAfter" as const),
      millis: fc.constantFrom(0, 0, 3_000, 31_000, 75_000)
    })
  },
  { weight: 1, arbitrary: fc.record({ _tag: fc.constant("Refuse" as const), path: fc.constantFrom(undefined, 0) }) },
  { weight: 1, arbitrary: fc.constant({ _tag: "Refresh" as const }) }
)

/** Lets a supply, a client, a token endpoint and an API live through the steps, and checks each promise as it goes. */
const live = Effect.fnUntraced(function*(all: ReadonlyArray<Step>) {
  const time = VirtualClock.make()
  const now = () => time.now()
  const api = { revokedBefore: -1, acceptsAfter: 0, refused: undefined as number | undefined, changes: 0 }
  let mode: Mode = "grants"
  let requests = 0
  let underWay = 0
  let noRequestBefore = -1
  let isRefreshing = false
  let forcedAt = -Infinity
  const issued = new Map<string, Issued>()
  /** Held for certain: the newest token, and the one that calls used when it arrived. */
  let newest: Issued | undefined
  let older: Issued | undefined
  let used: Issued | undefined
  const rejected = new Set<Issued>()
  const broken: Array<string> = []
  /** What happens inside a client is an error of the call, so it is collected. */
  const must = (promise: string, isKept: boolean): void => {
    if (!isKept) broken.push(`${promise}, at ${now()}`)
  }

  const accepts = (token: Issued, path: number) =>
    token.requestedAt > api.revokedBefore && now() - token.arrivedAt >= api.acceptsAfter && path !== api.refused

  const tokenEndpoint = Layer.succeed(TokenEndpoint.TokenEndpoint, {
    environment: { name: "test", audience: "audience", baseUrl: "https://api.example" },
    url: "https://v2.example/oauth2/token",
    requestedScopes: ["data-access:all"] as const,
    deadline: Duration.millis(deadline),
    requestToken: (reason) =>
      Effect.gen(function*() {
        const number = ++requests
        const requestedAt = now()
        const own = mode
        must("one token request at a time", ++underWay === 1)
        must("no token request during a pause", isRefreshing || requestedAt >= noRequestBefore)
        yield* own === "hangs" ? Effect.never : Effect.sleep(own === "grants late" ? 4_003 : 107)
        const where = { environment: "test", tokenEndpoint: "t" }
        if (own === "fails") return yield* new TokenError.ServerError({ ...where, endpointStatus: 503 })
        if (own === "refuses") return yield* new TokenError.InvalidClient({ ...where, endpointStatus: 401 })
        if (reason._tag === "Rejected") {
          must("one forced renewal in 30 s", requestedAt - forcedAt >= pause)
          forcedAt = requestedAt
        }
        const text = own === "grants the same" && newest !== undefined ? newest.text : `token-${number}`
        const token = {
          text,
          requestedAt,
          arrivedAt: now(),
          expiresAt: requestedAt + (own === "grants a short life" ? 20_000 : 600_000)
        }
        older = reason._tag === "Refresh" || isRefreshing || text === newest?.text ? undefined : used
        if (older?.text === text) older = undefined
        // the same secret is the same token, and remains rejected
        if (text === newest?.text && rejected.has(newest)) rejected.add(token)
        newest = token
        used = token
        issued.set(text, token)
        return new AccessToken.AccessToken({
          secret: Redacted.make(text),
          scopes: ["data-access:all"],
          requestedAt: DateTime.unsafeMake(requestedAt),
          expiresAt: DateTime.unsafeMake(token.expiresAt)
        })
      }).pipe(Effect.ensuring(Effect.sync(() => void underWay--)))
  })

  const calls: Array<Call & { fiber: Fiber.RuntimeFiber<number | undefined> | undefined }> = []
  const server = HttpClient.make((request, url) =>
    Effect.gen(function*() {
      const call = calls[Number(url.searchParams.get("call"))]
      const text = request.headers["authorization"]?.slice("Bearer ".length) ?? ""
      const token = issued.get(text)
      must("no expired token is sent", token !== undefined && now() < token.expiresAt)
      const isFirst = call?.sends.length === 0
      if (isFirst && newest !== undefined && !rejected.has(newest) && now() < newest.expiresAt) {
        must("the newest token is used until it is rejected", token === newest)
      }
      if (isFirst) used = token
      must("a call tries each token once", call?.sends.some((send) => send.token === token) === false)
      call?.sends.push({ token, at: now() })
      must("a call is sent three times at most", (call?.sends.length ?? 0) <= 3)
      yield* Effect.sleep(callTime)
      const isAccepted = token !== undefined && accepts(token, call?.path ?? 0)
      if (!isAccepted && token !== undefined) {
        rejected.add(token)
        // which token is in use now is known again with the next call
        used = undefined
      }
      return HttpClientResponse.fromWeb(request, new Response(null, { status: isAccepted ? 200 : 401 }))
    })
  )
  const context = yield* Layer.build(
    DataAccess.layer().pipe(
      Layer.provideMerge(AccessTokens.layer({ renewalWindow: { from: 0.8, to: 0.8 } })),
      Layer.provide([tokenEndpoint, Layer.succeed(HttpClient.HttpClient, server), Logger.remove(Logger.defaultLogger)])
    )
  ).pipe(Effect.withClock(time.clock), withConstantRandom(1))
  const client = yield* Effect.provide(DataAccess.DataAccess, context)
  const tokens = yield* Effect.provide(AccessTokens.AccessTokens, context)
  const changeApi = (change: () => void) =>
    Effect.sync(() => {
      change()
      api.changes++
    })

  /** A token that the API accepts for the path of a call, and that is held while the call runs. */
  const isGood = (token: Issued | undefined, path: number): token is Issued =>
    token !== undefined && accepts(token, path) && now() + 60_000 < token.expiresAt - margin

  const begin = Effect.fnUntraced(function*(path: number, canResend: boolean) {
    const call: typeof calls[number] = {
      path,
      canResend,
      beganAt: now(),
      sends: [],
      isInterrupted: false,
      changes: api.changes,
      accepted: [newest, older].filter((token) => isGood(token, path)),
      fiber: undefined
    }
    const url = `/${path}?call=${calls.push(call) - 1}`
    const request = canResend
      ? HttpClientRequest.get(url)
      : HttpClientRequest.setBody(HttpClientRequest.post(url), HttpBody.stream(Stream.make(new Uint8Array(1))))
    call.fiber = yield* Effect.exit(client.execute(request)).pipe(
      Effect.map((exit) => {
        const status = Exit.isSuccess(exit) ? exit.value.status : undefined
        // a token that arrives meanwhile may have replaced the accepted one
        const isHeld = call.accepted.some((token) => token === newest || token === older)
        if (!call.isInterrupted && canResend && isHeld && call.changes === api.changes) {
          must("a call succeeds while a token that the API accepts is held", status === 200)
        }
        return status
      }),
      Effect.withClock(time.clock),
      Effect.forkDaemon
    )
  })

  for (const step of all) {
    switch (step._tag) {
      case "Pass":
        yield* time.pass(step.millis)
        break
      case "Call":
        yield* begin(step.path, step.canResend)
        break
      case "Traffic":
        for (let call = 0; call < step.count; call++) {
          yield* begin(call % 3, true)
          yield* time.pass(step.gap)
        }
        break
      case "Interrupt": {
        const call = calls[step.index]
        if (call?.fiber === undefined) break
        call.isInterrupted = true
        yield* Effect.forkDaemon(Fiber.interrupt(call.fiber))
        break
      }
      case "Endpoint":
        mode = step.mode
        break
      case "Revoke":
        yield* changeApi(() => void (api.revokedBefore = now()))
        break
      case "AcceptAfter":
        yield* changeApi(() => void (api.acceptsAfter = step.millis))
        break
      case "Refuse":
        yield* changeApi(() => void (api.refused = step.path))
        break
      case "Refresh":
        isRefreshing = true
        yield* Effect.forkDaemon(Effect.exit(tokens.refresh))
        break
    }
    yield* time.settle
    const { lastFailure, nextRequestAt } = yield* tokens.status
    if (underWay === 0) {
      isRefreshing = false
      noRequestBefore = lastFailure._tag === "Some" && nextRequestAt._tag === "Some"
        ? DateTime.toEpochMillis(nextRequestAt.value)
        : -1
    }
  }

  // when everything works again, calls succeed after the pause and one flight
  mode = "grants"
  yield* changeApi(() => Object.assign(api, { acceptsAfter: 0, refused: undefined }))
  const seconds = 100
  for (let second = 0; second < seconds; second++) {
    yield* begin(1, true)
    yield* time.pass(1_000)
  }
  yield* time.pass(60_000)
  const last = yield* Effect.forEach(
    calls,
    ({ fiber }) => fiber === undefined ? Effect.succeed(undefined) : Fiber.await(fiber)
  )
  for (const [index, exit] of last.entries()) {
    must("every call ends", exit !== undefined && (Exit.isSuccess(exit) || calls[index]?.isInterrupted === true))
  }
  for (const exit of last.slice(-(seconds - 71))) {
    must("failing ends within the pauses", exit !== undefined && Exit.isSuccess(exit) && exit.value === 200)
  }
  assert.strictEqual(broken.join("\n"), "")
}, Effect.scoped)

export const property = fc.asyncProperty(
  fc.array(steps, { maxLength: 60, size: "max" }),
  (all) => Effect.runPromise(live(all))
)
