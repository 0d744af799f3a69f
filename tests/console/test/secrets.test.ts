import { Fault, Simulator } from "@credit-data/simulator"
import { browser } from "@credit-data/test-support/programs"
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import * as Browser from "../src/browser.ts"
import { call, requestToken, send } from "../src/client.ts"
import { open, press, simulated } from "../src/console.ts"

describe.skipIf(browser() === undefined)("the console", () => {
  layer(Browser.layer, { excludeTestServices: true, timeout: "20 seconds" })((it) => {
    it.scoped("receives and shows no secret and no token, wherever a request has it", () =>
      Effect.gen(function*() {
        const { credentials, environment, failCalls } = yield* Simulator.Simulator
        const page = yield* open()
        const events: Array<string> = []
        const client = yield* Effect.promise(() => page.context().newCDPSession(page))
        yield* Effect.promise(() => client.send("Network.enable"))
        client.on("Network.eventSourceMessageReceived", ({ data }) => events.push(data))
        const bodies: Array<Promise<string>> = []
        page.on("response", (response) => {
          if (!/\/events$/.test(response.url())) bodies.push(response.text().catch(() => ""))
        })
        yield* Effect.promise(() => page.reload())

        const old = Redacted.value((yield* credentials).clientSecret)
        const tokens = [yield* requestToken("V2"), yield* requestToken("V1")]
        yield* press(page, "Rotate secret")
        const secret = Redacted.value((yield* credentials).clientSecret)
        tokens.push(yield* requestToken("V2"))

        const leaks = [old, secret, ...tokens]
        for (const leak of leaks) {
          yield* call("/data-access/a", leak)
          yield* call(`/data-access/${leak}?secret=${encodeURIComponent(leak)}`, tokens[0])
          yield* call("/data-access/b", undefined, { headers: { "x-secret": leak, "x-note": leak, cookie: `a=${leak}` } })
          const json = JSON.stringify({ client_secret: leak, note: `Bearer ${leak}` })
          yield* call("/furnishment/c", tokens[0], { method: "POST", body: json })
          const url = `${environment.authV2Url}/oauth2/token`
          yield* send(url, { method: "POST", headers: { "content-type": "application/json" }, body: json })
          yield* send(url, { method: "POST", body: new URLSearchParams({ [leak]: leak, clientSecret: leak, a: leak }) })
          yield* send(`${url}?client_secret=${leak}`, { method: "POST", body: leak })
          yield* requestToken("V2", { client_secret: leak, scope: leak })
          yield* failCalls(Fault.Answer({ status: 200, body: leak }), { times: 2 })
          yield* call("/data-access/d")
        }
        const { length } = yield* (yield* Simulator.Simulator).received
        yield* Effect.promise(async () => {
          await page.locator("#shown").getByText(String(length), { exact: true }).waitFor()
          await page.evaluate(() => {
            for (const button of document.querySelectorAll<HTMLElement>("#requests button")) button.click()
          })
        })
        const shown = yield* Effect.promise(() =>
          page.evaluate(() =>
            [
              document.documentElement.outerHTML,
              ...Array.from(document.querySelectorAll("input, textarea, select"), (field) => (field as HTMLInputElement).value)
            ].join("\n")
          )
        )
        const received = [...events, ...yield* Effect.promise(() => Promise.all(bodies))].join("\n")
        assert.include(shown, "/data-access/***?secret=***")
        assert.isAbove(events.length, length)
        for (const leak of leaks) {
          for (const form of [leak, encodeURIComponent(leak), Buffer.from(leak).toString("base64").replace(/=+$/, "")]) {
            assert.isFalse(shown.includes(form), `${form} in the page`)
            assert.isFalse(received.includes(form), `${form} in what the browser received`)
          }
        }
      }).pipe(Effect.provide(simulated)))

    it.scoped("copies the secret to the clipboard without showing it", () =>
      Effect.gen(function*() {
        const { credentials } = yield* Simulator.Simulator
        const page = yield* open({ permissions: ["clipboard-read", "clipboard-write"] })
        yield* Effect.promise(async () => {
          await page.getByRole("button", { name: "Copy curl" }).click()
          await page.getByText("Copied, with the client secret.").waitFor()
        })
        const secret = Redacted.value((yield* credentials).clientSecret)
        const html = yield* Effect.promise(() => page.evaluate(() => document.documentElement.outerHTML))
        assert.notInclude(html, secret)
        assert.include(yield* Effect.promise(() => page.evaluate(() => navigator.clipboard.readText())), secret)
      }).pipe(Effect.provide(simulated)))
  })
})
