import { Fault, Simulator, SimulatorConsole } from "@credit-data/simulator"
import { assert, describe, layer } from "@effect/vitest"
import axe from "axe-core"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import * as Browser from "../src/browser.ts"
import { call, requestToken } from "../src/client.ts"
import { cable, open, press, shows, showsRows, simulated } from "../src/console.ts"

/** What axe-core finds with its default rules, and whether the page scrolls horizontally or moves. */
const findings = async (page: Page) => {
  const { violations } = await page.evaluate<axe.AxeResults>("axe.run({ resultTypes: ['violations'] })")
  const [isTooWide, isMoving] = await page.evaluate(() => {
    const { clientWidth, scrollWidth } = document.documentElement
    return [scrollWidth > clientWidth, document.getAnimations().length > 0] as const
  })
  return [
    ...violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`),
    ...isTooWide ? ["scrolls horizontally"] : [],
    ...isMoving ? ["moves"] : []
  ]
}

/** Checks a state of the page at three widths, in light and dark colours. */
const check = (page: Page, state: string) =>
  Effect.promise(async () => {
    for (const width of [360, 800, 1400]) {
      await page.setViewportSize({ width, height: 800 })
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme })
        assert.deepStrictEqual(await findings(page), [], `${state}, ${colorScheme}, ${width}`)
      }
    }
  })

const opened = (options: Parameters<typeof open>[0]) =>
  Effect.tap(open(options), (page) => Effect.promise(() => page.evaluate(axe.source)))

/** Requests of every kind: long paths, errors, a fault, a revoked token and fixtures. */
const session = Effect.gen(function*() {
  const { failCalls, revokeTokenById, setFixtures } = yield* Simulator.Simulator
  yield* requestToken("V1")
  const token = yield* requestToken("V2", { scope: "data-access:all furnishment:all serviceplus:all" })
  yield* call(`/data-access/${"long/".repeat(60)}`, token)
  yield* failCalls(Fault.Response({ status: 500 }))
  yield* call("/furnishment/a", token)
  yield* failCalls(Fault.Reset())
  yield* call("/furnishment/a", token)
  yield* revokeTokenById(2)
  yield* call("/data-access/a", token)
  yield* setFixtures([{
    method: "GET",
    path: `/data-access/${"long/".repeat(20)}`,
    query: { page: "2" },
    status: 202,
    headers: {},
    next: [{ status: 200, headers: {} }]
  }])
})

const outage = Effect.gen(function*() {
  const { failCalls, failTokenRequests } = yield* Simulator.Simulator
  yield* failTokenRequests(Fault.Response({ status: 503 }), { times: Infinity })
  yield* failCalls(Fault.Delay({ duration: "5 seconds" }), {
    method: "GET",
    path: `/data-access/${"long/".repeat(20)}`,
    percent: 20,
    times: Infinity
  })
})

describe("the console", () => {
  layer(Browser.layer, { excludeTestServices: true, timeout: "20 seconds" })((it) => {
    it.scoped(
      "has no accessibility violation, no horizontal scroll and no motion in any state",
      () =>
        Effect.gen(function*() {
          const { cut, url } = yield* cable
          const page = yield* opened({ address: url })
          yield* check(page, "empty")
          yield* session
          yield* showsRows(page, "6")
          yield* Effect.promise(async () => {
            await page.locator("#requests button", { hasText: "long" }).click()
            await page.locator("#requests .detail").waitFor()
          })
          yield* check(page, "with requests, and the detail of one")
          yield* Effect.promise(async () => {
            await page.getByRole("button", { name: "Fail this path" }).click()
            // the fields of all kinds of faults at once
            await page.locator("[data-for]").evaluateAll((labels: Array<HTMLElement>) => {
              for (const label of labels) label.hidden = false
            })
          })
          yield* check(page, "with all fields of a fault")
          yield* Effect.promise(() => page.locator("#preset").selectOption("Response"))
          yield* Effect.promise(() => page.getByLabel("Filter").fill("nothing has this"))
          yield* shows(page, "No request matches")
          yield* check(page, "no request matches")
          yield* Effect.promise(() => page.getByRole("button", { name: "Show all requests" }).click())
          yield* outage
          yield* Effect.promise(async () => {
            await page.getByText("Outage: 503 for token requests").waitFor()
            await page.getByLabel("Times").fill("0")
            await page.getByRole("button", { name: "Add fault" }).click()
            await page.getByText("The field times is not valid.").waitFor()
          })
          yield* check(page, "outage, with a refused action")
          yield* press(page, "Clear fixtures")
          yield* Effect.promise(() => page.getByRole("button", { name: "Reset", exact: true }).click())
          yield* check(page, "with the result of an action, and the confirmation")
          yield* Effect.promise(() => page.keyboard.press("Escape"))
          yield* cut
          yield* shows(page, "Disconnected")
          yield* check(page, "disconnected")
        }).pipe(Effect.provide(simulated)),
      180_000
    )

    it.scoped(
      "has no accessibility violation, no counts and no empty list while it connects, and none without a key",
      () =>
        Effect.gen(function*() {
          const { url } = yield* SimulatorConsole.SimulatorConsole
          yield* call("/data-access/a")
          const page = yield* opened({ fragment: "" })
          yield* shows(page, "Read-only. Open the address that the simulator printed.")
          yield* showsRows(page, "1")
          yield* check(page, "without a key")
          yield* Effect.promise(async () => {
            await page.route(new RegExp(`^${url}/api/v1/events`), () => {})
            await page.reload()
            await page.getByText("Connecting", { exact: true }).waitFor()
            await page.evaluate(axe.source)
            assert.strictEqual(await page.locator("#counts").innerText(), "")
            assert.isFalse(await page.getByText("No requests yet").isVisible())
          })
          yield* check(page, "connecting")
        }).pipe(Effect.provide(simulated)),
      90_000
    )

    it.scoped("can be used with the keyboard alone", () =>
      Effect.gen(function*() {
        const { faults, grantedScopes } = yield* Simulator.Simulator
        const page = yield* open()
        const token = yield* requestToken("V2")
        yield* call("/data-access/a", token)
        yield* call("/furnishment/a", token)
        yield* showsRows(page, "3")
        const focused = () =>
          page.evaluate(() => {
            const element = document.activeElement
            if (!(element instanceof HTMLElement) || element === document.body) return ""
            const { outlineStyle } = getComputedStyle(element)
            const label = element.matches("input, select, textarea")
              ? element.getAttribute("name") || element.id || element.getAttribute("value")
              : element.innerText
            return `${label?.replace(/\s+/g, " ")}${outlineStyle === "none" ? " without a ring" : ""}`
          })
        yield* Effect.promise(async () => {
          const reached: Array<string> = []
          for (let step = 0; step < 80; step++) {
            await page.keyboard.press("Tab")
            const name = await focused()
            if (name === "") break
            reached.push(name)
            // the list is one tab stop
            if (name.includes("/furnishment/a")) {
              for (const key of ["End", "Home", "ArrowDown", "Enter"]) await page.keyboard.press(key)
              await page.locator(".detail").waitFor()
            }
            if (name === "Fail this path") {
              await page.keyboard.press("Enter")
              assert.strictEqual(await focused(), "preset")
              await page.keyboard.type("Delay")
            }
            if (name === "fault.duration") await page.keyboard.type("9000")
            if (name === "percent") await page.keyboard.type("50")
            if (name === "unlimited") await page.keyboard.press("Space")
            if (name === "Add fault") await page.keyboard.press("Enter")
            if (name === "furnishment:all") await page.keyboard.press("Space")
          }
          await page.getByText("Outage: Delay 9 s for calls (GET /data-access/a 50 %)").waitFor()
          assert.notInclude(reached.join(), "without a ring")
          const bar = ["Copy variables", "Copy curl", "Reset", "filter", "server", "status", "tag", "Pause"]
          const fault = ["fault.duration", "target", "times", "Only some requests", "method", "path", "headers"]
          const others = ["Revoke all", "Revoke", "seconds", "+24 h", "Rotate secret", "Clear fixtures", "body"]
          for (const name of [...bar, "Fail this path", ...fault, ...others]) assert.include(reached, name)
        })
        assert.deepInclude((yield* faults)[0], { method: "GET", path: "/data-access/a", percent: 50 })
        assert.notInclude(yield* grantedScopes, "furnishment:all")
      }).pipe(Effect.provide(simulated)))
  })
})
