import { SimulatorConsole, Fault, Simulator } from "@credit-data/simulator"
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { execFile } from "node:child_process"
import type { Page } from "playwright-core"
import * as Browser from "../src/browser.ts"
import { call, requestToken } from "../src/client.ts"
import { open, press, rowsOf, shows, showsRows, simulated } from "../src/console.ts"

/** Opens a request, and returns what the page shows of it. */
const openDetail = (page: Page, id: number) =>
  Effect.promise(async () => {
    await page.locator(`#requests > li[value="${id}"] > button`).click()
    await page.locator(`#requests > li[value="${id}"] .detail`).waitFor()
    return page.locator(".detail").innerText()
  })

const fixture = { method: "GET", path: "/data-access/consumers/{id}", status: 200, headers: {}, body: { score: 712 } }

describe("an open request", () => {
  layer(Browser.layer, { excludeTestServices: true, timeout: "20 seconds" })((it) => {
    it.scoped("shows the status, the headers and the formatted body of its response", () =>
      Effect.gen(function*() {
        const { setFixtures } = yield* Simulator.Simulator
        yield* setFixtures([fixture])
        const page = yield* open()
        yield* call("/data-access/consumers/42", yield* requestToken("V2"))
        yield* showsRows(page, "2")
        const text = yield* openDetail(page, 2)
        assert.match(text, /Response 200\s+content-type: application\/json[^]*\{\n {2}"score": 712\n\}/)
        const granted = yield* openDetail(page, 1)
        assert.include(granted, "\"access_token\": \"***\"")
        assert.strictEqual(yield* Effect.promise(() => page.locator(".detail").count()), 1)
      }).pipe(Effect.provide(simulated)))

    it.scoped("closes with Escape, wherever the focus is, but not from a field or a dialog", () =>
      Effect.gen(function*() {
        const page = yield* open()
        yield* call("/data-access/a")
        yield* showsRows(page, "1")
        const detail = page.locator(".detail")
        yield* openDetail(page, 1)
        yield* Effect.promise(async () => {
          await detail.getByRole("button", { name: "Copy as curl" }).focus()
          await page.keyboard.press("Escape")
          await detail.waitFor({ state: "detached" })
          assert.isTrue(await page.locator("#requests > li > button").evaluate((row) => row === document.activeElement))
          assert.notInclude(page.url(), "open=")
        })
        yield* openDetail(page, 1)
        yield* Effect.promise(async () => {
          await page.getByLabel("Filter").fill("data-access")
          await page.keyboard.press("Escape")
          await page.getByRole("button", { name: "Reset", exact: true }).click()
          await page.getByRole("dialog").waitFor()
          await page.keyboard.press("Escape")
          await page.getByRole("dialog").waitFor({ state: "hidden" })
          assert.strictEqual(await detail.count(), 1)
          await page.getByRole("heading", { name: "Credit-data simulator" }).click()
          await page.keyboard.press("Escape")
          await detail.waitFor({ state: "detached" })
        })
      }).pipe(Effect.provide(simulated)))

    it.scoped("scrolls with the page on a narrow screen", () =>
      Effect.gen(function*() {
        const page = yield* open({ width: 360 })
        yield* Effect.forEach(Array.from({ length: 30 }), () => call("/data-access/a"))
        const body = JSON.stringify(Array.from({ length: 200 }, (_, id) => ({ id })))
        yield* call("/data-access/a", undefined, { method: "POST", body })
        yield* showsRows(page, "31")
        const innerScrolls = () =>
          page.locator("#requests, #requests *").evaluateAll((all) =>
            all.filter((element) =>
              element.scrollHeight > element.clientHeight + 1 &&
              ["auto", "scroll"].includes(getComputedStyle(element).overflowY)
            ).length
          )
        assert.strictEqual(yield* Effect.promise(innerScrolls), 1)
        yield* openDetail(page, 31)
        assert.strictEqual(yield* Effect.promise(innerScrolls), 0)
      }).pipe(Effect.provide(simulated)))

    it.scoped("has a tint if it failed, under the pointer too", () =>
      Effect.gen(function*() {
        const page = yield* open()
        yield* requestToken("V2")
        yield* call("/data-access/a")
        yield* showsRows(page, "2")
        const colour = (id: number) =>
          Effect.promise(async () => {
            const row = page.locator(`#requests > li[value="${id}"]`)
            await row.hover()
            const { x, y } = await row.boundingBox() ?? { x: 0, y: 0 }
            return (await page.screenshot({ clip: { x: x + 6, y: y + 6, width: 4, height: 4 } })).toString("base64")
          })
        assert.notStrictEqual(yield* colour(2), yield* colour(1))
      }).pipe(Effect.provide(simulated)))

    it.scoped("shows why it got 404, 401 or 403, or no response", () =>
      Effect.gen(function*() {
        const { failCalls, revokeTokens, setFixtures } = yield* Simulator.Simulator
        yield* setFixtures([fixture])
        const page = yield* open()
        const token = yield* requestToken("V2")
        yield* call("/data-access/consumer/42", token)
        yield* call("/enablement-services/alerts", token)
        yield* call("/data-access/consumers/42")
        yield* revokeTokens
        yield* call("/data-access/consumers/42", token)
        yield* failCalls(Fault.Reset())
        yield* call("/data-access/consumers/42", token)
        yield* showsRows(page, "6")
        const reasons = [
          "No fixture for GET /data-access/consumer/42; nearest: GET /data-access/consumers/{id}, " +
          "which has \"consumers\" instead of \"consumer\".",
          "Enablement Services needs the scope serviceplus:all. Token 1 has data-access:all furnishment:all. The token was requested without it: add it to CREDIT_DATA_SCOPES, and request a new token.",
          "The call has no Authorization header. Send \"Authorization: Bearer\" with a token.",
          "Token 1 was revoked. Request a new one.",
          "The fault Reset was applied."
        ]
        for (const [index, reason] of reasons.entries()) {
          assert.isTrue((yield* openDetail(page, index + 2)).startsWith(reason), reason)
        }
      }).pipe(Effect.provide(simulated)))

    it.scoped("leads from a call to its token request, and back to all calls with the token", () =>
      Effect.gen(function*() {
        const page = yield* open()
        const [first, second] = [yield* requestToken("V2"), yield* requestToken("V2")]
        yield* call("/data-access/a", first)
        yield* call("/data-access/b", second)
        yield* call("/data-access/c", first)
        yield* showsRows(page, "5")
        assert.match(yield* openDetail(page, 3), /T1\s+was issued by request\s+1/)
        const related = () =>
          page.locator("#requests > .related").evaluateAll((rows) =>
            rows.map((row) => Number(row.getAttribute("value")))
          )
        assert.deepStrictEqual(yield* Effect.promise(related), [5, 3, 1])
        yield* Effect.promise(() => page.getByRole("button", { name: "Open request 1" }).click())
        yield* Effect.promise(() => page.getByText("was issued here and used by 2 calls").waitFor())
        yield* Effect.promise(() => page.getByRole("button", { name: "Open request 5" }).click())
        yield* Effect.promise(() => page.locator("#requests > li[value='5'] .detail").waitFor())
        assert.include(yield* Effect.promise(() => page.locator(":focus").innerText()), "/data-access/c")
      }).pipe(Effect.provide(simulated)))

    it.scoped("shows the beginning of a long body, and its size", () =>
      Effect.gen(function*() {
        const page = yield* open()
        yield* call("/data-access/a", undefined, { method: "POST", body: "a".repeat(100_000) })
        yield* showsRows(page, "1")
        assert.include(yield* openDetail(page, 1), "Cut: the body has 100000 bytes.")
      }).pipe(Effect.provide(simulated)))

    it.scoped("is copied as a command of curl that works with the variables, and its bodies are copied", () =>
      Effect.gen(function*() {
        const { received, setFixtures } = yield* Simulator.Simulator
        yield* setFixtures([{ ...fixture, method: "POST" }])
        const page = yield* open({ permissions: ["clipboard-read", "clipboard-write"] })
        const token = yield* requestToken("V2")
        yield* call("/data-access/consumers/42", token, {
          method: "POST",
          headers: { "x-note": "it's", "content-type": "application/json" },
          body: "{\"a\": \"it's\"}"
        })
        yield* showsRows(page, "2")
        const copied = (name: string, report: string) =>
          Effect.promise(async () => {
            await page.getByRole("button", { name }).click()
            await page.getByText(report, { exact: true }).waitFor()
            return page.evaluate(() => navigator.clipboard.readText())
          })
        const variables = yield* Simulator.variables
        /** Asynchronous, because the simulator is in this process. */
        const shell = (code: string) =>
          Effect.async<string>((resume) => {
            const env = { ...process.env, ...variables, TOKEN: token }
            execFile("sh", ["-c", `${code} --silent`], { env }, (_, stdout) => resume(Effect.succeed(stdout)))
          })
        /** The arguments of curl name no variable, because all users of the machine can see them. */
        const hasNoSecretArgument = (command: string) => assert.notInclude(command.split(" | curl ")[1] ?? "$", "$")
        yield* openDetail(page, 1)
        const tokenCommand = yield* copied("Copy as curl", "Copied. Set the variables in it.")
        assert.notInclude(tokenCommand, variables["CREDIT_DATA_CLIENT_SECRET"] ?? "")
        hasNoSecretArgument(tokenCommand)
        assert.match(yield* shell(tokenCommand), /^HTTP\/1.1 200 OK[^]*"access_token"/)
        yield* openDetail(page, 2)
        assert.strictEqual(yield* copied("Copy the body of the request", "Copied."), "{\"a\": \"it's\"}")
        assert.strictEqual(yield* copied("Copy the body of the response", "Copied."), "{\"score\":712}")
        const command = yield* copied("Copy as curl", "Copied. Set the variables in it.")
        assert.notInclude(command, token)
        hasNoSecretArgument(command)
        assert.match(yield* shell(command), /^HTTP\/1.1 200 OK[^]*\{"score":712\}$/)
        const [, original, , copy] = yield* received
        assert(original !== undefined && copy !== undefined)
        assert.deepStrictEqual(
          [copy.method, copy.url, copy.headers["x-note"], Redacted.value(copy.body)],
          [original.method, original.url, "it's", Redacted.value(original.body)]
        )
      }).pipe(Effect.provide(simulated)))

    it.scoped("is sent again with a new token, and the new request is open", () =>
      Effect.gen(function*() {
        const { received, revokeTokens } = yield* Simulator.Simulator
        const page = yield* open()
        yield* call("/data-access/a", yield* requestToken("V2"))
        yield* revokeTokens
        yield* showsRows(page, "2")
        yield* openDetail(page, 2)
        yield* Effect.promise(() => page.getByRole("button", { name: "Send again" }).click())
        yield* showsRows(page, "3")
        yield* Effect.promise(() => page.locator("#requests > li[value='3'] .detail").waitFor())
        yield* Effect.promise(() => page.getByText("This is a copy of request").waitFor())
        const [, , again] = yield* received
        assert.strictEqual(again?.outcome._tag === "Responded" && again.outcome.status, 200)
        yield* openDetail(page, 2)
        yield* shows(page, "Sent again as request")
      }).pipe(Effect.provide(simulated)))

    it.scoped("fills the form of a fixture, which responds to the next call", () =>
      Effect.gen(function*() {
        const { setFixtures } = yield* Simulator.Simulator
        const page = yield* open()
        const token = yield* requestToken("V2")
        yield* call("/data-access/a?b=c", token)
        yield* setFixtures([fixture])
        yield* call("/furnishment/tradelines", token, { method: "POST", body: "[]" })
        yield* showsRows(page, "3")
        yield* openDetail(page, 2)
        yield* Effect.promise(() => page.getByRole("button", { name: "Make fixture" }).click())
        const body = page.locator("#fixture").getByLabel("Body")
        const focused = yield* Effect.promise(() => body.evaluate((element) => element === document.activeElement))
        assert.isTrue(focused)
        yield* press(page, "Add fixture")
        const first = yield* call("/data-access/a", token)
        assert.deepStrictEqual(JSON.parse(first.body), { group: "Data Access", method: "GET", path: "/data-access/a" })
        yield* openDetail(page, 3)
        yield* Effect.promise(() => page.getByRole("button", { name: "Make fixture" }).click())
        yield* press(page, "Add fixture")
        assert.deepInclude(yield* call("/furnishment/tradelines", token, { method: "POST" }), {
          status: 200,
          body: "{}"
        })
      }).pipe(Effect.provide(simulated)))

    it.scoped("is in the address of the page, with the filter and the server", () =>
      Effect.gen(function*() {
        const { url } = yield* SimulatorConsole.SimulatorConsole
        const page = yield* open()
        const token = yield* requestToken("V2")
        yield* call("/data-access/a", token)
        yield* call("/furnishment/b", token)
        yield* showsRows(page, "3")
        yield* Effect.promise(() => page.getByLabel("Filter").fill("furnish"))
        yield* Effect.promise(() => page.getByLabel("Server").selectOption("API"))
        yield* showsRows(page, "1 of 3")
        yield* openDetail(page, 3)
        yield* Effect.promise(() => page.waitForURL(`${url}/?filter=furnish&open=3&server=API`))
        yield* Effect.promise(() => page.reload())
        yield* showsRows(page, "1 of 3")
        yield* Effect.promise(() => page.locator("#requests > li[value='3'] .detail").waitFor())
        yield* Effect.promise(() => page.getByRole("button", { name: "Send again" }).click())
        yield* Effect.promise(() => page.waitForURL(`${url}/?filter=furnish&open=4&server=API`))
        yield* Effect.promise(() => page.getByLabel("Filter").fill("nothing has this"))
        yield* shows(page, "No request matches")
        yield* Effect.promise(() => page.getByRole("button", { name: "Show all requests" }).click())
        yield* showsRows(page, "4")
        yield* Effect.promise(() => page.waitForURL(`${url}/?open=4`))
        yield* Effect.promise(() => page.locator("#requests > li[value='4'] > button").click())
        yield* Effect.promise(() => page.waitForURL(`${url}/`))
      }).pipe(Effect.provide(simulated)))

    it.scoped("is found by a text in its bodies, and so are requests that arrive later", () =>
      Effect.gen(function*() {
        const { setFixtures } = yield* Simulator.Simulator
        const page = yield* open()
        const token = yield* requestToken("V2")
        yield* call("/data-access/a", token, { method: "POST", body: "{\"needle\":1}" })
        yield* call("/data-access/b", token)
        yield* showsRows(page, "3")
        yield* Effect.promise(() => page.getByLabel("Filter").fill("NEEDLE"))
        yield* showsRows(page, "1 of 3")
        yield* setFixtures([{ ...fixture, body: { needle: 2 } }])
        yield* call("/data-access/consumers/1", token)
        yield* showsRows(page, "2 of 4")
      }).pipe(Effect.provide(simulated)))

    it.scoped("has tinted its row, the icon and the title of the page if it failed", () =>
      Effect.gen(function*() {
        const { reset } = yield* Simulator.Simulator
        const page = yield* open()
        const icon = () => page.locator("#icon").getAttribute("href")
        const state = Effect.promise(async () => [await page.title(), await icon()] as const)
        yield* shows(page, "No requests yet")
        const [title, calm] = yield* state
        assert.strictEqual(title, "Credit-data simulator")
        yield* call("/data-access/a")
        yield* Effect.promise(() => page.waitForFunction(() => document.title.startsWith("1 failed")))
        const [, red] = yield* state
        assert.match(red ?? "", /^data:image\/png;base64,/)
        assert.notStrictEqual(red, calm)
        assert.strictEqual(
          yield* Effect.promise(() => rowsOf(page).locator("xpath=..").first().getAttribute("class")),
          "failed"
        )
        yield* reset
        yield* shows(page, "No requests yet")
        assert.deepStrictEqual(yield* state, [title, calm])
      }).pipe(Effect.provide(simulated)))
  })
})
