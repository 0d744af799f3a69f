// Measures the frame times of the console while 10 000 requests arrive, and of the same page while nothing happens. Prints JSON.

import { SimulatorConsole } from "@credit-data/simulator"
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer } from "effect"
import { Browser, layer } from "./browser.ts"
import { flood } from "./client.ts"
import { simulated } from "./console.ts"
import { record } from "./record.ts"

const requests = 10_000

const idleFrames = 300

Effect.gen(function*() {
  const chromium = yield* Browser
  const { url } = yield* SimulatorConsole.SimulatorConsole
  const page = yield* Effect.promise(() => chromium.newPage())
  yield* Effect.promise(() => page.goto(url))
  const idle = yield* record(page)
  while ((yield* idle.frames) < idleFrames) yield* Effect.yieldNow()
  const { frames: idleTimes } = yield* idle.stop

  const busy = yield* record(page)
  const start = performance.now()
  yield* flood(requests)
  yield* Effect.promise(() => page.getByText(`/data-access/${requests - 1}`, { exact: true }).waitFor())
  const seconds = (performance.now() - start) / 1000
  const { frames: busyTimes } = yield* busy.stop
  const shown = yield* Effect.promise(() => page.locator("#requests > li").count())
  yield* Console.log(JSON.stringify({ requests, idle: idleTimes, busy: busyTimes, seconds, shown }))
}).pipe(Effect.provide(Layer.merge(layer, simulated)), NodeRuntime.runMain)
