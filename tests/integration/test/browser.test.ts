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

const resolveDir = fileURLToPath(new URL(".", import.meta.url))

const settings = { bundle: true, format: "esm", logLevel: "silent", write: false } as const

const importText = (contents: Uint8Array = new Uint8Array()) =>
  import(/* @vite-ignore */ `data:text/javascript;base64,${Buffer.from(contents).toString("base64")}`)

/** Bundles each of these sources, and imports each bundle in this process. Returns what each import exports, or why it failed. */
const bundleAndImport = (
  sources: ReadonlyArray<string>,
  platform: "browser" | "node",
  conditions: Array<string> = []
) =>
  Effect.promise(() =>
    Promise.all(sources.map(async (contents) => {
      const { outputFiles: [bundle] } = await build({
        ...settings,
        stdin: { contents, resolveDir },
        platform,
        conditions
      })
      return await importText(bundle?.contents).then((exported: object) => Object.keys(exported), String)
    }))
  )

const sources = Object.entries(modules).map(([module, name]) => `export { ${name} } from "${module}"`)

describe("bundles", () => {
  for (const useDefineForClassFields of [true, false]) {
    it.live(`errors have a message, which structuredClone keeps, if class fields are ${useDefineForClassFields ? "defined" : "assigned"}`, () =>
      Effect.gen(function*() {
        const exported: { readonly errors: ReadonlyArray<Error>; readonly refused: Error & { readonly _tag: string } } =
          yield* Effect.promise(async () => {
            const { outputFiles: [bundle] } = await build({
              ...settings,
              entryPoints: [fileURLToPath(new URL("./programs/failures.ts", import.meta.url))],
              banner: {
                js: "import{createRequire as toRequire}from'node:module';const require=toRequire(process.cwd()+'/')"
              },
              platform: "node",
              tsconfigRaw: { compilerOptions: { useDefineForClassFields } }
            })
            return await importText(bundle?.contents)
          })
        assert.strictEqual(exported.refused._tag, "InvalidClient")
        for (const error of exported.errors) {
          assert.match(error.message, /\w+/, error.name)
          assert.strictEqual(structuredClone(error).message, error.message)
        }
      }))
  }

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
