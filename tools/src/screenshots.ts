// Writes the pictures of the console for its documentation: a believable session in the real page.

import { SimulatorConsole, Fault, Simulator } from "@credit-data/simulator"
import { NodeRuntime } from "@effect/platform-node"
import { Effect, Layer, Redacted } from "effect"
import { fileURLToPath } from "node:url"
import { Browser, layer } from "../../tests/console/src/browser.ts"
import { call, requestToken } from "../../tests/console/src/client.ts"

const folder = fileURLToPath(new URL("../../packages/simulator/screenshots/", import.meta.url))

const post = (body: unknown): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body)
})

const session = Effect.gen(function*() {
  const simulator = yield* Simulator.Simulator
  yield* simulator.setFixtures([
    { method: "GET", path: "/data-access/consumers/{id}", status: 200, headers: {}, body: { score: 712 } },
    { method: "GET", path: "/data-access/consumers/{id}/tradelines", status: 200, headers: {}, body: [] },
    { method: "POST", path: "/furnishment/tradelines", status: 202, headers: {}, body: { accepted: 3 } },
    { method: "GET", path: "/enablement-services/alerts", status: 200, headers: {}, body: [] }
  ])
  yield* requestToken("V2", { client_secret: "mistyped" })
  const legacy = yield* requestToken("V1")
  yield* call("/data-access/consumers/42", legacy)
  const first = yield* requestToken("V2")
  yield* call("/data-access/consumers/42", first)
  yield* call("/data-access/consumers/42/tradelines", first)
  yield* call("/enablement-services/alerts", first)
  yield* simulator.failCalls(Fault.Delay({ duration: "240 millis" }))
  yield* call("/data-access/consumers/1187", first)
  yield* call("/furnishment/tradelines", first, post([{ consumer: 42, balance: 1250 }]))
  yield* simulator.revokeTokenById(2)
  yield* call("/data-access/consumers/1187", first)
  yield* simulator.advanceClock("10 hours")
  const second = yield* requestToken("V2", { scope: "data-access:all furnishment:all serviceplus:all" })
  yield* call("/data-access/consumers/1187", second)
  yield* call("/enablement-services/alerts?since=2026-11-01", second)
  yield* simulator.failCalls(Fault.Reset())
  yield* call("/data-access/consumers/2093", second)
  yield* call("/data-access/consumers/2093", second)
  yield* call("/data-access/consumer/2093", second)
  yield* simulator.failTokenRequests(Fault.Response({ status: 429, headers: { "retry-after": "2" } }))
  yield* requestToken("V2")
  yield* requestToken("V2")
  yield* call(
    "/furnishment/tradelines",
    second,
    post([{ consumer: 1187, balance: 310 }, { consumer: 2093, balance: 80 }])
  )
  yield* call("/data-access/consumers/77/tradelines", second)
  yield* call("/enablement-services/alerts", second)
})

const outage = Effect.gen(function*() {
  const { failTokenRequests } = yield* Simulator.Simulator
  yield* failTokenRequests(Fault.Response({ status: 503, headers: { "retry-after": "2" } }), { times: Infinity })
  for (let attempt = 0; attempt < 3; attempt++) yield* requestToken("V2")
})

const take = (name: string, colorScheme: "light" | "dark", width: number, height: number) =>
  Effect.gen(function*() {
    const browser = yield* Browser
    const { key, url } = yield* SimulatorConsole.SimulatorConsole
    const { received } = yield* Simulator.Simulator
    const newest = (yield* received).length
    yield* Effect.promise(async () => {
      const page = await browser.newPage({ colorScheme, viewport: { width, height }, deviceScaleFactor: 1 })
      await page.goto(`${url}/#key=${Redacted.value(key)}`)
      await page.getByText(String(newest), { exact: true }).first().waitFor()
      if (name === "light") await page.getByRole("button", { name: "/furnishment/tradelines" }).first().click()
      await page.screenshot({ path: `${folder}${name}.png` })
      await page.close()
    })
  })

Effect.gen(function*() {
  yield* session
  yield* take("light", "light", 1360, 800)
  yield* take("dark", "dark", 1360, 800)
  yield* outage
  yield* take("outage", "light", 1360, 800)
  yield* take("narrow", "dark", 390, 844)
}).pipe(
  Effect.provide(Layer.merge(layer, SimulatorConsole.layer().pipe(Layer.provideMerge(Simulator.layer())))),
  NodeRuntime.runMain
)
