// E: three processes with a shared store under TestClock. The first one stops while it has the lease.

import { AuthV2 } from "@credit-data/auth-v2"
import { AccessTokens } from "@credit-data/core"
import { SharedTokens, TokenStore } from "@credit-data/fleet"
import { HttpClient, HttpClientResponse } from "@effect/platform"
import { Clock, Duration, Effect, Layer, Random, Redacted, TestClock, TestContext } from "effect"
import { box, dot, line, picture, text, width } from "./drawing.ts"

const auth = AuthV2.layerTokenEndpoint({
  environment: {
    name: "picture",
    audience: "a",
    baseUrl: "https://api.example",
    authV2Url: "https://oauth.example"
  },
  credentials: { clientId: "id", clientSecret: Redacted.make("a secret of more than 32 characters") },
  scopes: ["data-access:all"]
})

interface Process {
  readonly name: string
  readonly reads: Array<number>
  leaseFrom?: number
  leaseTo?: number
  requestFrom?: number
  requestTo?: number
  got?: number
}

const stopsAt = 600

/** A stopped process. `Effect.never` has a timer, which would keep this program running. */
const never = Effect.async<never>(() => {})

const run = Effect.gen(function*() {
  const store = yield* TokenStore.TokenStore
  const start = yield* Clock.currentTimeMillis
  const now = Effect.map(Clock.currentTimeMillis, (millis) => millis - start)
  const processes = ["A", "B", "C"].map((name): Process => ({ name, reads: [] }))
  const stopped = new Set<Process>()
  const stops = (process: Process) => <A, E>(work: Effect.Effect<A, E>) =>
    Effect.suspend(() => stopped.has(process) ? never : work)
  const begin = Effect.fnUntraced(function*(process: Process) {
    const shared = Layer.succeed(TokenStore.TokenStore, {
      ...store,
      read: (name) =>
        Effect.tap(now, (at) => process.reads.push(at)).pipe(Effect.zipRight(store.read(name)), stops(process)),
      takeLease: (name, wanted) =>
        Effect.gen(function*() {
          const at = yield* now
          const look = yield* store.takeLease(name, wanted)
          if (look.isTaken) {
            process.leaseFrom ??= at
            process.leaseTo = at + Duration.toMillis(wanted.duration)
          } else process.reads.push(at)
          return look
        }).pipe(stops(process)),
      releaseLease: (name, owner) => store.releaseLease(name, owner).pipe(stops(process)),
      publish: (name, value) =>
        Effect.tap(now, (at) => {
          process.leaseTo = at
        }).pipe(Effect.zipRight(store.publish(name, value)), stops(process))
    })
    const network = Layer.succeed(
      HttpClient.HttpClient,
      HttpClient.make((request) =>
        Effect.gen(function*() {
          process.requestFrom = yield* now
          yield* Effect.sleep("900 millis")
          if (stopped.has(process)) return yield* never
          process.requestTo = yield* now
          const body = { access_token: "token", token_type: "Bearer", expires_in: 86_400, scope: "data-access:all" }
          return HttpClientResponse.fromWeb(request, Response.json(body))
        })
      )
    )
    const supply = Layer.fresh(SharedTokens.layer()).pipe(
      Layer.provide(Layer.fresh(auth)),
      Layer.provide(network),
      Layer.provide(shared)
    )
    return yield* Effect.fork(
      Effect.flatMap(AccessTokens.AccessTokens, ({ get }) => get).pipe(
        Effect.zipRight(now),
        Effect.tap((at) => {
          process.got = at
        }),
        Effect.zipRight(never),
        Effect.provide(supply)
      )
    )
  })
  for (const process of processes) {
    yield* begin(process)
    yield* TestClock.adjust("60 millis")
  }
  for (const process of processes.slice(0, 1)) {
    yield* TestClock.adjust(stopsAt - (yield* now))
    stopped.add(process)
  }
  yield* TestClock.adjust("5 seconds")
  return processes
}).pipe(
  Effect.withRandom(Random.make("a process that stops")),
  Effect.provide(Layer.provideMerge(TokenStore.layerMemory, TestContext.TestContext))
)

const seconds = (millis = Number.NaN): string => `${(millis / 1_000).toFixed(1)} s`

/** The lease of a fleet: the process that has it sends the token request, and the others read the store. */
export const fleet = Effect.map(run, ([a, b, c]) => {
  if (a === undefined || b?.got === undefined || c?.got === undefined) {
    throw new Error("Expected two processes with a token")
  }
  const left = 98
  const until = 4_000
  const at = (millis = 0) => left + millis * (width - left - 16) / until
  const lane = (process: Process, name: string, y: number) => {
    const { leaseFrom, leaseTo, requestFrom, requestTo = stopsAt } = process
    return [
      text(14, y + 20, name, { of: "strong small" }),
      line(at(0), y + 15, at(process.got ?? stopsAt), y + 15),
      ...(leaseFrom === undefined ? [] : [
        box(at(leaseFrom), at(leaseTo), y, 30, "soft"),
        box(at(requestFrom), at(requestTo), y + 4, 22, "ours")
      ]),
      ...process.reads.filter((time) => leaseFrom === undefined || time < leaseFrom).map((time) =>
        dot(at(time), y + 15, "other", 3)
      ),
      ...(process.got === undefined
        ? [text(at(stopsAt) + 4, y + 20, "✕ stops", { of: "small fault strong" })]
        : [dot(at(process.got), y + 15, "ours", 8), text(at(process.got) + 11, y + 20, "token", { of: "small" })])
    ]
  }
  return picture(
    `Three processes share a store. Process A takes the lease, sends a token request, and stops after ${
      seconds(stopsAt)
    }. Its lease ends ` +
      `after ${seconds(a.leaseTo)}. Then B takes the lease, sends a token request, and publishes the token after ${
        seconds(b.got)
      }. C reads it from the store.`,
    266,
    [
      ...lane(a, "process A", 20),
      ...lane(b, "process B", 72),
      ...lane(c, "process C", 124),
      line(at(0), 176, at(until), 176),
      ...[0, 1, 2, 3, 4].flatMap((second) => [
        line(at(second * 1_000), 176, at(second * 1_000), 181),
        text(at(second * 1_000), 196, second === 0 ? "0 s" : String(second), {
          of: "small dim",
          anchor: second === 4 ? "end" : "middle"
        })
      ]),
      box(14, 34, 212, 14, "soft"),
      text(40, 224, "has the lease", { of: "small" }),
      box(150, 170, 212, 14, "ours"),
      text(176, 224, "token request", { of: "small" }),
      dot(290, 219, "other", 3),
      text(300, 224, "reads the store", { of: "small" }),
      text(14, 250, "When A stops, its lease ends, and B continues.", { of: "strong small" })
    ]
  )
})
