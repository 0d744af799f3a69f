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

/** A program whose token request fails, and which makes each error of the packages. */
const failures = `
  import { AuthV2 } from "@credit-data/auth-v2"
  import { AccessTokens, TokenError } from "@credit-data/core"
  import { StoreError } from "@credit-data/fleet"
  import * as StoreContract from "@credit-data/fleet/StoreContract"
  import { InsufficientScope } from "@credit-data/http-client"
  import { FixtureError } from "@credit-data/simulator"
  import { HttpClient, HttpClientResponse } from "@effect/platform"
  import { Effect, Layer, Redacted } from "effect"

  const refusing = HttpClient.make((request) =>
    Effect.succeed(HttpClientResponse.fromWeb(request, Response.json({ error: "invalid_client" }, { status: 401 })))
  )
  const Auth = AuthV2.layer({
    environment: {
      name: "sandbox",
      audience: "https://api.example",
      baseUrl: "https://api.example",
      authV2Url: "https://auth.example"
    },
    credentials: { clientId: "a-client", clientSecret: Redacted.make("a-secret") },
    scopes: ["data-access:all"]
  })
  const get = Effect.flatMap(AccessTokens.AccessTokens, (tokens) => tokens.get).pipe(
    Effect.provide(Layer.provide(Auth, Layer.succeed(HttpClient.HttpClient, refusing)))
  )
  const where = { environment: "sandbox", tokenEndpoint: "https://auth.example" }

  export const refused = await Effect.runPromise(Effect.flip(get))
  export const errors = [
    refused,
    new TokenError.InvalidClient({ ...where, status: 401 }),
    new TokenError.ServerError({ ...where, status: 500 }),
    new TokenError.InvalidResponse({ ...where, status: 200, rule: "Json" }),
    new TokenError.TransportError({ ...where, reason: "Reset" }),
    new InsufficientScope.InsufficientScope({ environment: "sandbox", needed: "data-access:all", granted: [] }),
    new StoreError.StoreError({ reason: "Refused", code: "OOM" }),
    new StoreContract.ContractBroken({ rule: "a", expected: "b", observed: "c" }),
    new FixtureError.FixtureError({ file: "a.json", reason: "b" })
  ]
`

describe("bundles", () => {
  for (const useDefineForClassFields of [true, false]) {
    it.live(`errors have a message, which structuredClone keeps, if class fields are ${useDefineForClassFields ? "defined" : "assigned"}`, () =>
      Effect.gen(function*() {
        const exported: { readonly errors: ReadonlyArray<Error>; readonly refused: Error & { readonly _tag: string } } =
          yield* Effect.promise(async () => {
            const { outputFiles: [bundle] } = await build({
              ...settings,
              stdin: { contents: failures, resolveDir },
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
