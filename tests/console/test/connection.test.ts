import { AdminServer, Simulator } from "@credit-data/simulator"
import { browser } from "@credit-data/test-support/programs"
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Exit, Layer, Redacted, Scope } from "effect"
import * as Browser from "../src/browser.ts"
import { call, requestToken } from "../src/client.ts"
import { open, press, rowsOf, shows, showsRows, simulated } from "../src/console.ts"

const key = Redacted.make("a key of the test")

/** A simulator and its admin server, which stop separately. */
const start = (port: number, adminPort: number) =>
  Effect.gen(function*() {
    const scope = yield* Scope.make()
    const ports = { Api: port, AuthV1: 0, AuthV2: 0 }
    const context = yield* Layer.buildWithScope(
      AdminServer.layer({ port: adminPort, key }).pipe(Layer.provideMerge(Simulator.layer({ ports }))),
      scope
    )
    return { context, stop: Scope.close(scope, Exit.void) }
  })

const paths = Effect.fnUntraced(function*(page: Parameters<typeof rowsOf>[0]) {
  return yield* Effect.promise(() => page.locator("#requests .path").allInnerTexts())
})

describe.skipIf(browser() === undefined)("the console", () => {
  layer(Browser.layer, { excludeTestServices: true, timeout: "20 seconds" })((it) => {
    it.scoped("misses nothing and shows nothing twice after its connection was lost", () =>
      Effect.gen(function*() {
        const simulator = yield* Simulator.Simulator
        const page = yield* open()
        yield* call("/data-access/1")
        yield* showsRows(page, "1")
        yield* Effect.promise(() => page.context().setOffline(true))
        yield* call("/data-access/2")
        yield* requestToken("V2")
        yield* simulator.failCalls({ _tag: "Silence" }, { times: Infinity })
        yield* Effect.promise(() => page.context().setOffline(false))
        yield* showsRows(page, "3")
        yield* shows(page, "Outage: Silence for calls")
        assert.deepStrictEqual(yield* paths(page), ["/oauth2/token", "/data-access/2", "/data-access/1"])
      }).pipe(Effect.provide(simulated)))

    it.scoped("connects again to a simulator that was started again, and forgets what the old one showed", () =>
      Effect.gen(function*() {
        const first = yield* start(0, 0)
        const { admin, page, port } = yield* Effect.gen(function*() {
          const page = yield* open()
          yield* call("/data-access/old")
          yield* requestToken("V2")
          yield* showsRows(page, "2")
          const { url } = yield* AdminServer.AdminServer
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
        const { url } = yield* AdminServer.AdminServer
        const page = yield* open()
        assert.strictEqual(page.url(), `${url}/`)
        yield* Effect.promise(() => page.reload())
        yield* press(page, "Clear faults")
        assert.strictEqual(page.url(), `${url}/`)
      }).pipe(Effect.provide(simulated)))

    it.scoped("is read-only without a key, until the address with the key is opened in its tab", () =>
      Effect.gen(function*() {
        const { key, url } = yield* AdminServer.AdminServer
        const page = yield* open({ fragment: "" })
        yield* requestToken("V2")
        yield* showsRows(page, "1")
        yield* shows(page, "Read-only. Open the address that the simulator printed.")
        const buttons = page.locator("button:not(#requests button, #pause, [popover] button):visible")
        const states = yield* Effect.promise(() => buttons.evaluateAll((all) => all.map((each) => each.matches(":disabled"))))
        assert.isAtLeast(states.length, 14)
        assert.notInclude(states, false)
        yield* Effect.promise(() => page.goto(`${url}/#key=${Redacted.value(key)}`))
        yield* press(page, "Revoke token 1")
        assert.strictEqual(page.url(), `${url}/`)
      }).pipe(Effect.provide(simulated)))

    it.scoped("is read-only again after its key was refused", () =>
      Effect.gen(function*() {
        const page = yield* open({ fragment: "key=of-an-earlier-start" })
        yield* Effect.promise(() => page.getByRole("button", { name: "Rotate secret" }).click())
        yield* shows(page, "The key is not valid.")
        yield* shows(page, "Read-only. Open the address that the simulator printed.")
        assert.isTrue(yield* Effect.promise(() => page.getByRole("button", { name: "Rotate secret" }).isDisabled()))
      }).pipe(Effect.provide(simulated)))
  })
})
