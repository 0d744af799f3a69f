import { Simulator } from "@credit-data/simulator"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"
import { createServer } from "node:net"
import { freePorts } from "@credit-data/test-support/freePorts"
import { startService } from "../src/service.ts"

const Environment = Layer.merge(Simulator.layer(), NodeHttpClient.layer)

/** Accepts connections and never responds. */
const blackHole = Effect.acquireRelease(
  Effect.async<ReturnType<typeof createServer>>((resume) => {
    const sockets = createServer(() => {})
    sockets.listen(0, "127.0.0.1", () => resume(Effect.succeed(sockets)))
  }),
  (server) => Effect.sync(() => server.close())
).pipe(Effect.map((server) => {
  const address = server.address()
  return typeof address === "object" && address !== null ? address.port : 0
}))

describe("the example service", () => {
  const collectors = [["is down", freePorts(1)], ["accepts connections and never responds", blackHole]] as const
  for (const [what, port] of collectors) {
    it.scopedLive(`ends soon when the collector ${what}`, () =>
      Effect.gen(function*() {
        const alone = yield* startService()
        yield* alone.get("/consumers/42")
        const [withoutCollector] = yield* alone.stop
        const service = yield* startService({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${yield* port}` })
        assert.strictEqual((yield* service.get("/consumers/42")).status, 200)
        const [took, { exitCode }] = yield* service.stop
        assert.strictEqual(Number(exitCode), 0)
        // the time-out of the exporter is a second; a shared machine gets some more
        assert.isBelow(Duration.toMillis(took) - Duration.toMillis(withoutCollector), 2_500)
        yield* Effect.logInfo(`ended ${Duration.toMillis(took) - Duration.toMillis(withoutCollector)} ms later`)
      }).pipe(Effect.provide(Environment)), 60_000)
  }
})
