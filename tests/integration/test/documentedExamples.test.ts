import { AuthV2 } from "@credit-data/auth-v2"
import { DataAccess, EnablementServices, Furnishment } from "@credit-data/http-client"
import { Simulator } from "@credit-data/simulator"
import { listen } from "@credit-data/test-support/listen"
import { HttpClient } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Config, ConfigProvider, Effect, Layer, Logger } from "effect"
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { requestToken } from "../src/clients.ts"

const root = new URL("../../../", import.meta.url)
const packages = new URL("packages/", root)
const target = new URL("../.examples/", import.meta.url)

const snippetsOf = (page: string) =>
  Array.from(
    readFileSync(new URL(page, root), "utf8").matchAll(/^```ts\n([^]*?)^```$/gm),
    ([, code = ""], index) => ({ name: `${page.replaceAll(/\W+/g, "-")}-${index + 1}`, code })
  )

// the pages' tests become tests of this file
const tests = ["docs/get-started.md", "docs/testing.md", "packages/simulator/README.md"]
  .flatMap(snippetsOf)
  .filter(({ code }) => /\nit[.(]/.test(code))

/** The examples in the docstrings of a module. */
const examplesIn = (source: string) =>
  [...source.matchAll(/^ \* ```ts\n((?: \*.*\n)*?) \* ```$/gm)].map(([, code = ""]) => code.replaceAll(/^ \* ?/gm, ""))

const modules = readdirSync(packages)
  .filter((name) => existsSync(new URL(`${name}/src/index.ts`, packages)))
  .flatMap((name) =>
    readdirSync(new URL(`${name}/src`, packages)).filter((file) => file.endsWith(".ts")).map((file) =>
      `${name}/src/${file}`
    )
  )

const examples = [
  ...["docs/calls.md"].flatMap(snippetsOf),
  ...modules.flatMap((module) =>
    examplesIn(readFileSync(new URL(module, packages), "utf8")).map((code, index) => ({
      name: `${module.replaceAll(/\W+/g, "-")}-${index + 1}`,
      code
    }))
  )
].filter(({ code }) => code.includes("export const"))

/** An effect that needs no more than `services`. A Config is an effect too. */
const isProgram = (value: unknown): value is Effect.Effect<unknown, unknown> =>
  Effect.isEffect(value) && !Config.isConfig(value)

rmSync(target, { recursive: true, force: true })
mkdirSync(target)
const effects: ReadonlyArray<readonly [name: string, effect: Effect.Effect<unknown, unknown>]> = (await Promise.all(
  examples.map(async ({ code, name }) => {
    const file = new URL(`${name}.ts`, target)
    writeFileSync(file, code)
    const exported: Record<string, unknown> = await import(/* @vite-ignore */ file.href)
    return Object.values(exported).filter(isProgram).map((effect) => [name, effect] as const)
  })
)).flat()

/** All services that an example can require, over a simulated service on loopback. */
const services = Layer.unwrapEffect(
  Effect.map(
    Simulator.variables,
    (variables) =>
      Layer.mergeAll(DataAccess.layer(), EnablementServices.layer(), Furnishment.layer()).pipe(
        Layer.provideMerge(AuthV2.layerConfig()),
        Layer.provideMerge(AuthV2.layerTokenEndpointConfig()),
        Layer.provideMerge(NodeHttpClient.layer),
        Layer.provideMerge(
          Layer.setConfigProvider(
            ConfigProvider.fromMap(new Map(Object.entries({ ...variables, CREDIT_DATA_AUTH: "v2" })))
          )
        )
      )
  )
).pipe(Layer.provideMerge(Simulator.layer()), Layer.provideMerge(Logger.remove(Logger.defaultLogger)))

for (const { code, name } of tests) {
  const file = new URL(`${name}.ts`, target)
  writeFileSync(file, code)
  await import(/* @vite-ignore */ file.href)
}

describe("the effects that examples on pages and in docstrings export", () => {
  for (const [name, effect] of effects) {
    it.scopedLive(`${name} succeeds`, () => Effect.provide(effect, services))
  }

  it("are found", () => assert.isAbove(effects.length, 10))
})

it.scopedLive("the layer on the page about the network uses the forward proxy of HTTPS_PROXY", () =>
  Effect.gen(function*() {
    const tunnels: Array<string | undefined> = []
    const proxy = yield* listen(
      createServer().on("connect", ({ url }, socket) => {
        tunnels.push(url)
        socket.end("HTTP/1.1 403 Forbidden\r\n\r\n")
      })
    )
    const { code = "" } = snippetsOf("docs/network.md").find(({ code }) => code.includes("HttpOverProxy")) ?? {}
    const file = new URL("proxy.ts", target)
    writeFileSync(file, code)
    const { HttpOverProxy }: { readonly HttpOverProxy: Layer.Layer<HttpClient.HttpClient> } = yield* Effect.promise(
      () => import(/* @vite-ignore */ file.href)
    )
    // a machine may have either name
    for (const name of ["HTTPS_PROXY", "https_proxy"]) {
      const present = process.env[name]
      yield* Effect.acquireRelease(
        Effect.sync(() => {
          process.env[name] = `http://127.0.0.1:${proxy}`
        }),
        () =>
          Effect.sync(() => {
            if (present === undefined) delete process.env[name]
            else process.env[name] = present
          })
      )
    }
    const error = yield* Effect.flip(requestToken("https://auth.example", HttpOverProxy))
    assert.deepInclude<object>(error, { _tag: "TransportError", reason: "Proxy", proxyStatus: 403 })
    assert.deepStrictEqual(tunnels, ["auth.example:443"])
  }))
