import { Simulator } from "@credit-data/simulator"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"
import { freePorts } from "@credit-data/test-support/freePorts"
import { listenForSockets } from "@credit-data/test-support/listen"
import { startService } from "../src/service.ts"

const Environment = Layer.merge(Simulator.layer(), NodeHttpClient.layer)

describe("the example service", () => {
  const collectors = [["is down", freePorts(1)], [
    "accepts connections and never responds",
    listenForSockets(() => {})
  ]] as const
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
