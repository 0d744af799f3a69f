import { browser } from "@credit-data/test-support/programs"
import { Context, Effect, Layer } from "effect"
import { type Browser as Chromium, chromium } from "playwright-core"

const args = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync"
]

/** A browser with a new profile, which ends with its scope. */
export class Browser extends Context.Tag("@credit-data/console/Browser")<Browser, Chromium>() {}

export const layer = Layer.scoped(
  Browser,
  Effect.acquireRelease(
    Effect.promise(() => chromium.launch({ executablePath: browser() ?? "chromium", args })),
    (chromium) => Effect.promise(() => chromium.close())
  )
)
