import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { build } from "esbuild"
import { fileURLToPath } from "node:url"

const modules = {
  "@credit-data/core": "TokenEndpoint",
  "@credit-data/core/AccessTokens": "AccessTokens",
  "@credit-data/auth-v1": "AuthV1",
  "@credit-data/auth-v2": "AuthV2",
  "@credit-data/auth-v2/AuthV2": "layer",
  "@credit-data/http-client": "DataAccess"
}

/** Bundles each of these sources, and imports each bundle in this process. Returns what each import exports, or why it failed. */
const bundleAndImport = (
  sources: ReadonlyArray<string>,
  platform: "browser" | "node",
  conditions: Array<string> = []
) =>
  Effect.promise(() =>
    Promise.all(sources.map(async (contents) => {
      const { outputFiles: [bundle] } = await build({
        stdin: { contents, resolveDir: fileURLToPath(new URL(".", import.meta.url)) },
        bundle: true,
        format: "esm",
        logLevel: "silent",
        platform,
        conditions,
        write: false
      })
      const url = `data:text/javascript;base64,${Buffer.from(bundle?.contents ?? "").toString("base64")}`
      return await import(/* @vite-ignore */ url).then((exported: object) => Object.keys(exported), String)
    }))
  )

const sources = Object.entries(modules).map(([module, name]) => `export { ${name} } from "${module}"`)

describe("bundles", () => {
  it.live("every module throws an error with the reason at import in a browser bundle", () =>
    Effect.gen(function*() {
      for (const reason of yield* bundleAndImport(sources, "browser")) {
        assert.include(
          reason,
          "@credit-data isn't for browsers: anyone who opens the page could read the client secret"
        )
      }
    }))

  it.live("every module throws an error with the reason at import in a workerd bundle", () =>
    Effect.gen(function*() {
      for (const conditions of [["workerd"], ["workerd", "worker", "browser"]]) {
        for (const reason of yield* bundleAndImport(sources, "browser", conditions)) {
          assert.include(reason, "@credit-data does not run on workerd: a token is renewed in the background")
        }
      }
    }))

  it.live("all modules load in a Node bundle", () =>
    Effect.gen(function*() {
      const [exported] = yield* bundleAndImport([sources.join("\n")], "node")
      assert.sameMembers([...(exported ?? [])], Object.values(modules))
    }))
})
