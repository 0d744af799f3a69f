import { SimulatorConsole, Simulator } from "@credit-data/simulator"
import { relay } from "@credit-data/test-support/relay"
import { Effect, Layer, Redacted } from "effect"
import type { BrowserContextOptions, Page } from "playwright-core"
import { Browser } from "./browser.ts"

/** A simulator with its admin server. */
export const simulated = SimulatorConsole.layer().pipe(Layer.provideMerge(Simulator.layer()))

interface Options extends BrowserContextOptions {
  readonly width?: number
  /** The part of the address after `#`. Default: the key. */
  readonly fragment?: string
  /** Default: the address of the admin server. */
  readonly address?: string
}

/** The browser reports a refused action by itself. */
const isExpected = (text: string) => /Failed to load resource|net::ERR/.test(text)

/**
 * Opens the console in a new profile, which closes with the scope. The test fails if the browser reports an error, such as a
 * violation of the Content-Security-Policy.
 */
export const open = ({ address, fragment, width = 1400, ...options }: Options = {}) =>
  Effect.gen(function*() {
    const browser = yield* Browser
    const { key, url } = yield* SimulatorConsole.SimulatorConsole
    const context = yield* Effect.acquireRelease(
      Effect.promise(() => browser.newContext({ viewport: { width, height: 800 }, ...options })),
      (context) => Effect.promise(() => context.close())
    )
    const page = yield* Effect.promise(() => context.newPage())
    const problems: Array<string> = []
    page.on("console", (message) => {
      if (message.type() === "error" && !isExpected(message.text())) problems.push(message.text())
    })
    page.on("pageerror", (error) => problems.push(error.message))
    yield* Effect.addFinalizer(() =>
      problems.length === 0 ? Effect.void : Effect.die(new Error(`The browser reported: ${problems.join("; ")}`))
    )
    // on a busy machine, the browser may need seconds for each of these
    page.setDefaultTimeout(30_000)
    yield* Effect.promise(() => page.goto(`${address ?? url}/#${fragment ?? `key=${Redacted.value(key)}`}`))
    yield* Effect.promise(() => page.getByText("Live", { exact: true }).waitFor())
    return page
  })

/** A connection to the admin server that can be cut and mended, with its own address. */
export const cable = Effect.gen(function*() {
  const { url } = yield* SimulatorConsole.SimulatorConsole
  const { port, ...connection } = yield* relay(Number(new URL(url).port))
  return { ...connection, url: `http://127.0.0.1:${port}` }
})

/** Presses a button and waits until the page reports that its action succeeded. */
export const press = (page: Page, name: string) =>
  Effect.promise(async () => {
    const button = page.getByRole("button", { name, exact: true })
    const click = async () => {
      const sent = page.waitForRequest((request) => request.method() === "POST", { timeout: 5_000 })
      await button.click()
      return sent.then(() => true, () => false)
    }
    // on a busy machine, the page is read-only for a moment, and a click in this moment does nothing
    if (!(await click())) await click()
    await page.getByText(`${name}: done.`, { exact: true }).waitFor()
  })

/** Waits until the page shows this text. */
export const shows = (page: Page, text: string) =>
  Effect.promise(() => page.getByText(text, { exact: true }).first().waitFor())

/** Waits until a list has an item with this text. */
export const showsItem = (page: Page, text: string) =>
  Effect.promise(() => page.getByRole("listitem").filter({ hasText: text }).first().waitFor())

/** The rows of the list of requests, as one text each. */
export const rowsOf = (page: Page) => page.locator("#requests > li:visible > button")

/** Waits until the list shows this many requests. */
export const showsRows = (page: Page, count: string) =>
  Effect.promise(() => page.locator("#shown").getByText(count, { exact: true }).waitFor())
