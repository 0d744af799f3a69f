import { Simulator } from "@credit-data/simulator"
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as Browser from "../src/browser.ts"
import { burst } from "../src/burst.ts"
import { call, requestToken } from "../src/client.ts"
import { open, rowsOf, shows, showsRows, simulated } from "../src/console.ts"

const textsOf = (rows: ReturnType<typeof rowsOf>) => Effect.promise(() => rows.allInnerTexts())

describe("the list of requests", () => {
  layer(Browser.layer, { excludeTestServices: true, timeout: "20 seconds" })((it) => {
    it.scoped("shows each request with its server, method, path, status and time, the newest first", () =>
      Effect.gen(function*() {
        const { awaitReceived } = yield* Simulator.Simulator
        const page = yield* open()
        yield* shows(page, "No requests yet")
        const token = yield* requestToken("V2")
        yield* requestToken("V1", { client_secret: "mistyped" })
        yield* call("/data-access/consumers/42?full=1", token)
        yield* awaitReceived("Api", 1)
        yield* showsRows(page, "3")
        yield* Effect.promise(() => rowsOf(page).first().getByText("200").waitFor())
        const texts = (yield* textsOf(rowsOf(page))).map((text) => text.replace(/\s+/g, " "))
        assert.match(texts[0] ?? "", /^\d\d:\d\d:\d\d API GET \/data-access\/consumers\/42\?full=1 T1 200 \d+ ms$/)
        assert.match(texts[1] ?? "", /V1 POST \/oauth\/token invalid_client 401 \d+ ms$/)
        assert.match(texts[2] ?? "", /V2 POST \/oauth2\/token T1 200 \d+ ms$/)
        yield* shows(page, "2 token requests, 1 call")
      }).pipe(Effect.provide(simulated)))

    it.scoped("opens a request and closes it, by mouse and by keyboard", () =>
      Effect.gen(function*() {
        const page = yield* open()
        const token = yield* requestToken("V2")
        yield* call("/data-access/a", token, { method: "POST", headers: { "x-trace": "7" }, body: "{\"a\": 1}" })
        yield* call("/data-access/b", token)
        yield* showsRows(page, "3")
        const detail = page.locator("#requests .detail")
        yield* Effect.promise(async () => {
          await page.getByRole("button", { name: "/data-access/a" }).click()
          await detail.getByText("x-trace: 7").waitFor()
          const text = await detail.innerText()
          assert.match(
            text,
            /T1\s+was issued by request\s+1[^]*\/data-access\/a[^]*Request[^]*\{\s+"a": 1\s+\}[^]*Response 200/
          )
          await page.keyboard.press("ArrowUp")
          assert.include(await page.locator(":focus").innerText(), "/data-access/b")
          await page.keyboard.press("End")
          assert.include(await page.locator(":focus").innerText(), "/oauth2/token")
          await page.keyboard.press("Enter")
          await detail.getByText("grant_type=client_credentials").waitFor()
          assert.strictEqual(await page.locator(":focus").getAttribute("aria-expanded"), "true")
          await page.keyboard.press("Space")
          assert.strictEqual(await detail.count(), 0)
          await page.keyboard.press("Home")
          await page.keyboard.press("ArrowDown")
          assert.include(await page.locator(":focus").innerText(), "/data-access/a")
          await page.keyboard.press("Tab")
          assert.strictEqual(await page.locator("#requests :focus").count(), 0)
        })
      }).pipe(Effect.provide(simulated)))

    it.scoped("filters by text and by server, also what arrives later", () =>
      Effect.gen(function*() {
        const page = yield* open()
        yield* requestToken("V1")
        const token = yield* requestToken("V2")
        yield* call("/data-access/a", token)
        yield* call("/furnishment/b", token)
        yield* showsRows(page, "4")
        yield* Effect.promise(() => page.getByPlaceholder("Filter").fill("OAUTH"))
        yield* showsRows(page, "2 of 4")
        yield* Effect.promise(() => page.getByLabel("Server").selectOption("V1"))
        yield* showsRows(page, "1 of 4")
        assert.include((yield* textsOf(rowsOf(page))).join(), "/oauth/token")
        yield* requestToken("V2")
        yield* requestToken("V1")
        yield* showsRows(page, "2 of 6")
        yield* Effect.promise(() => page.getByLabel("Server").selectOption("API"))
        yield* Effect.promise(() => page.getByPlaceholder("Filter").fill("furnishment"))
        yield* showsRows(page, "1 of 6")
        yield* Effect.promise(() => page.getByPlaceholder("Filter").fill(""))
        yield* Effect.promise(() => page.getByLabel("Server").selectOption("All servers"))
        yield* showsRows(page, "6")
      }).pipe(Effect.provide(simulated)))

    it.scoped("pauses, and then shows what arrived in the meantime", () =>
      Effect.gen(function*() {
        const page = yield* open()
        yield* call("/data-access/a")
        yield* showsRows(page, "1")
        yield* Effect.promise(() => page.getByRole("button", { name: "Pause" }).click())
        yield* call("/data-access/b")
        yield* call("/data-access/c")
        yield* Effect.promise(() => page.getByRole("button", { name: "Resume (2)" }).waitFor())
        assert.strictEqual((yield* textsOf(rowsOf(page))).length, 1)
        yield* Effect.promise(() => page.getByRole("button", { name: "Resume (2)" }).click())
        yield* showsRows(page, "3")
      }).pipe(Effect.provide(simulated)))

    it.scoped("shows markup in a request as text", () =>
      Effect.gen(function*() {
        const page = yield* open()
        const markup = "<img src=x onerror=alert(1)>"
        yield* call(`/data-access/${encodeURI(markup)}`, undefined, {
          method: "POST",
          body: `<script>${markup}</script>`
        })
        yield* call("/data-access/x?<b>bold</b>")
        yield* showsRows(page, "2")
        yield* Effect.promise(async () => {
          await page.getByRole("button", { name: "img" }).click()
          await page.getByText(`<script>${markup}</script>`).waitFor()
        })
        assert.strictEqual(yield* Effect.promise(() => page.locator("#requests :is(img, script, b b)").count()), 0)
        assert.strictEqual(yield* Effect.promise(() => page.locator("#requests :is(.path, pre, .url) > *").count()), 0)
      }).pipe(Effect.provide(simulated)))

    it.scoped("keeps the newest 1 000 of 10 000 requests that arrive at once, and its size on the screen", () =>
      Effect.gen(function*() {
        const page = yield* open()
        yield* showsRows(page, "1000")
        yield* Effect.promise(() => rowsOf(page).getByText("/data-access/10000", { exact: true }).waitFor())
        const { height, ids, pending } = yield* Effect.promise(() =>
          page.evaluate(() => ({
            height: document.querySelector("main")?.getBoundingClientRect().bottom,
            ids: Array.from(document.querySelectorAll<HTMLLIElement>("#requests > li"), ({ value }) => value),
            pending: document.body.innerText.includes("pending")
          }))
        )
        assert.deepStrictEqual(ids, Array.from({ length: 1000 }, (_, index) => 10_000 - index))
        assert.isFalse(pending)
        assert.strictEqual(height, 800)
      }).pipe(Effect.provide(burst(10_000).pipe(Layer.provideMerge(Simulator.layer())))))
  })
})
