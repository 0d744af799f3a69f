import { AuthV2 } from "@credit-data/auth-v2"
import { DataAccess } from "@credit-data/http-client"
import { Fault, Simulator } from "@credit-data/simulator"
import { HttpClient, HttpServer, HttpServerResponse } from "@effect/platform"
import { NodeHttpClient, NodeHttpServer } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"

/** The server under test calls Data Access. */
const Server = HttpServer.serve(
  Effect.flatMap(DataAccess.DataAccess, (client) => client.get("/data-access/consumers/42")).pipe(
    Effect.map(({ status }) => HttpServerResponse.empty({ status: status === 200 ? 200 : 503 })),
    Effect.orElseSucceed(() => HttpServerResponse.empty({ status: 503 }))
  )
)

/** The calls have their own transport. */
const Clients = DataAccess.layer().pipe(
  Layer.provide(AuthV2.layerConfig()),
  Layer.provide(NodeHttpClient.layer),
  Layer.provide(Simulator.layerConfigProvider)
)

/** The `HttpClient` of `layerTest` sends the test's requests to the server under test. */
const Test = Server.pipe(
  Layer.provideMerge(NodeHttpServer.layerTest),
  Layer.provide(Clients),
  Layer.provideMerge(Simulator.layer())
)

it.effect("the server returns 200, and 503 while Data Access fails", () =>
  Effect.gen(function*() {
    const simulator = yield* Simulator.Simulator
    const client = yield* HttpClient.HttpClient
    assert.strictEqual((yield* client.get("/health/data-access")).status, 200)

    yield* simulator.failCalls(Fault.Response({ status: 502 }))
    assert.strictEqual((yield* client.get("/health/data-access")).status, 503)
    assert.strictEqual(yield* simulator.tokenRequests, 1)
  }).pipe(Effect.provide(Test)))
