import { SimulatorConsole, Fault, Simulator } from "@credit-data/simulator"
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Exit, Layer, Redacted, Scope } from "effect"
import * as Browser from "../src/browser.ts"
import { cable } from "../src/cable.ts"
import { call, requestToken, send } from "../src/client.ts"
import { open, press, rowsOf, shows, showsRows, simulated } from "../src/console.ts"

const key = Redacted.make("a-key-of-the-test")

/** A simulator and its admin server, which stop separately. */
const start = (port: number, adminPort: number) =>
  Effect.gen(function*() {
    const scope = yield* Scope.make()
    const ports = { Api: port, AuthV1: 0, AuthV2: 0 }
    const context = yield* Layer.buildWithScope(
      SimulatorConsole.layer({ port: adminPort, key }).pipe(Layer.provideMerge(Simulator.layer({ ports }))),
      scope
    )
    return { context, stop: Scope.close(scope, Exit.void) }
  })

const paths = Effect.fnUntraced(function*(page: Parameters<typeof rowsOf>[0]) {
  return yield* Effect.promise(() => page.locator("#requests .path").allInnerTexts())
})

/** The events of a new connection until one with this name. */
const eventsUntil = (name: string, lastEventId?: string) =>
  Effect.flatMap(SimulatorConsole.SimulatorConsole, ({ url }) =>
    Effect.promise(async (signal) => {
      const response = await fetch(`${url}/api/v1/events`, {
        signal,
        headers: lastEventId === undefined ? {} : { "last-event-id": lastEventId }
      })
      let text = ""
      for await (const bytes of response.body ?? []) {
        text += new TextDecoder().decode(bytes)
        if (new RegExp(`event: ${name}\n.*\n\n`).test(text)) break
      }
      return text.replace(/^retry: \d+\n\n/, "").split("\n\n").filter((event) => event !== "")
    }))

