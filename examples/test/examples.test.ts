import { AccessScope } from "@credit-data/core"
import { Simulator } from "@credit-data/simulator"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { assertInOrder, folder, run, sunset } from "./run.ts"

const scopes = AccessScope.all.join(" ")

/** The program with which a page begins, as an example. */
const firstProgramOf = (page: string): string => {
  const text = readFileSync(new URL(`../../${page}`, import.meta.url), "utf8")
  const [, code = ""] = /^```ts\n([^]*?)^```$/m.exec(text) ?? []
  mkdirSync(`${folder}../.examples`, { recursive: true })
  const file = `../.examples/${page.replaceAll(/\W+/g, "-")}.ts`
  writeFileSync(`${folder}${file}`, code)
  return file
}

/** What each example prints, in order. main.ts is in main.test.ts, in the first tier. */
const expected: Record<string, ReadonlyArray<string | RegExp>> = {
  "swap.ts": [sunset, "200 with read:consumers", `200 with ${scopes}`],
  "two-supplies.ts": [sunset, "Data Access over V1: 200", "Furnishment over V2: 200"],
  "failures.ts": [
    "page the owner of the credentials: ",
    "check the request: ",
    "wait: ",
    "check what is responding: ",
    "check the network: ",
    "no response to the call: ",
    "request the scope: "
  ],
  "secret-manager.ts": [
    "reading credit-data/client",
    "a token for data-access:all",
    "reading credit-data/client",
    "another token, after 3 requests: the second one was refused"
  ],
  "tenants.ts": ["acme: the secret manager is down", "acme: 200", "acme: 200", "token requests: 1"],
  "secret-files.ts": [
    "a token for data-access:all",
    "another token with the rotated secret, after 3 token requests"
  ],
  "typed-api.ts": ["Data Access responded for /data-access/consumers/42"],
  "streaming.ts": ["uploaded: 200", "downloaded: 200, with a body"],
  "retries.ts": ["200, after 2 token requests and 3 calls"],
  "two-environments.ts": ["sandbox 200, production 200", "the same host: false"],
  "fleet.ts": [
    /process \d+: a token from the token endpoint/,
    /process \d+: a token from the store/,
    "token requests: 1"
  ],
  "provide-once.ts": [
    "5 calls, provided once: token requests: 1\n",
    "5 calls, provided inside each call: token requests: 5\n"
  ]
}

describe("examples", () => {
  for (const [file, parts] of Object.entries(expected)) {
    it.live(`${file} prints the expected lines and exits with 0`, () =>
      Effect.gen(function*() {
        const { exitCode, stderr, stdout } = yield* run(file)
        assert.strictEqual(stderr, "")
        assert.strictEqual(exitCode, 0)
        assertInOrder(stdout, parts)
      }))
  }

  const variables = Effect.map(Simulator.variables, (variables) => ({
    ...variables,
    CREDIT_DATA_ENVIRONMENT: "an environment",
    CREDIT_DATA_SCOPES: "data-access:all"
  }))

  /** The variables of V2. */
  const required = Effect.map(
    variables,
    (variables) => Object.keys(variables).filter((name) => name !== "CREDIT_DATA_AUTH_V1_URL")
  )

  for (
    const [file, line] of [
      ["real-environment.ts", "an environment granted data-access:all"],
      ["main.ts", "Auth V2 of an environment: a token, and nothing else is sent"]
    ] as const
  ) {
    it.live(`${file} uses the environment in the variables and sends one token request`, () =>
      Effect.gen(function*() {
        const { exitCode, stdout } = yield* run(file, yield* variables)
        assert.strictEqual(exitCode, 0, stdout)
        assert.include(stdout, line)
        const received = yield* Effect.flatMap(Simulator.Simulator, (simulator) => simulator.received)
        assert.deepStrictEqual(received.map(({ server }) => server), ["AuthV2"])
      }).pipe(Effect.provide(Simulator.layer())))
  }

  it.live("promises.ts calls with one token, and sends nothing for an id that makes another path", () =>
    Effect.gen(function*() {
      const { exitCode, stderr, stdout } = yield* run("promises.ts", yield* variables)
      assert.deepStrictEqual([exitCode, stderr], [0, ""])
      assertInOrder(stdout, [
        "/data-access/consumers/41",
        "/data-access/consumers/43",
        "calls with one token: 3",
        "refused, retryable: false"
      ])
    }).pipe(Effect.provide(Layer.fresh(Simulator.layer()))))

  it.live("real-environment.ts names every missing variable and exits with 1", () =>
    Effect.gen(function*() {
      const { exitCode, stdout } = yield* run("real-environment.ts", { CREDIT_DATA_CLIENT_SECRET: "canary\n\n" })
      assert.strictEqual(exitCode, 1)
      for (const name of yield* required) assert.include(stdout, name)
      assert.notInclude(stdout, "canary")
    }).pipe(Effect.provide(Layer.fresh(Simulator.layer()))))

  for (
    const [name, file] of [
      ["README.md", firstProgramOf("README.md")],
      ["first-program.ts", "first-program.ts"]
    ] as const
  ) {
    it.live(`the program in ${name} calls the API`, () =>
      Effect.gen(function*() {
        const { exitCode, stdout } = yield* run(file, yield* variables)
        assert.strictEqual(exitCode, 0, stdout)
        assert.include(stdout, "group: 'Data Access'")
      }).pipe(Effect.provide(Simulator.layer())))
  }

  it.live("the program in Get started prints why the client was refused, and exits with 1", () =>
    Effect.gen(function*() {
      const wrong = { ...(yield* variables), CREDIT_DATA_CLIENT_SECRET: "not the secret" }
      const { exitCode, stderr, stdout } = yield* run(firstProgramOf("docs/get-started.md"), wrong)
      assert.strictEqual(exitCode, 1)
      assert.include(stdout + stderr, "refused the client: 401 invalid_client")
    }).pipe(Effect.provide(Simulator.layer())))

  it("every example is tested", () => {
    // the services and the frameworks have tests of their own
    assert.sameMembers(readdirSync(folder), [
      ...Object.keys(expected),
      "main.ts",
      "real-environment.ts",
      "first-program.ts",
      "promises.ts",
      "express.ts",
      "fastify.ts",
      "service",
      "promise-service"
    ])
  })
})
