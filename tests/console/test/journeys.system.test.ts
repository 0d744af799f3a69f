import { Fault, Simulator, SimulatorConsole } from "@credit-data/simulator"
import { assert, describe, layer } from "@effect/vitest"
import { Duration, Effect, Redacted } from "effect"
import { execFile } from "node:child_process"
import type { Page, Route } from "playwright-core"
import * as Browser from "../src/browser.ts"
import { call, flood, requestToken } from "../src/client.ts"
import { cable, open, press, rowsOf, shows, showsItem, showsRows, simulated } from "../src/console.ts"

/** Opens a request, and returns what the page shows of it. */
const openDetail = (page: Page, id: number) =>
  Effect.promise(async () => {
    await page.locator(`#requests > li[value="${id}"] > button`).click()
    await page.locator(`#requests > li[value="${id}"] .detail`).waitFor()
    return page.locator(".detail").innerText()
  })

/** Presses a button that copies, and returns what it copied. */
const copied = (page: Page, name: string, report: string) =>
  Effect.promise(async () => {
    await page.locator("#note").evaluate((note) => note.replaceChildren())
    await page.getByRole("button", { name }).click()
    await page.getByText(report, { exact: true }).waitFor()
    return page.evaluate(() => navigator.clipboard.readText())
  })

/** Runs a command asynchronously, because the simulator is in this process. */
const shell = (code: string, variables: Readonly<Record<string, string>>) =>
  Effect.async<string>((resume) => {
    const env = { ...process.env, ...variables }
    execFile("sh", ["-c", code], { env }, (_, stdout) => resume(Effect.succeed(stdout)))
  })

const permissions = ["clipboard-read", "clipboard-write"]

const fixture = { method: "GET", path: "/data-access/consumers/{id}", status: 200, headers: {}, body: { score: 712 } }