describe("the console", () => {
  layer(Browser.layer, { excludeTestServices: true, timeout: "20 seconds" })((it) => {
    it.scoped("misses nothing and shows nothing twice after its connection was lost", () =>
      Effect.gen(function*() {
        const simulator = yield* Simulator.Simulator
        const { cut, mend, url } = yield* cable((yield* SimulatorConsole.SimulatorConsole).url)
        const page = yield* open({ address: url })
        yield* call("/data-access/1")
        yield* showsRows(page, "1")
        yield* cut
        yield* shows(page, "Disconnected")
        yield* shows(page, "Connection lost. The simulator does not respond. The page connects again by itself.")
        const rotate = page.getByRole("button", { name: "Rotate secret" })
        assert.isTrue(yield* Effect.promise(() => rotate.isDisabled()))
        yield* call("/data-access/2")
        yield* requestToken("V2")
        yield* simulator.failCalls({ _tag: "Silence" }, { times: Infinity })
        yield* mend
        yield* showsRows(page, "3")
        yield* shows(page, "Outage: Silence for calls")
        assert.deepStrictEqual(yield* paths(page), ["/oauth2/token", "/data-access/2", "/data-access/1"])
        assert.isFalse(yield* Effect.promise(() => rotate.isDisabled()))
        assert.isFalse(yield* Effect.promise(() => page.locator("#lost").isVisible()))
      }).pipe(Effect.provide(simulated)))

    it.scoped("shows no counts and no empty list before it has the state of the simulator", () =>
      Effect.gen(function*() {
        yield* call("/data-access/1")
        const { url } = yield* SimulatorConsole.SimulatorConsole
        const page = yield* open()
        yield* shows(page, "0 token requests, 1 call")
        yield* Effect.promise(async () => {
          await page.route(new RegExp(`^${url}/api/v1/events`), () => {})
          await page.reload()
          await page.getByText("Connecting", { exact: true }).waitFor()
          assert.strictEqual(await page.locator("header #counts").innerText(), "")
          assert.isFalse(await page.getByText("No requests yet").isVisible())
          assert.isTrue(await page.getByRole("button", { name: "Copy variables" }).isDisabled())
        })
      }).pipe(Effect.provide(simulated)))

    it.scoped("gets a request again whose revision was cut in two by the end of the connection", () =>
      Effect.gen(function*() {
        yield* call("/data-access/1")
        const [, known] = /^id: (.+)$/m.exec((yield* eventsUntil("request")).at(-1) ?? "") ?? []
        assert.isDefined(known)
        // the request that takes a fault changes the settings
        yield* (yield* Simulator.Simulator).failCalls(Fault.Delay({ duration: 0 }))
        yield* call("/data-access/2")
        const [settings, request] = yield* eventsUntil("request", known)
        // a client whose connection ends here knows the first request only
        assert.match(settings ?? "", /^event: state\n/)
        assert.match(request ?? "", /^id: \S+\nevent: request\n.*\/data-access\/2/)
      }).pipe(Effect.provide(simulated)))

    it.scoped("connects again to a simulator that was started again, and forgets what the old one showed", () =>
      Effect.gen(function*() {
        const first = yield* start(0, 0)
        const { admin, page, port } = yield* Effect.gen(function*() {
          const page = yield* open()
          yield* call("/data-access/old")
          yield* requestToken("V2")
          yield* showsRows(page, "2")
          const { url } = yield* SimulatorConsole.SimulatorConsole
          const { environment } = yield* Simulator.Simulator
          return { page, admin: Number(new URL(url).port), port: Number(new URL(environment.baseUrl).port) }
        }).pipe(Effect.provide(first.context))
        yield* first.stop
        yield* shows(page, "Disconnected")
        const second = yield* Effect.acquireRelease(start(port, admin), ({ stop }) => stop)
        yield* Effect.gen(function*() {
          yield* call("/data-access/new")
          yield* shows(page, "Live")
          yield* showsRows(page, "1")
          assert.deepStrictEqual(yield* paths(page), ["/data-access/new"])
          assert.strictEqual(yield* Effect.promise(() => page.locator("#tokens > li").count()), 0)
          yield* press(page, "Clear faults")
        }).pipe(Effect.provide(second.context))
      }))

    it.scoped("takes the key from the address, removes it there, and keeps it for a reload", () =>
      Effect.gen(function*() {
        const { url } = yield* SimulatorConsole.SimulatorConsole
        const page = yield* open()
        assert.strictEqual(page.url(), `${url}/`)
        yield* Effect.promise(() => page.reload())
        yield* press(page, "Clear faults")
        assert.strictEqual(page.url(), `${url}/`)
      }).pipe(Effect.provide(simulated)))

    it.scoped("is read-only without a key, until the address with the key is opened in its tab", () =>
      Effect.gen(function*() {
        const { key, url } = yield* SimulatorConsole.SimulatorConsole
        const page = yield* open({ fragment: "" })
        yield* requestToken("V2")
        yield* showsRows(page, "1")
        yield* shows(page, "Read-only. Open the address that the simulator printed.")
        const buttons = page.locator("button:not(#requests button, #pause, [popover] button):visible")
        const states = yield* Effect.promise(() =>
          buttons.evaluateAll((all) => all.map((each) => each.matches(":disabled")))
        )
        assert.isAtLeast(states.length, 14)
        assert.notInclude(states, false)
        yield* Effect.promise(() => page.goto(`${url}/#key=${Redacted.value(key)}`))
        yield* press(page, "Revoke token 1")
        assert.strictEqual(page.url(), `${url}/`)
      }).pipe(Effect.provide(simulated)))

    it.scoped("is read-only with the key of an earlier start, without an action", () =>
      Effect.gen(function*() {
        const page = yield* open({ fragment: "key=of-an-earlier-start" })
        yield* shows(page, "Read-only. Open the address that the simulator printed.")
        assert.isTrue(yield* Effect.promise(() => page.getByRole("button", { name: "Rotate secret" }).isDisabled()))
      }).pipe(Effect.provide(simulated)))

    it.scoped("receives and shows no secret and no token, wherever a request has it", () =>
      Effect.gen(function*() {
        const { credentials, environment, failCalls, failTokenRequests, resend, setFixtures } = yield* Simulator
          .Simulator
        const page = yield* open()
        const events: Array<string> = []
        const client = yield* Effect.promise(() => page.context().newCDPSession(page))
        yield* Effect.promise(() => client.send("Network.enable"))
        client.on("Network.responseReceived", ({ requestId, response }) => {
          if (response.url.endsWith("/events")) void client.send("Network.streamResourceContent", { requestId })
        })
        client.on("Network.dataReceived", ({ data = "" }) => events.push(Buffer.from(data, "base64").toString()))
        const bodies: Array<Promise<string>> = []
        page.on("response", (response) => {
          if (new URL(response.url()).pathname !== "/api/v1/events") bodies.push(response.text().catch(() => ""))
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
          yield* call("/data-access/b", undefined, {
            headers: { "x-secret": leak, "x-note": leak, cookie: `a=${leak}` }
          })
          const json = JSON.stringify({ client_secret: leak, note: `Bearer ${leak}` })
          yield* call("/furnishment/c", tokens[0], { method: "POST", body: json })
          const url = `${environment.authV2Url}/oauth2/token`
          yield* send(url, { method: "POST", headers: { "content-type": "application/json" }, body: json })
          yield* send(url, { method: "POST", body: new URLSearchParams({ [leak]: leak, clientSecret: leak, a: leak }) })
          yield* send(`${url}?client_secret=${leak}`, { method: "POST", body: leak })
          yield* requestToken("V2", { client_secret: leak, scope: leak })
          yield* failCalls(Fault.Response({ status: 200, headers: { "x-note": leak, "x-token": leak }, body: leak }))
          yield* call("/data-access/d")
          yield* failTokenRequests(
            Fault.Response({ status: 200, body: `{"access_token":"a-foreign-token","note":"${leak}"}` })
          )
          yield* requestToken("V2")
          yield* failTokenRequests(Fault.Response({ status: 200, body: "{\"access_token\":\"a-foreign-token" }))
          yield* requestToken("V2")
          yield* setFixtures([{ method: "GET", path: "/data-access/e", status: 200, headers: {}, body: { leak } }])
          yield* call("/data-access/e", tokens[2])
          yield* call(`/data-access/${leak}`, tokens[2])
          yield* setFixtures([])
        }
        const ids = (yield* (yield* Simulator.Simulator).received).map(({ id }) => id)
        yield* Effect.forEach(ids, resend)
        const { length } = yield* (yield* Simulator.Simulator).received
        yield* showsRows(page, String(length))
        const details = yield* Effect.promise(() =>
          page.locator("#requests > li").evaluateAll(async (rows) => {
            const texts: Array<string> = []
            for (const row of rows) {
              row.querySelector("button")?.click()
              while (row.querySelector(".detail") === null) await new Promise(requestAnimationFrame)
              texts.push(row.outerHTML)
            }
            return texts
          })
        )
        assert.strictEqual(details.length, length)
        assert.include(details.join(), "\"access_token\": \"***\"")
        leaks.push("a-foreign-token")
        const shown = yield* Effect.promise(() =>
          page.evaluate((details) =>
            [
              ...details,
              document.documentElement.outerHTML,
              ...Array.from(
                document.querySelectorAll("input, textarea, select"),
                (field) => Reflect.get(field, "value")
              )
            ].join("\n"), details)
        )
        const received = [...events, ...yield* Effect.promise(() => Promise.all(bodies))].join("\n")
        assert.include(shown, "/data-access/***?secret=***")
        assert.isAbove(events.join("").split("\n\n").length, length)
        for (const leak of leaks) {
          for (
            const form of [leak, encodeURIComponent(leak), Buffer.from(leak).toString("base64").replace(/=+$/, "")]
          ) {
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
          await page.getByText("Copied with the client secret.").waitFor()
        })
        const secret = Redacted.value((yield* credentials).clientSecret)
        const html = yield* Effect.promise(() => page.evaluate(() => document.documentElement.outerHTML))
        assert.notInclude(html, secret)
        assert.include(yield* Effect.promise(() => page.evaluate(() => navigator.clipboard.readText())), secret)
      }).pipe(Effect.provide(simulated)))
  })
})
