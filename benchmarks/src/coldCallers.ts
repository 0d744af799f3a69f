import { AuthV2 } from "@credit-data/auth-v2"
import { AccessTokens } from "@credit-data/core"
import { Fault, Simulator } from "@credit-data/simulator"
import { HttpClient, HttpClientRequest } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { Deferred, Effect, Layer } from "effect"
import { type Measurement, median } from "./report.ts"

const callers = 10_000
const rounds = 21
const latency = Fault.Delay({ duration: "50 millis" })

const millis = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const start = performance.now()
    yield* effect
    return performance.now() - start
  })

const all = <A, E>(each: Effect.Effect<A, E>) =>
  Effect.all(Array.from({ length: callers }, () => each), { concurrency: "unbounded", discard: true })

/** The baseline: one request, and the same number of fibers that wait for its Deferred. */
const floor = Effect.gen(function*() {
  const { environment } = yield* Simulator.Simulator
  const client = yield* HttpClient.HttpClient
  const body = yield* Deferred.make<string>()
  const request = HttpClientRequest.post(`${environment.authV2Url}/oauth2/token`).pipe(
    HttpClientRequest.bodyUrlParams({ grant_type: "client_credentials" })
  )
  return yield* millis(
    Effect.all([
      client.execute(request).pipe(
        Effect.flatMap((response) => response.text),
        Effect.flatMap((text) => Deferred.succeed(body, text))
      ),
      all(Deferred.await(body))
    ], { concurrency: 2 })
  )
})

const supply = Effect.gen(function*() {
  const { credentials, environment } = yield* Simulator.Simulator
  const auth = AuthV2.layer({ environment, credentials, scopes: ["data-access:all"] })
  return yield* Effect.provide(
    Effect.flatMap(AccessTokens.AccessTokens, (tokens) => millis(all(tokens.get))),
    Layer.fresh(auth)
  )
})

/** 10 000 callers without a token, with a loopback endpoint that takes 50 ms. */
export const coldCallers: Effect.Effect<ReadonlyArray<Measurement>, unknown> = Effect.gen(function*() {
  const simulator = yield* Simulator.Simulator
  yield* simulator.failTokenRequests(latency, { times: 1_000 })
  const own: Array<number> = []
  const references: Array<number> = []
  let requests = 0
  for (let round = 0; round <= rounds; round++) {
    const reference = yield* floor
    const before = yield* simulator.tokenRequests
    const measured = yield* supply
    requests = Math.max(requests, (yield* simulator.tokenRequests) - before)
    if (round > 0) {
      own.push(measured)
      references.push(reference)
    }
  }
  return [
    { what: "10 000 cold callers", value: requests, unit: "token requests", atMost: 1 },
    {
      what: "10 000 cold callers, wall time",
      value: median(own) / median(references),
      unit: "× one request with 10 000 fibers that wait for its Deferred",
      atMost: 1.25
    }
  ]
}).pipe(Effect.provide(Layer.merge(Simulator.layer(), NodeHttpClient.layer)))
