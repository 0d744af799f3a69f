// Streamed uploads and downloads. A streamed body cannot be sent again: if the API returns 401, the caller gets that 401.

import { AuthV2 } from "@credit-data/auth-v2"
import { Furnishment } from "@credit-data/http-client"
import { Simulator } from "@credit-data/simulator"
import { HttpBody } from "@effect/platform"
import { NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer, Stream } from "effect"

const records = Stream.range(1, 10_000).pipe(
  Stream.map((number) => `record ${number}\n`),
  Stream.encodeText
)

const program = Effect.gen(function*() {
  const furnishment = yield* Furnishment.Furnishment
  const uploaded = yield* furnishment.post("/furnishment/submissions", { body: HttpBody.stream(records, "text/plain") })
  yield* Console.log(`uploaded: ${uploaded.status}`)
  const downloaded = yield* furnishment.get("/furnishment/submissions/7")
  const size = yield* Stream.runFold(downloaded.stream, 0, (sum, chunk) => sum + chunk.length)
  yield* Console.log(`downloaded: ${downloaded.status}, ${size > 0 ? "with" : "without"} a body`)
})

const Clients = Furnishment.layer().pipe(Layer.provide(AuthV2.layerConfig()), Layer.provide(NodeHttpClient.layer))

program.pipe(
  Effect.provide(Clients.pipe(Layer.provide(Simulator.layerConfigProvider), Layer.provide(Simulator.layer()))),
  NodeRuntime.runMain
)
