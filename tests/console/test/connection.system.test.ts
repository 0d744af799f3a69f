import { SimulatorConsole, Fault, Simulator } from "@credit-data/simulator"
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Exit, Layer, Redacted, Scope } from "effect"
import * as Browser from "../src/browser.ts"
import { call, requestToken } from "../src/client.ts"
import { cable, open, press, rowsOf, shows, showsRows, simulated } from "../src/console.ts"

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
    it.scoped("leaves nothing in the browser's log when it connects", () =>
      Effect.gen(function*() {
        const page = yield* open()
        const log: Array<string> = []
        page.on("console", (message) => log.push(message.text()))
        const isAction = (response: { request(): { method(): string } }) => response.request().method() === "POST"
        yield* Effect.promise(() => Promise.all([page.waitForResponse(isAction), page.reload()]))
        yield* call("/data-access/1")
        yield* showsRows(page, "1")
        assert.deepStrictEqual(log, [])
      }).pipe(Effect.provide(simulated)))

    it.scoped("misses nothing and shows nothing twice after its connection was lost", () =>
      Effect.gen(function*() {
        const simulator = yield* Simulator.Simulator
        const { cut, mend, url } = yield* cable
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
