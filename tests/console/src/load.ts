// Measures typing, scrolling and memory of the console while 500 requests per second arrive for 10 s, and the memory 5 minutes later.
// Prints JSON. The first argument replaces the 300 s.

import { SimulatorConsole, Simulator } from "@credit-data/simulator"
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer } from "effect"
import { connect } from "node:net"
import type { CDPSession } from "playwright-core"
import { Browser, layer } from "./browser.ts"
import { flood, requestToken } from "./client.ts"
import { simulated } from "./console.ts"
import { record } from "./record.ts"

const perSecond = 500
const seconds = 10
const quietSeconds = Number(process.argv[2] ?? 300)

/** Sends calls with a token at an even pace over one connection, and returns when all were sent. */
const pacedCalls = (token: string) =>
  Effect.gen(function*() {
    const { environment } = yield* Simulator.Simulator
    const { host, hostname, port } = new URL(environment.baseUrl)
    const body = JSON.stringify({ consumers: Array.from({ length: 40 }, (_, id) => ({ id, balance: 1250 })) })
    yield* Effect.acquireUseRelease(
      Effect.sync(() => connect(Number(port), hostname).resume()),
      (socket) =>
        Effect.async<void>((resume) => {
          const start = performance.now()
          let sent = 0
          const timer = setInterval(() => {
            const due = Math.min(seconds * perSecond, Math.floor((performance.now() - start) / 1000 * perSecond))
            for (; sent < due; sent++) {
              socket.write(
                `POST /data-access/${sent} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${token}\r\n` +
                  `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
              )
            }
            if (sent === seconds * perSecond) {
              clearInterval(timer)
              resume(Effect.void)
            }
          }, 10)
        }),
      (socket) => Effect.sync(() => socket.end())
    )
  })

/** The heap of the page in MiB, after a garbage collection. */
const heap = async (session: CDPSession) => {
  await session.send("HeapProfiler.collectGarbage")
  const { metrics } = await session.send("Performance.getMetrics")
  return (metrics.find(({ name }) => name === "JSHeapUsedSize")?.value ?? 0) / 1024 ** 2
}

Effect.gen(function*() {
  const chromium = yield* Browser
  const { url } = yield* SimulatorConsole.SimulatorConsole
  const token = yield* requestToken("V2")
  // the page has as many rows before as it has after
  yield* flood(1000)
  const page = yield* Effect.promise(() => chromium.newPage({ viewport: { width: 1400, height: 800 } }))
  yield* Effect.promise(() => page.goto(url))
  yield* Effect.promise(() => page.locator("#shown").getByText("1000", { exact: true }).waitFor())
  const session = yield* Effect.promise(() => page.context().newCDPSession(page))
  yield* Effect.promise(() => session.send("Performance.enable"))
  const before = yield* Effect.promise(() => heap(session))
  const simulatorBefore = process.memoryUsage().rss / 1024 ** 2

  const recorder = yield* record(page)
  const calls = yield* Effect.fork(pacedCalls(token))
  const end = performance.now() + seconds * 1000
  yield* Effect.promise(async () => {
    const text = "/data-access/1"
    while (performance.now() < end) {
      await page.getByLabel("Filter").focus()
      for (const letter of text) await page.keyboard.press(letter)
      for (let letter = 0; letter < text.length; letter++) await page.keyboard.press("Backspace")
      await page.mouse.move(300, 500)
      for (let step = 0; step < 10; step++) await page.mouse.wheel(0, step % 2 === 0 ? 2000 : -1000)
    }
  })
  yield* calls.await
  yield* Effect.promise(() =>
    page.locator("#requests").getByText(`/data-access/${seconds * perSecond - 1}`, { exact: true }).waitFor()
  )
  const { scrolling, typing } = yield* recorder.stop
  const simulatorAfter = process.memoryUsage().rss / 1024 ** 2
  yield* Effect.promise(() => page.waitForTimeout(quietSeconds * 1000))
  const after = yield* Effect.promise(() => heap(session))
  yield* Console.log(JSON.stringify({
    requests: seconds * perSecond,
    typing,
    scrolling,
    heap: { before, after },
    simulator: { before: simulatorBefore, after: simulatorAfter, later: process.memoryUsage().rss / 1024 ** 2 },
    shown: yield* Effect.promise(() => page.locator("#requests > li").count())
  }))
}).pipe(Effect.provide(Layer.merge(layer, simulated)), NodeRuntime.runMain)
