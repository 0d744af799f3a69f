// Measures the frame times of the console while 10 000 requests arrive, and of the same page while nothing happens. Prints JSON.

import { SimulatorConsole } from "@credit-data/simulator"
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer } from "effect"
import type { Page } from "playwright-core"
import { Browser, layer } from "./browser.ts"
import { flood } from "./client.ts"
import { simulated } from "./console.ts"

const requests = 10_000

const idleFrames = 300

/** Starts to measure the time between frames in the page, and returns how to stop and read it. */
const frames = async (page: Page) => {
  const recorder = await page.evaluateHandle(() => {
    // a method, because tsx gives functions in variables a name by a helper that the page does not have
    const recorder = {
      times: new Array<number>(),
      last: performance.now(),
      next(now: number) {
        recorder.times.push(now - recorder.last)
        recorder.last = now
        requestAnimationFrame((now) => recorder.next(now))
      }
    }
    requestAnimationFrame((now) => recorder.next(now))
    return recorder
  })
  return {
    count: () => recorder.evaluate(({ times }) => times.length),
    sorted: () => recorder.evaluate(({ times }) => times.slice(1).toSorted((left, right) => left - right))
  }
}

Effect.gen(function*() {
  const chromium = yield* Browser
  const { url } = yield* SimulatorConsole.SimulatorConsole
  const page = yield* Effect.promise(() => chromium.newPage())
  yield* Effect.promise(() => page.goto(url))
  const idle = yield* Effect.promise(() => frames(page))
  while ((yield* Effect.promise(idle.count)) < idleFrames) yield* Effect.yieldNow()
  const idleTimes = yield* Effect.promise(idle.sorted)

  const busy = yield* Effect.promise(() => frames(page))
  const start = performance.now()
  yield* flood(requests)
  yield* Effect.promise(() => page.getByText(`/data-access/${requests - 1}`, { exact: true }).waitFor())
  const seconds = (performance.now() - start) / 1000
  const busyTimes = yield* Effect.promise(busy.sorted)
  const shown = yield* Effect.promise(() => page.locator("#requests > li").count())
  yield* Console.log(JSON.stringify({ requests, idle: idleTimes, busy: busyTimes, seconds, shown }))
}).pipe(Effect.provide(Layer.merge(layer, simulated)), NodeRuntime.runMain)
