import { AuthV2 } from "@credit-data/auth-v2"
import { AccessTokens } from "@credit-data/core"
import { SharedTokens } from "@credit-data/fleet"
import { DataAccess, Furnishment } from "@credit-data/http-client"
import { Fault, Simulator } from "@credit-data/simulator"
import { RedisTokenStore } from "@credit-data/store-redis"
import { Telemetry } from "@credit-data/telemetry"
import * as TestClocks from "@credit-data/test-support/clock"
import { freePorts } from "@credit-data/test-support/freePorts"
import { startRedis } from "@credit-data/test-support/redisServer"
import { NodeHttpClient } from "@effect/platform-node"
import { Duration, Effect, Exit, Layer, Redacted, Scope } from "effect"

// Incidents of a program that calls the API all the time. Each has its own supply, identified by the name of its environment.

/** All durations of the rules are divided by this, and the clocks of the supplies run as much faster: ten minutes take one minute. */
export const factor = 10

const began = Date.now()

/** The time of a supply's clock, in milliseconds. */
const supplyTime = (millis: number): number => began + (millis - began) * factor

const seconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600 }

/** The rules with shorter durations. */
export const divided = (rules: string): string =>
  rules
    .replaceAll(
      /(?<=for: |\[|offset )(\d+)([smh])\b/g,
      (_, count: string, unit: string) => `${Number(count) * (seconds[unit] ?? 1) * 1_000 / factor}ms`
    )
    .replaceAll("time()", `(${began / 1_000} + (time() - ${began / 1_000}) * ${factor})`)

/** A program with its supply, and what surrounds it. */
interface World {
  readonly simulator: Simulator.Service
  readonly refresh: Effect.Effect<unknown>
  /** Gives the program the secret that the server accepts now. */
  readonly configureSecret: Effect.Effect<void>
  /** Ends the program and starts it again, or this replica of it. */
  readonly restart: (replica?: number) => Effect.Effect<void>
  readonly stopStore: Effect.Effect<void>
  /** Sets the clock of the program ahead. */
  readonly setAhead: (millis: number) => void
}

/** Within how many minutes of the rules an alert ends after the cure. */
export const usualEnd = 2

/** The same for an alert that stays for five minutes, because chance ends its condition now and then. */
const steadyEnd = usualEnd + 5

interface Incident {
  readonly tokenLifetime?: Duration.DurationInput
  readonly replicas?: number
  readonly isShared?: boolean
  /** Whether the store of a shared token has an address where nothing listens. */
  readonly hasWrongStore?: boolean
  /** Whether the program waits for its calls however long they take. */
  readonly hasNoTimeLimit?: boolean
  readonly happens: (world: World) => Effect.Effect<unknown>
  /** What ends the incident. Nothing may fire at the end of the run then. */
  readonly ends?: (world: World) => Effect.Effect<unknown>
  /** What has to fire, each within this time in minutes of the rules. Nothing else may. */
  readonly alerts: Readonly<Record<string, number>>
  /** Within how many minutes of the rules the alerts end. Default: `usualEnd`. */
  readonly endsWithin?: number
}

/** The API returns this status to every call. */
const returns = (simulator: Simulator.Service, status: number) =>
  simulator.failCalls(Fault.Response({ status }), { times: Number.POSITIVE_INFINITY })

/** The API returns this status to every call for this many seconds of the supplies' clocks. */
const returnsFor = (simulator: Simulator.Service, status: number, seconds: number) =>
  returns(simulator, status).pipe(
    Effect.zipRight(Effect.sleep(Duration.seconds(seconds / factor))),
    Effect.zipRight(simulator.clearFaults)
  )

export const incidents: Readonly<Record<string, Incident>> = {
  "a scope is removed": {
    happens: ({ refresh, simulator }) => Effect.zipRight(simulator.grantScopes(["furnishment:all"]), refresh),
    alerts: { CreditDataScopeMissing: 2 }
  },
  "a scope is removed and granted again": {
    happens: ({ refresh, simulator }) => Effect.zipRight(simulator.grantScopes(["furnishment:all"]), refresh),
    ends: ({ refresh, simulator }) =>
      Effect.zipRight(simulator.grantScopes(["data-access:all", "furnishment:all"]), refresh),
    alerts: { CreditDataScopeMissing: 2 }
  },
  "the API rejects every token": {
    happens: ({ simulator }) => returns(simulator, 401),
    alerts: { CreditDataCallsRejected: 3 }
  },
  "the API rejects every token and accepts them again": {
    happens: ({ simulator }) => returns(simulator, 401),
    ends: ({ simulator }) => simulator.clearFaults,
    endsWithin: steadyEnd,
    alerts: { CreditDataCallsRejected: 3 }
  },
  "the API rejects every token for 8 seconds": {
    happens: ({ simulator }) => returnsFor(simulator, 401, 8),
    alerts: {}
  },
  "one new token in twenty is rejected for 3 seconds": {
    happens: ({ refresh, simulator }) =>
      Effect.repeatN(
        Effect.zipRight(
          Effect.repeatN(Effect.delay(refresh, "120 millis"), 18),
          Effect.zipRight(refresh, returnsFor(simulator, 401, 3))
        ),
        1
      ),
    alerts: {}
  },
  "the API returns 503": {
    happens: ({ simulator }) => returns(simulator, 503),
    alerts: { CreditDataCallsFailing: 3 }
  },
  "the API returns 503 and works again": {
    happens: ({ simulator }) => returns(simulator, 503),
    ends: ({ simulator }) => simulator.clearFaults,
    endsWithin: steadyEnd,
    alerts: { CreditDataCallsFailing: 3 }
  },
  "the API returns 503 for 30 seconds": {
    happens: ({ simulator }) => returnsFor(simulator, 503, 30),
    alerts: {}
  },
  "the API does not respond": {
    happens: ({ simulator }) => simulator.failCalls(Fault.Silence(), { times: Number.POSITIVE_INFINITY }),
    ends: ({ simulator }) => simulator.clearFaults,
    endsWithin: steadyEnd,
    alerts: { CreditDataCallsUnanswered: 3 }
  },
  "the API does not respond, and calls have no time limit": {
    hasNoTimeLimit: true,
    happens: ({ simulator }) => simulator.failCalls(Fault.Silence(), { times: Number.POSITIVE_INFINITY }),
    ends: ({ simulator }) => simulator.clearFaults,
    endsWithin: steadyEnd,
    alerts: { CreditDataCallsUnanswered: 3 }
  },
  "the API returns 429": {
    happens: ({ simulator }) => returns(simulator, 429),
    ends: ({ simulator }) => simulator.clearFaults,
    endsWithin: steadyEnd,
    alerts: { CreditDataCallsFailing: 3 }
  },
  "the secret has expired": {
    tokenLifetime: "200 seconds",
    happens: ({ simulator }) => simulator.rotateSecret,
    ends: ({ configureSecret, refresh }) => Effect.zipRight(configureSecret, refresh),
    // the rule also counts processes that ended
    endsWithin: 7,
    alerts: { CreditDataClientRefused: 3, CreditDataNoToken: 5 }
  },
  "the token endpoint returns 503": {
    tokenLifetime: "200 seconds",
    happens: ({ simulator }) =>
      simulator.failTokenRequests(Fault.Response({ status: 503 }), { times: Number.POSITIVE_INFINITY }),
    ends: ({ refresh, simulator }) => Effect.zipRight(simulator.clearFaults, refresh),
    alerts: { CreditDataNoToken: 5 }
  },
  "Redis is down": {
    tokenLifetime: "100 seconds",
    isShared: true,
    happens: ({ stopStore }) => stopStore,
    alerts: { CreditDataStoreUnavailable: 4 }
  },
  "Redis has a wrong address from the start": {
    hasWrongStore: true,
    happens: () => Effect.void,
    alerts: { CreditDataStoreUnavailable: 4 }
  },
  "all tokens are revoked once": {
    happens: ({ simulator }) => simulator.revokeTokens,
    alerts: {}
  },
  "the clock is set ahead by ten minutes": {
    happens: ({ setAhead }) => Effect.sync(() => setAhead(10 * 60_000)),
    alerts: {}
  },
  "the program restarts": {
    happens: ({ restart }) => restart(),
    alerts: {}
  },
  "ten replicas restart one after the other": {
    replicas: 10,
    happens: ({ restart }) =>
      Effect.forEach(
        Array.from({ length: 10 }, (_, replica) => replica),
        (replica) => Effect.delay(restart(replica), "1 second")
      ),
    alerts: {}
  }
}

const clockOf = (aheadMillis: () => number) =>
  TestClocks.make({
    wallMillis: () => supplyTime(Date.now()) + aheadMillis(),
    monotonicNanos: () => process.hrtime.bigint() * BigInt(factor),
    sleep: (duration) =>
      Effect.async<void>((resume) => {
        const timer = setTimeout(() => resume(Effect.void), Duration.toMillis(duration) / factor)
        return Effect.sync(() => clearTimeout(timer))
      })
  })

/** A store with an address where nothing listens. */
export const wrongStore = Effect.map(freePorts(1), (port) => ({
  layer: RedisTokenStore.layer({ url: Redacted.make(`redis://127.0.0.1:${port}`) }),
  stop: Effect.void
}))

/** A store that can be stopped. */
const makeStore = Effect.gen(function*() {
  const redis = yield* startRedis()
  return {
    layer: RedisTokenStore.layer({ url: Redacted.make(`redis://127.0.0.1:${redis.port}`) }),
    stop: redis.kill
  }
})

/** Starts the program of an incident. It runs until the scope closes. */
export const start = Effect.fnUntraced(function*(name: string) {
  const { hasNoTimeLimit = false, hasWrongStore = false, isShared = false, replicas = 1, tokenLifetime } =
    incidents[name] ??
      { happens: () => Effect.void, alerts: {} }
  const simulator = yield* Effect.flatMap(
    Layer.build(Simulator.layer({ tokenLifetime })),
    (context) => Effect.provide(Simulator.Simulator, context)
  )
  const store = hasWrongStore ? yield* wrongStore : isShared ? yield* makeStore : undefined
  let credentials = yield* simulator.credentials
  let ahead = 0
  const clock = clockOf(() => ahead)

  const options = {
    environment: { ...simulator.environment, name },
    credentials: Effect.sync(() => credentials),
    scopes: ["data-access:all", "furnishment:all"] as const
  }
  const metrics = (attributes: Readonly<Record<string, string>>) =>
    Telemetry.layer({ sampleInterval: "5 seconds", attributes: { tenant: "a", ...attributes } })
  const Auth = store === undefined
    ? AuthV2.layer(options)
    : SharedTokens.layer().pipe(
      Layer.provide(AuthV2.layerTokenEndpoint(options)),
      Layer.provide(store.layer)
    )

  const programs: Array<{ readonly tokens: AccessTokens.Service; readonly scope: Scope.CloseableScope }> = []
  const run = Effect.fnUntraced(function*(replica: number) {
    const scope = yield* Scope.make()
    const context = yield* Layer.mergeAll(
      DataAccess.layer(),
      Furnishment.layer(),
      metrics(replicas === 1 ? {} : { replica: String(replica) })
    ).pipe(
      Layer.provideMerge(Auth),
      Layer.provide(NodeHttpClient.layer),
      Layer.build,
      Scope.extend(scope),
      Effect.withClock(clock)
    )
    const inTime = <E, R>(call: Effect.Effect<unknown, E, R>) =>
      hasNoTimeLimit ? Effect.forkIn(Effect.exit(call), scope) : Effect.exit(Effect.timeout(call, "500 millis"))
    const calls = Effect.all([
      inTime(Effect.flatMap(DataAccess.DataAccess, (client) => client.get("/data-access/consumers/42"))),
      inTime(Effect.flatMap(Furnishment.Furnishment, (client) => client.get("/furnishment/submissions/7")))
    ], { concurrency: "unbounded" })
    yield* Effect.forkIn(
      // ten replicas together call as often as three programs
      Effect.forever(Effect.delay(Effect.provide(calls, context), replicas === 1 ? "300 millis" : "1 second")),
      scope
    )
    programs[replica] = { scope, tokens: yield* Effect.provide(AccessTokens.AccessTokens, context) }
  })
  for (let replica = 0; replica < replicas; replica++) yield* run(replica)
  yield* Effect.addFinalizer(() =>
    Effect.forEach(programs, ({ scope }) => Scope.close(scope, Exit.void), { discard: true })
  )

  const world: World = {
    simulator,
    refresh: Effect.suspend(() => Effect.exit(programs[0]?.tokens.refresh ?? Effect.void)),
    configureSecret: Effect.map(simulator.credentials, (current) => {
      credentials = current
    }),
    restart: (replica = 0) =>
      Effect.suspend(() => {
        const program = programs[replica]
        return Effect.orDie(
          Effect.zipRight(program === undefined ? Effect.void : Scope.close(program.scope, Exit.void), run(replica))
        )
      }),
    stopStore: store?.stop ?? Effect.void,
    setAhead: (millis) => {
      ahead = millis
    }
  }
  return world
})
