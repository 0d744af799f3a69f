import { Fault, Simulator } from "@credit-data/simulator"
import { assert, describe, layer } from "@effect/vitest"
import axe from "axe-core"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import * as Browser from "../src/browser.ts"
import { call, requestToken } from "../src/client.ts"
import { cable, open, shows, showsRows, simulated } from "../src/console.ts"

/** What axe-core finds with its default rules. */
const violations = (page: Page) =>
  Effect.promise(async () => {
    await page.evaluate(axe.source)
    const { violations } = await page.evaluate<axe.AxeResults>("axe.run()")
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`)
  })

const isTooWide = (page: Page) =>
  Effect.promise(() =>
    page.evaluate(() => {
      const { clientWidth, scrollWidth } = document.documentElement
      return scrollWidth > clientWidth
    })
  )

/** Requests of every kind: long paths, errors, a fault, a revoked token and a fixture. */
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
    status: 200,
    headers: {},
    body: {}
  }])
})

const outage = Effect.gen(function*() {
  const { failCalls, failTokenRequests } = yield* Simulator.Simulator
  yield* failTokenRequests(Fault.Response({ status: 503 }), { times: Infinity })
  yield* failCalls(Fault.Delay({ duration: "5 seconds" }), { times: Infinity })
  yield* failCalls(Fault.Silence(), { times: 3 })
})

describe("the console", () => {
  layer(Browser.layer, { excludeTestServices: true, timeout: "20 seconds" })((it) => {
    for (const [colorScheme, width] of [["light", 1400], ["dark", 360]] as const) {
      it.scoped(
        `has no accessibility violation in ${colorScheme} colours at a width of ${width}`,
        () =>
          Effect.gen(function*() {
            const page = yield* open({ colorScheme, width })
            assert.deepStrictEqual(yield* violations(page), [], "empty")
            yield* session
            yield* showsRows(page, "6")
            yield* Effect.promise(() => page.getByRole("button", { name: "/furnishment/a" }).first().click())
            assert.deepStrictEqual(yield* violations(page), [], "filled")
            yield* Effect.promise(() => page.locator("#requests .detail").waitFor())
            assert.deepStrictEqual(yield* violations(page), [], "with the detail")
            yield* Effect.promise(() => page.getByLabel("Filter").fill("nothing has this"))
            yield* shows(page, "No request matches")
            assert.deepStrictEqual(yield* violations(page), [], "no request matches")
            yield* Effect.promise(() => page.getByRole("button", { name: "Show all requests" }).click())
            yield* outage
            yield* shows(page, "Outage: 503 for token requests, Delay 5 s for calls")
            yield* Effect.promise(() => page.getByRole("button", { name: "Reset", exact: true }).click())
            assert.deepStrictEqual(yield* violations(page), [], "outage, with the confirmation")
          }).pipe(Effect.provide(simulated)),
        90_000
      )
    }

    it.scoped("has no accessibility violation and no horizontal scroll while it is disconnected", () =>
      Effect.gen(function*() {
        const { cut, url } = yield* cable
        const page = yield* open({ address: url, width: 360 })
        yield* session
        yield* showsRows(page, "6")
        yield* cut
        yield* shows(page, "Disconnected")
        assert.deepStrictEqual(yield* violations(page), [])
        assert.isFalse(yield* isTooWide(page))
      }).pipe(Effect.provide(simulated)))

    it.scoped("has no accessibility violation without a key", () =>
      Effect.gen(function*() {
        const page = yield* open({ fragment: "" })
        yield* shows(page, "Read-only. Open the address that the simulator printed.")
        assert.deepStrictEqual(yield* violations(page), [])
        yield* session
        yield* showsRows(page, "6")
        assert.deepStrictEqual(yield* violations(page), [])
      }).pipe(Effect.provide(simulated)))

    it.scoped("has no horizontal scroll at any width", () =>
      Effect.gen(function*() {
        const page = yield* open()
        const check = Effect.forEach([360, 500, 640, 800, 960, 1100, 1400, 1600], (width) =>
          Effect.gen(function*() {
            yield* Effect.promise(() => page.setViewportSize({ width, height: 800 }))
            assert.isFalse(yield* isTooWide(page), `${width}`)
          }))
        yield* check
        yield* session
        yield* outage
        yield* showsRows(page, "6")
        yield* shows(page, "Outage: 503 for token requests, Delay 5 s for calls")
        yield* Effect.promise(async () => {
          await page.locator("#requests button", { hasText: "long" }).click()
          await page.getByLabel("Fault").selectOption("Custom")
        })
        yield* check
      }).pipe(Effect.provide(simulated)))

    it.scoped("moves nothing, whether motion is reduced or not", () =>
      Effect.gen(function*() {
        for (const reducedMotion of ["reduce", "no-preference"] as const) {
          const page = yield* open({ reducedMotion })
          yield* call("/data-access/a")
          yield* Effect.promise(() => page.locator("#requests > li").first().hover())
          assert.strictEqual(yield* Effect.promise(() => page.evaluate(() => document.getAnimations().length)), 0)
        }
      }).pipe(Effect.provide(simulated)))

    it.scoped("can be used with the keyboard alone", () =>
      Effect.gen(function*() {
        const { faults, grantedScopes } = yield* Simulator.Simulator
        const page = yield* open()
        yield* requestToken("V2")
        yield* showsRows(page, "1")
        const reached = yield* Effect.promise(async () => {
          const names: Array<string> = []
          for (let step = 0; step < 60; step++) {
            await page.keyboard.press("Tab")
            const name = await page.evaluate(() => {
              const element = document.activeElement
              if (!(element instanceof HTMLElement) || element === document.body) return ""
              const { outlineStyle } = getComputedStyle(element)
              const label = element instanceof HTMLInputElement
                ? element.name || element.value || element.id
                : element.innerText
              return `${label}${outlineStyle === "none" ? " without a ring" : ""}`
            })
            if (name === "") break
            names.push(name)
            if (name === "unlimited") await page.keyboard.press("Space")
            if (name === "Add fault") await page.keyboard.press("Enter")
            if (name === "furnishment:all") await page.keyboard.press("Space")
          }
          await page.getByText("Outage: 503 for token requests").waitFor()
          return names
        })
        assert.notInclude(reached.join(), "without a ring")
        const header = ["Copy variables", "Copy curl", "Reset", "filter", "Pause"]
        const controls = ["Clear faults", "times", "Revoke all", "Revoke", "Rotate secret", "Clear fixtures", "path"]
        const clock = ["seconds", "Advance", "+1 min", "+1 h", "+24 h"]
        for (const name of [...header, ...controls, ...clock]) assert.include(reached, name)
        assert.strictEqual((yield* faults)[0]?.remaining, Infinity)
        assert.notInclude(yield* grantedScopes, "furnishment:all")
      }).pipe(Effect.provide(simulated)))
  })
})