describe("a developer", () => {
  layer(Browser.layer, { excludeTestServices: true, timeout: "20 seconds" })((it) => {
    it.scoped(
      "finds a failed call and its token, filters the requests, and sends the call again with curl",
      () =>
        Effect.gen(function*() {
          const { received, revokeTokens, setFixtures } = yield* Simulator.Simulator
          const { url } = yield* SimulatorConsole.SimulatorConsole
          yield* setFixtures([fixture])
          const page = yield* open({ permissions })
          yield* shows(page, "No requests yet")
          const icon = () => page.locator("#icon").getAttribute("href")
          const calm = yield* Effect.promise(icon)

          const token = yield* requestToken("V2")
          yield* requestToken("V1", { client_secret: "mistyped" })
          yield* call("/data-access/consumers/42?full=1&part=[a]{b,c}", token, {
            headers: { "x-note": "it's <b>bold</b>" }
          })
          const markup = "<img src=x onerror=alert(1)>"
          yield* call(`/data-access/${encodeURI(markup)}`, token, { method: "POST", body: `needle ${markup}` })
          yield* revokeTokens
          yield* call("/data-access/consumers/42", token)
          yield* showsRows(page, "5")
          yield* shows(page, "2 token requests, 3 calls")
          const rows = (yield* Effect.promise(() => rowsOf(page).allInnerTexts())).map((row) =>
            row.replace(/\s+/g, " ")
          )
          const time = /^\d\d:\d\d:\d\d/.source
          const patterns = [
            `${time} API GET /data-access/consumers/42 invalid_token T1 401 \\d+ ms$`,
            `${time} API POST /data-access/\\S*img\\S* not_found T1 404 \\d+ ms$`,
            `${time} API GET /data-access/consumers/42\\?full=1&part=\\[a\\]\\{b,c\\} T1 200 \\d+ ms$`,
            `${time} V1 POST /oauth/token invalid_client 401 \\d+ ms$`,
            `${time} V2 POST /oauth2/token T1 200 \\d+ ms$`
          ]
          assert.strictEqual(rows.length, patterns.length)
          for (const [index, pattern] of patterns.entries()) assert.match(rows[index] ?? "", new RegExp(pattern))
          yield* Effect.promise(() => page.waitForFunction(() => document.title.startsWith("3 failed")))
          assert.notStrictEqual(yield* Effect.promise(icon), calm)
          assert.strictEqual(yield* Effect.promise(() => page.locator("#requests > .failed").count()), 3)

          // from the call to its token request, and to another call with the token
          const failed = yield* openDetail(page, 5)
          assert.match(failed, /^Token 1 was revoked\. Request a new one\.[^]*T1\s+was issued by request\s+1/)
          yield* Effect.promise(async () => {
            await page.getByRole("button", { name: "Open request 1" }).click()
            await page.getByText("was issued here and used by 3 calls").waitFor()
            assert.include(await page.locator(".detail").innerText(), "\"access_token\": \"***\"")
            assert.strictEqual(await page.locator("#requests > .related").count(), 4)
            await page.getByRole("button", { name: "Open request 4" }).click()
            await page.getByText(`needle ${markup}`, { exact: true }).waitFor()
            // what a request contains is text
            assert.strictEqual(await page.locator("#requests :is(.path, pre, .url) > *").count(), 0)
            await page.getByRole("button", { name: "Copy as curl" }).focus()
            await page.keyboard.press("Escape")
            await page.locator(".detail").waitFor({ state: "detached" })
            assert.notInclude(page.url(), "open=")
          })

          // filters, which a reload keeps
          const select = (name: string, option: string) =>
            Effect.promise(() => page.getByRole("combobox", { name, exact: true }).selectOption(option))
          yield* select("Status", "4xx")
          yield* showsRows(page, "3 of 5")
          yield* select("Tag", "invalid_client")
          yield* showsRows(page, "1 of 5")
          yield* select("Tag", "invalid_token")
          yield* select("Server", "API")
          yield* Effect.promise(() => page.getByLabel("Filter").fill("consumers/42"))
          yield* openDetail(page, 5)
          const address = `${url}/?filter=consumers%2F42&open=5&server=API&status=4&tag=invalid_token`
          const reported: Array<string> = []
          yield* Effect.promise(async () => {
            await page.waitForURL(address)
            page.on("console", (message) => reported.push(message.text()))
            await page.reload()
            await page.locator("#requests > li[value='5'] .detail").waitFor()
          })
          yield* showsRows(page, "1 of 5")
          assert.deepStrictEqual(reported, [])
          yield* select("Tag", "All tags")
          yield* select("Status", "All statuses")
          yield* showsRows(page, "2 of 5")
          yield* Effect.promise(() => page.getByLabel("Filter").fill("NEEDLE"))
          yield* showsRows(page, "1 of 5")
          yield* Effect.promise(() => page.getByLabel("Filter").fill("nothing has this"))
          yield* Effect.promise(() => page.getByRole("button", { name: "Show all requests" }).click())
          yield* showsRows(page, "5")
          yield* Effect.promise(() => page.waitForURL(`${url}/?open=5`))

          yield* openDetail(page, 3)
          const command = yield* copied(page, "Copy as curl", "Copied. Set the variables in it.")
          assert.notInclude(command, token)
          // all users of the machine can see the arguments of curl
          assert.notInclude(command.split(" | curl ")[1] ?? "$", "$")
          const fresh = yield* requestToken("V2")
          assert.match(yield* shell(`${command} --silent`, { TOKEN: fresh }), /^HTTP\/1.1 200 OK[^]*\{"score":712\}$/)
          const copy = (yield* received).at(-1)
          assert.deepStrictEqual([copy?.url, copy?.headers["x-note"]], [
            "/data-access/consumers/42?full=1&part=[a]{b,c}",
            "it's <b>bold</b>"
          ])

          yield* Effect.promise(() => page.getByRole("button", { name: "Pause" }).click())
          yield* call("/data-access/later")
          yield* Effect.promise(() => page.getByRole("button", { name: "Resume (1)" }).click())
          yield* showsRows(page, "8")
          yield* flood(1100)
          yield* showsRows(page, "1000")
          yield* Effect.promise(async () => {
            await rowsOf(page).getByText("/data-access/1099", { exact: true }).waitFor()
            const ids = await page.locator("#requests > li").evaluateAll((rows: Array<HTMLLIElement>) =>
              rows.map(({ value }) => value)
            )
            assert.deepStrictEqual(ids, Array.from({ length: 1000 }, (_, index) => 1108 - index))
          })
          yield* call("/data-access/long", undefined, { method: "POST", body: "a".repeat(100_000) })
          yield* Effect.promise(() => rowsOf(page).getByText("/data-access/long").waitFor())
          assert.include(yield* openDetail(page, 1109), "Cut: the body has 100000 bytes.")
        }).pipe(Effect.provide(simulated)),
      120_000
    )

    it.scoped(
      "makes requests fail in each way, for all requests or for those with a path, and ends an outage",
      () =>
        Effect.gen(function*() {
          const { clearFaults, faults } = yield* Simulator.Simulator
          const page = yield* open()
          const form = page.locator("#fault")
          const json = { "content-type": "application/json" }
          const later = { "retry-after": "2" }
          const bytes = "HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{"
          const kinds: ReadonlyArray<
            readonly [name: string, fields: Readonly<Record<string, string>>, fault: Fault.Fault]
          > = [
            ["503 with Retry-After", {}, Fault.Response({ status: 503, headers: later, body: "" })],
            ["429 with Retry-After", {}, Fault.Response({ status: 429, headers: later, body: "" })],
            [
              "401 invalid_client",
              {},
              Fault.Response({ status: 401, headers: json, body: "{\"error\":\"invalid_client\"}" })
            ],
            ["Malformed JSON", {}, Fault.Response({ status: 200, headers: json, body: "{" })],
            ["Cut body", {}, Fault.Bytes({ bytes, ending: "End" })],
            ["Silence", {}, Fault.Silence()],
            ["Reset", {}, Fault.Reset()],
            ["Delay", { duration: "7000" }, Fault.Delay({ duration: 7000 })],
            [
              "Response",
              { status: "418", headers: "x-a: 1\nx-b: c:d", body: "teapot" },
              Fault.Response({ status: 418, headers: { "x-a": "1", "x-b": "c:d" }, body: "teapot" })
            ],
            ["Bytes", { bytes: bytes.replaceAll("\r", ""), ending: "Hang" }, Fault.Bytes({ bytes, ending: "Hang" })],
            ["Drip", { bytes: "", every: "3" }, Fault.Drip({ bytes: "", every: 3 })],
            ["Endless", { bytes: "{" }, Fault.Endless({ bytes: "{" })]
          ]
          const options = yield* Effect.promise(() => page.locator("#preset > option").allInnerTexts())
          assert.deepStrictEqual(options, kinds.map(([name]) => name))
          for (const [name, fields, fault] of kinds) {
            yield* Effect.promise(async () => {
              await page.locator("#preset").selectOption(name)
              for (const [name, value] of Object.entries(fields)) {
                const field = form.locator(`[name='fault.${name}']`)
                if (name === "ending") await field.selectOption(value)
                else await field.fill(value)
              }
            })
            yield* press(page, "Add fault")
            assert.deepStrictEqual(yield* faults, [{
              id: (yield* faults)[0]?.id ?? 0,
              target: "TokenRequests",
              fault,
              remaining: 1
            }], name)
            yield* clearFaults
          }

          const token = yield* requestToken("V2")
          yield* call("/data-access/a?b=c", token, { method: "POST" })
          yield* showsRows(page, "2")
          yield* openDetail(page, 2)
          yield* Effect.promise(async () => {
            await page.getByRole("button", { name: "Fail this path" }).click()
            assert.isTrue(await page.locator("#preset").evaluate((element) => element === document.activeElement))
            await page.locator("#preset").selectOption("Response")
            await form.getByLabel("With headers").fill("X-Replica: canary")
            await form.getByLabel("Per cent").fill("100")
            await form.getByLabel("Times").fill("2")
          })
          yield* press(page, "Add fault")
          yield* showsItem(page, "418 for calls (POST /data-access/a X-Replica 100 %)")
          const replica = { method: "POST", headers: { "x-replica": "canary" } }
          assert.strictEqual((yield* call("/data-access/b", token, replica)).status, 200)
          assert.strictEqual((yield* call("/data-access/a", token, { method: "POST" })).status, 200)
          const remove = "Remove 418 for calls (POST /data-access/a X-Replica 100 %)"
          yield* Effect.promise(() => page.getByRole("button", { name: remove }).focus())
          assert.deepInclude(yield* call("/data-access/a", token, replica), { status: 418, body: "teapot" })
          yield* shows(page, "1 left")
          // the list was written again
          assert.strictEqual(yield* Effect.promise(() => page.locator(":focus").getAttribute("aria-label")), remove)
          yield* Effect.promise(() => page.getByLabel("Tag", { exact: true }).selectOption("Fault: Response"))
          yield* showsRows(page, "1 of 5")
          assert.match(yield* openDetail(page, 5), /^The fault Response was applied\./)

          // a field that is not valid gets the focus
          yield* Effect.promise(async () => {
            const refused = [["Per cent", "101", "percent"], ["With headers", "a b: c", "headers"]] as const
            for (const [label, value, field] of refused) {
              await form.getByLabel(label).fill(value)
              await form.getByRole("button").click()
              await page.getByText(`The field ${field} is not valid.`, { exact: true }).waitFor()
              assert.isTrue(await form.getByLabel(label).evaluate((element) => element === document.activeElement))
              await form.getByLabel(label).fill("")
            }
            await form.getByLabel("Until cleared").check()
          })
          yield* press(page, "Add fault")
          yield* shows(page, "Outage: 418 for calls (POST /data-access/a)")
          yield* press(page, remove)
          assert.deepStrictEqual((yield* faults).map(({ remaining }) => remaining), [Infinity])
          yield* press(page, "End outage")
          yield* Effect.promise(() => page.locator("#outage").waitFor({ state: "hidden" }))
          assert.isTrue(
            yield* Effect.promise(() =>
              page.locator("#preset").evaluate((element) => element === document.activeElement)
            )
          )
          assert.deepStrictEqual(yield* faults, [])

          // no result of an earlier action while the next one is under way
          yield* press(page, "Add fault")
          const held = new Promise<Route>((hold) => void page.route("**/api/v1/faults", hold))
          yield* Effect.promise(async () => {
            await page.getByRole("button", { name: "Add fault", exact: true }).click()
            await page.getByText("Add fault: done.", { exact: true }).waitFor({ state: "detached" })
            await (await held).continue()
          })
          yield* shows(page, "Add fault: done.")
        }).pipe(Effect.provide(simulated)),
      120_000
    )

    it.scoped(
      "gets the variables, changes tokens, scopes, clock and API, loses the connection, and resets",
      () =>
        Effect.gen(function*() {
          const simulator = yield* Simulator.Simulator
          const { key } = yield* SimulatorConsole.SimulatorConsole
          const { cut, mend, url } = yield* cable
          const page = yield* open({ address: url, fragment: "key=of-an-earlier-start", permissions })
          const rotate = page.getByRole("button", { name: "Rotate secret" })
          yield* shows(page, "Read-only. Open the address that the simulator printed.")
          assert.isTrue(yield* Effect.promise(() => rotate.isDisabled()))
          yield* Effect.promise(() => page.goto(`${url}/#key=${Redacted.value(key)}`))
          yield* Effect.promise(() => page.locator("#locked").waitFor({ state: "hidden" }))
          assert.strictEqual(page.url(), `${url}/`)
          yield* Effect.promise(() => page.reload())

          const variables = yield* Simulator.variables
          const secret = variables["CREDIT_DATA_CLIENT_SECRET"] ?? ""
          const report = "Copied with the client secret."
          assert.strictEqual(
            yield* copied(page, "Copy variables", report),
            Object.entries(variables).map(([name, value]) => `export ${name}='${value}'`).join("\n")
          )
          const command = yield* copied(page, "Copy curl", report)
          // the secret is no argument of curl
          assert.match(command, /^printf %s '.+' \| curl '.+' -d @-$/)
          assert.include(yield* shell(`${command} --silent`, {}), "access_token")
          const html = yield* Effect.promise(() => page.evaluate(() => document.documentElement.outerHTML))
          assert.notInclude(html, secret)

          const path = "/data-access/consumers/42"
          const tokens = [yield* requestToken("V1"), yield* requestToken("V2")]
          const statuses = Effect.forEach(tokens, (token) => Effect.map(call(path, token), ({ status }) => status))
          yield* press(page, "Revoke token 2")
          yield* shows(page, "revoked")
          assert.deepStrictEqual(yield* statuses, [401, 200])
          yield* Effect.promise(() => page.getByPlaceholder("Seconds").fill("43200"))
          yield* press(page, "Advance")
          yield* shows(page, "12 h left")
          yield* press(page, "+1 min")
          yield* press(page, "+1 h")
          assert.strictEqual(Duration.toMinutes(yield* simulator.advanced), 13 * 60 + 1)
          yield* press(page, "Revoke all")
          assert.deepStrictEqual(yield* statuses, [401, 401])
          yield* Effect.promise(async () => {
            const posted = page.waitForResponse("**/api/v1/scopes")
            await page.getByLabel("furnishment:all").uncheck()
            await posted
          })
          assert.deepStrictEqual(yield* simulator.grantedScopes, ["data-access:all", "serviceplus:all"])

          // a fixture from a call, and one for a query
          const token = yield* requestToken("V2")
          yield* call("/data-access/a?b=c", token)
          yield* showsRows(page, "9")
          yield* openDetail(page, 9)
          yield* Effect.promise(() => page.getByRole("button", { name: "Make fixture" }).click())
          yield* press(page, "Add fixture")
          const form = page.locator("#fixture")
          yield* Effect.promise(async () => {
            await form.getByLabel("Path and query").fill("/elsewhere")
            await form.getByRole("button").click()
            await page.getByText("The field path must begin with the path of an endpoint group.").waitFor()
            await form.getByLabel("Path and query").fill("/data-access/a?page=2&sort=a+b")
            await form.getByLabel("Body").fill("{secret")
            await form.getByRole("button").click()
            await page.getByText("The field body must be JSON.").waitFor()
            await form.getByLabel("Body").fill("{\"score\": 712}")
          })
          yield* press(page, "Add fixture")
          assert.deepStrictEqual(JSON.parse((yield* call("/data-access/a", token)).body), {
            group: "Data Access",
            method: "GET",
            path: "/data-access/a"
          })
          const called = call("/data-access/a?sort=a%20b&page=2", token)
          assert.strictEqual((yield* called).body, "{\"score\":712}")
          yield* press(page, "Remove GET /data-access/a?page=2&sort=a+b")
          assert.include((yield* called).body, "Data Access")

          yield* cut
          yield* shows(page, "Connection lost. The simulator does not respond. The page connects again by itself.")
          assert.isTrue(yield* Effect.promise(() => rotate.isDisabled()))
          yield* call("/data-access/missed", token)
          yield* simulator.failCalls(Fault.Silence(), { times: Infinity })
          yield* mend
          // it misses nothing, and shows nothing twice
          yield* showsRows(page, "13")
          yield* shows(page, "Outage: Silence for calls")
          yield* press(page, "Rotate secret")
          assert.strictEqual(yield* requestToken("V2", { client_secret: secret }), "")

          yield* Effect.promise(async () => {
            await page.getByRole("button", { name: "Reset", exact: true }).focus()
            await page.keyboard.press("Enter")
            await page.getByRole("dialog").waitFor()
            await page.keyboard.press("Escape")
            await page.getByRole("dialog").waitFor({ state: "hidden" })
            assert.strictEqual(await page.locator(".detail").count(), 1)
          })
          assert.strictEqual((yield* simulator.received).length, 14)
          yield* Effect.promise(async () => {
            await page.keyboard.press("Enter")
            await page.getByRole("button", { name: "Reset the simulator" }).waitFor()
            await page.keyboard.press("Enter")
          })
          yield* shows(page, "No requests yet")
          assert.deepStrictEqual(yield* simulator.received, [])
          assert.strictEqual(yield* Effect.promise(() => page.title()), "Credit-data simulator")

          yield* requestToken("V2")
          yield* Effect.promise(async () => {
            const revoke = page.getByRole("button", { name: "Revoke token" })
            await revoke.evaluate((button) => button.setAttribute("data-post", "tokens/99/revoke"))
            await revoke.click()
            await page.getByText("It no longer exists.").waitFor()
            await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: undefined }))
            await page.getByRole("button", { name: "Copy variables" }).click()
            await page.getByText("The browser blocked the clipboard. Copy what the simulator printed.").waitFor()
          })
        }).pipe(Effect.provide(simulated)),
      120_000
    )
  })
})
