import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { build } from "esbuild"
import { fileURLToPath } from "node:url"

/** Bundles a program that imports a package and uses what it imports, and runs the bundle in this process. */
const bundleAndRun = (specifier: string, name: string, platform: "browser" | "node", conditions: Array<string> = []) =>
  Effect.gen(function*() {
    const { outputFiles: [bundle] } = yield* Effect.promise(() =>
      build({
        stdin: {
          contents: `import { ${name} } from "${specifier}"\nexport default typeof ${name}`,
          resolveDir: fileURLToPath(new URL(".", import.meta.url))
        },
        bundle: true,
        format: "esm",
        logLevel: "silent",
        platform,
        conditions,
        write: false
      })
    )
    const url = `data:text/javascript;base64,${Buffer.from(bundle?.contents ?? "").toString("base64")}`
    return yield* Effect.tryPromise({
      try: (): Promise<{ default: string }> => import(/* @vite-ignore */ url),
      catch: String
    })
  })

describe("bundles", () => {
  for (
    const [specifier, name] of [
      ["@credit-data/core", "TokenEndpoint"],
      ["@credit-data/core/AccessTokens", "AccessTokens"],
      ["@credit-data/auth-v1", "AuthV1"],
      ["@credit-data/auth-v2", "AuthV2"],
      ["@credit-data/auth-v2/AuthV2", "layer"],
      ["@credit-data/http-client", "DataAccess"]
    ] as const
  ) {
    it.live(`${name} of ${specifier} throws an error with the reason at import in a browser bundle`, () =>
      Effect.gen(function*() {
        const reason = yield* Effect.flip(bundleAndRun(specifier, name, "browser"))
        assert.include(
          reason,
          "@credit-data isn't for browsers: anyone who opens the page could read the client secret"
        )
      }))

    it.live(`${name} of ${specifier} throws an error with the reason at import in a workerd bundle`, () =>
      Effect.gen(function*() {
        for (const conditions of [["workerd"], ["workerd", "worker", "browser"]]) {
          const reason = yield* Effect.flip(bundleAndRun(specifier, name, "browser", conditions))
          assert.include(reason, "@credit-data does not run on workerd: a token is renewed in the background")
        }
      }))

    it.live(`${name} of ${specifier} loads in a Node bundle`, () =>
      Effect.gen(function*() {
        assert.notStrictEqual((yield* bundleAndRun(specifier, name, "node")).default, "undefined")
      }))
  }
})
