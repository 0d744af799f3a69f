import { SimulatorConsole, Fault, Simulator } from "@credit-data/simulator"
import { assert, describe, layer } from "@effect/vitest"
import { Duration, Effect, Redacted } from "effect"
import type { Route } from "playwright-core"
import * as Browser from "../src/browser.ts"
import { call, requestToken, send } from "../src/client.ts"
import { open, press, shows, showsItem, showsRows, simulated } from "../src/console.ts"

const path = "/data-access/consumers/42"

describe("the controls of the console", () => {
  layer(Browser.layer, { excludeTestServices: true, timeout: "20 seconds" })((it) => {
    it.scoped("revoke one token, or all tokens", () =>
      Effect.gen(function*() {
        const page = yield* open()
        const tokens = [yield* requestToken("V2"), yield* requestToken("V1"), yield* requestToken("V2")]
        const statuses = Effect.forEach(tokens, (token) => Effect.map(call(path, token), ({ status }) => status))
        yield* press(page, "Revoke token 1")
        yield* shows(page, "revoked")
        assert.deepStrictEqual(yield* statuses, [401, 200, 200])
        yield* press(page, "Revoke all")
        assert.deepStrictEqual(yield* statuses, [401, 401, 401])
      }).pipe(Effect.provide(simulated)))

    it.scoped("advance the clock, so that tokens expire", () =>
      Effect.gen(function*() {
        const { advanced } = yield* Simulator.Simulator
        const page = yield* open()
        const token = yield* requestToken("V2")
        yield* shows(page, "24 h left")
        yield* Effect.promise(() => page.getByPlaceholder("Seconds").fill("43200"))
        yield* press(page, "Advance")
        assert.strictEqual(Duration.toHours(yield* advanced), 12)
        yield* shows(page, "12 h left")
        const life = yield* Effect.promise(() =>
          page.locator("#tokens .life").evaluate((bar) => parseFloat(getComputedStyle(bar).backgroundSize))
        )
        assert.closeTo(life, 50, 1)
        yield* press(page, "+1 min")
        yield* press(page, "+1 h")
        assert.strictEqual(Duration.toMinutes(yield* advanced), 13 * 60 + 1)
        assert.strictEqual((yield* call(path, token)).status, 200)
        yield* press(page, "+24 h")
        yield* shows(page, "expired")
        assert.strictEqual((yield* call(path, token)).status, 401)
        assert.isFalse(yield* Effect.promise(() => page.getByRole("button", { name: "Revoke token 1" }).isVisible()))
      }).pipe(Effect.provide(simulated)))

    const json = { "content-type": "application/json" }
    const presets = [
      ["503 with Retry-After", { _tag: "Response", status: 503, headers: { "retry-after": "2" }, body: "" }],
      ["429 with Retry-After", { _tag: "Response", status: 429, headers: { "retry-after": "2" }, body: "" }],
      ["401 invalid_client", { _tag: "Response", status: 401, headers: json, body: "{\"error\":\"invalid_client\"}" }],
      ["Malformed JSON", { _tag: "Response", status: 200, headers: json, body: "{" }],
      ["Cut body", { _tag: "Bytes", bytes: "HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{", ending: "End" }],
      ["Silence", { _tag: "Silence" }],
      ["Reset", { _tag: "Reset" }],
      ["Delay", { _tag: "Delay", duration: 7000 }]
    ] as const

    it.scoped("add each prepared fault", () =>
      Effect.gen(function*() {
        const { clearFaults, faults } = yield* Simulator.Simulator
        const page = yield* open()
        for (const [name, fault] of presets) {
          yield* Effect.promise(() => page.getByLabel("Fault").selectOption(name))
          if (name === "Delay") yield* Effect.promise(() => page.getByLabel("Seconds").first().fill("7"))
          yield* press(page, "Add fault")
          const [pending] = yield* faults
          assert.deepInclude(pending, { fault, remaining: 1, target: "TokenRequests" })
          yield* clearFaults
        }
      }).pipe(Effect.provide(simulated)))

    it.scoped("respond to calls with a custom status and body, as often as wanted", () =>
      Effect.gen(function*() {
        const page = yield* open()
        yield* Effect.promise(async () => {
          await page.getByLabel("Fault").selectOption("Custom")
          await page.getByRole("combobox", { name: "For", exact: true }).selectOption("Calls")
          await page.locator("#fault").getByLabel("Status").fill("418")
          await page.locator("#fault").getByRole("textbox").fill("teapot")
          await page.getByLabel("Times").fill("2")
        })
        yield* press(page, "Add fault")
        yield* showsItem(page, "418 for calls")
        yield* shows(page, "2 left")
        assert.deepInclude(yield* call(path), { status: 418, body: "teapot" })
        yield* shows(page, "1 left")
        assert.strictEqual((yield* call(path)).status, 418)
        assert.strictEqual((yield* call(path)).status, 401)
      }).pipe(Effect.provide(simulated)))

    it.scoped("start an outage, show it in a banner, and end it", () =>
      Effect.gen(function*() {
        const { faults } = yield* Simulator.Simulator
        const page = yield* open()
        yield* Effect.promise(() => page.getByLabel("Until cleared").check())
        yield* press(page, "Add fault")
        yield* shows(page, "Outage: 503 for token requests")
        assert.strictEqual((yield* faults)[0]?.remaining, Infinity)
        yield* press(page, "End outage")
        yield* Effect.promise(() => page.locator("#outage").waitFor({ state: "hidden" }))
        assert.deepStrictEqual(yield* faults, [])
        const focused = yield* Effect.promise(() =>
          page.getByLabel("Fault").evaluate((e) => e === document.activeElement)
        )
        assert.isTrue(focused)
        yield* press(page, "Add fault")
        yield* press(page, "Clear faults")
        assert.deepStrictEqual(yield* faults, [])
      }).pipe(Effect.provide(simulated)))

    it.scoped("remove one fault, or one fixture, and keep the focus in the list", () =>
      Effect.gen(function*() {
        const { failCalls, failTokenRequests, faults, fixtures, setFixtures } = yield* Simulator.Simulator
        const page = yield* open()
        yield* failCalls(Fault.Silence())
        yield* failTokenRequests(Fault.Response({ status: 503 }), { times: 3 })
        const one = { method: "GET", path: "/data-access/{id}", status: 200, headers: {}, body: {} }
        yield* setFixtures([one, { ...one, method: "PUT" }])
        yield* showsItem(page, "503 for token requests")
        yield* Effect.promise(() => page.getByRole("button", { name: "Remove 503 for token requests" }).focus())
        yield* requestToken("V2")
        yield* shows(page, "2 left")
        const focused = yield* Effect.promise(() => page.locator(":focus").getAttribute("aria-label"))
        assert.strictEqual(focused, "Remove 503 for token requests")
        yield* press(page, "Remove Silence for calls")
        assert.deepStrictEqual((yield* faults).map(({ target }) => target), ["TokenRequests"])
        yield* press(page, "Remove GET /data-access/{id}")
        assert.deepStrictEqual((yield* fixtures).map(({ method }) => method), ["PUT"])
      }).pipe(Effect.provide(simulated)))

    it.scoped("show the whole text of their choices at 1 280 and 1 440 pixels", () =>
      Effect.gen(function*() {
        for (const width of [1280, 1440]) {
          const page = yield* open({ width })
          const isCut = yield* Effect.promise(() =>
            page.getByRole("combobox", { name: "For", exact: true }).evaluate((select: HTMLSelectElement) => {
              const text = document.createElement("span")
              text.style.position = "absolute"
              text.style.font = getComputedStyle(select).font
              text.textContent = "Token requests"
              document.body.append(text)
              // the padding and the arrow
              return text.getBoundingClientRect().width + 40 > select.clientWidth
            })
          )
          assert.isFalse(isCut, `${width}`)
        }
      }).pipe(Effect.provide(simulated)))

    it.scoped("grant only the chosen scopes", () =>
      Effect.gen(function*() {
        const { grantedScopes, grantScopes } = yield* Simulator.Simulator
        const page = yield* open()
        const posted = page.waitForResponse("**/api/v1/scopes")
        yield* Effect.promise(() => page.getByLabel("furnishment:all").uncheck())
        yield* Effect.promise(() => posted)
        assert.deepStrictEqual(yield* grantedScopes, ["data-access:all", "serviceplus:all"])
        assert.strictEqual((yield* call("/furnishment/a", yield* requestToken("V2"))).status, 403)
        yield* grantScopes(["furnishment:all"])
        yield* Effect.promise(() => page.locator("input[value='furnishment:all']:checked").waitFor())
        assert.isFalse(yield* Effect.promise(() => page.getByLabel("data-access:all").isChecked()))
      }).pipe(Effect.provide(simulated)))

    it.scoped("rotate the secret", () =>
      Effect.gen(function*() {
        const { credentials } = yield* Simulator.Simulator
        const { clientSecret } = yield* credentials
        const page = yield* open()
        yield* press(page, "Rotate secret")
        assert.notStrictEqual(Redacted.value((yield* credentials).clientSecret), Redacted.value(clientSecret))
        assert.strictEqual(yield* requestToken("V2", { client_secret: Redacted.value(clientSecret) }), "")
        yield* shows(page, "invalid_client")
      }).pipe(Effect.provide(simulated)))

    it.scoped("add responses to the API of the user, and remove them", () =>
      Effect.gen(function*() {
        const { fixtures } = yield* Simulator.Simulator
        const page = yield* open()
        const form = page.locator("#fixture")
        const token = yield* requestToken("V2")
        yield* Effect.promise(async () => {
          await form.getByLabel("Method").selectOption("POST")
          await form.getByLabel("Status").fill("201")
          await form.getByLabel("Path").fill("/data-access/reports/{id}")
          await form.getByLabel("Body").fill("{\"score\": 712}")
        })
        yield* press(page, "Add fixture")
        yield* showsItem(page, "POST /data-access/reports/{id}")
        assert.deepInclude(yield* call("/data-access/reports/7", token, { method: "POST" }), {
          status: 201,
          body: "{\"score\":712}"
        })
        yield* press(page, "Clear fixtures")
        assert.deepStrictEqual(yield* fixtures, [])
      }).pipe(Effect.provide(simulated)))

    it.scoped("name the field that is not valid, and move the focus there", () =>
      Effect.gen(function*() {
        const page = yield* open()
        const refused = (form: string, label: string, value: string, field: string) =>
          Effect.promise(async () => {
            const input = page.locator(form).getByLabel(label)
            const valid = await input.inputValue()
            await input.fill(value)
            await page.locator(form).getByRole("button").click()
            await page.getByRole("status").getByText(new RegExp(`^The field ${field} (is not valid|must .*)\\.$`))
              .waitFor()
            assert.isTrue(await input.evaluate((element) => element === document.activeElement))
            await input.fill(valid)
          })
        yield* refused("#fault", "Times", "0", "times")
        yield* refused("#fixture", "Body", "{secret", "body")
        yield* refused("#fixture", "Status", "99", "status")
        yield* refused("#fixture", "Path", "/elsewhere", "path")
        yield* Effect.promise(() => page.getByPlaceholder("Seconds").fill("-1"))
        yield* Effect.promise(() => page.getByRole("button", { name: "Advance" }).click())
        yield* shows(page, "The field seconds is not valid.")
      }).pipe(Effect.provide(simulated)))

    it.scoped("copy the variables, and a command that gets a token", () =>
      Effect.gen(function*() {
        const page = yield* open({ permissions: ["clipboard-read", "clipboard-write"] })
        const copied = (name: string) =>
          Effect.promise(async () => {
            await page.locator("#note").evaluate((note) => note.replaceChildren())
            await page.getByRole("button", { name }).click()
            await page.getByText("Copied with the client secret.").waitFor()
            return page.evaluate(() => navigator.clipboard.readText())
          })
        const variables = yield* Simulator.variables
        const lines = Object.entries(variables).map(([name, value]) => `export ${name}='${value}'`)
        assert.strictEqual(yield* copied("Copy variables"), lines.join("\n"))
        // the secret is no argument of curl
        const command = yield* copied("Copy curl")
        const [, body = "", url = ""] = /^printf %s '(.+)' \| curl '(.+)' -d @-$/.exec(command) ?? []
        const headers = { "content-type": "application/x-www-form-urlencoded" }
        assert.strictEqual((yield* send(url, { method: "POST", headers, body })).status, 200)
      }).pipe(Effect.provide(simulated)))

    it.scoped("report that the clipboard is not available", () =>
      Effect.gen(function*() {
        const page = yield* open()
        yield* Effect.promise(async () => {
          await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: undefined }))
          await page.getByRole("button", { name: "Copy variables" }).click()
        })
        yield* shows(page, "The browser blocked the clipboard. Copy what the simulator printed.")
      }).pipe(Effect.provide(simulated)))

    it.scoped("reset the simulator after a confirmation, by keyboard", () =>
      Effect.gen(function*() {
        const { received, tokenRequests } = yield* Simulator.Simulator
        const page = yield* open()
        const token = yield* requestToken("V2")
        yield* showsRows(page, "1")
        yield* Effect.promise(async () => {
          await page.getByRole("button", { name: "Reset", exact: true }).focus()
          await page.keyboard.press("Enter")
          await page.getByRole("dialog").waitFor()
          await page.keyboard.press("Escape")
          await page.getByRole("dialog").waitFor({ state: "hidden" })
        })
        assert.strictEqual((yield* received).length, 1)
        yield* Effect.promise(async () => {
          await page.keyboard.press("Enter")
          await page.getByRole("button", { name: "Reset the simulator" }).waitFor()
          await page.keyboard.press("Enter")
        })
        yield* shows(page, "No requests yet")
        assert.deepStrictEqual(yield* received, [])
        assert.strictEqual(yield* tokenRequests, 0)
        assert.strictEqual((yield* call(path, token)).status, 401)
      }).pipe(Effect.provide(simulated)))

    it.scoped("show no result of an earlier action while the next one is under way", () =>
      Effect.gen(function*() {
        const page = yield* open()
        const { url } = yield* SimulatorConsole.SimulatorConsole
        yield* press(page, "Add fault")
        const held = new Promise<Route>((hold) => void page.route(`${url}/api/v1/faults`, hold))
        yield* Effect.promise(async () => {
          await page.getByRole("button", { name: "Add fault", exact: true }).click()
          await page.getByText("Add fault: done.", { exact: true }).waitFor({ state: "detached" })
          await (await held).continue()
        })
        yield* shows(page, "Add fault: done.")
      }).pipe(Effect.provide(simulated)))

    it.scoped("report an item that is gone, and a simulator that is gone", () =>
      Effect.gen(function*() {
        const page = yield* open()
        yield* requestToken("V2")
        const revoke = page.getByRole("button", { name: "Revoke token 1" })
        yield* Effect.promise(async () => {
          await revoke.evaluate((button) => button.setAttribute("data-post", "tokens/99/revoke"))
          await revoke.click()
        })
        yield* shows(page, "It no longer exists.")
        const { url } = yield* SimulatorConsole.SimulatorConsole
        yield* Effect.promise(async () => {
          await page.route(`${url}/api/v1/**`, (route) => route.abort())
          await revoke.click()
        })
        yield* shows(page, "The simulator does not respond. Check that it runs.")
      }).pipe(Effect.provide(simulated)))
  })
})
