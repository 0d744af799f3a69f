import { Sealing } from "@credit-data/fleet/Internal"
import { Simulator } from "@credit-data/simulator"
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { chmodSync, cpSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { test } from "./support/command.ts"
import { program, start, temporaryFolder } from "./support/program.ts"

const minute = 60_000
const requested = ["data-access:all", "furnishment:all", "serviceplus:all"]

interface Case {
  /** In how many minutes the token ends, which was issued for 60. */
  readonly ends?: number
  /** The same by the clock of the process that cached it. */
  readonly ownEnds?: number
  readonly scopes?: ReadonlyArray<string>
  readonly mode?: number
  readonly variables?: Readonly<Record<string, string>>
  readonly option?: string
  readonly cache?: boolean
  /** Whether only the option has the secret. */
  readonly isSecret?: boolean
}

/** The cases in which the program requests the token itself, or explains why it can't. */
const others: Readonly<Record<string, Case>> = {
  "a token whose renewal is due": { ends: 14 },
  "a token that ends later than it was issued for, because the clock was set back": { ends: 61 },
  "a token that ends by the clock of the process that cached it": { ownEnds: 14 },
  "a token without a requested scope": { scopes: requested.slice(1) },
  "a folder that other users can enter": { mode: 0o755 },
  "no --cache": { cache: false },
  "another client": { variables: { CREDIT_DATA_CLIENT_ID: "another" } },
  "another version in CREDIT_DATA_AUTH": { variables: { CREDIT_DATA_AUTH: "v1" } },
  "an environment that the command refuses": { variables: { CREDIT_DATA_ENVIRONMENT: " " } },
  "a base URL that the command refuses": { variables: { CREDIT_DATA_BASE_URL: "ftp://api.example" } },
  "a version that warns": { option: "--auth=v1" },
  "--verbose": { option: "--verbose" }
}

describe("credit-data token --cache", () => {
  test(
    "prints a cached token at once only if nothing is unusual, and ignores a relative XDG_CACHE_HOME",
    Effect.gen(function*() {
      const folder = yield* temporaryFolder
      // without the modules of the whole program
      const reader = join(folder, "reader")
      cpSync(dirname(program), reader, { recursive: true, filter: (file) => !/program-\w+\.js$/.test(file) })
      const usual: Readonly<Record<string, string>> = {
        ...yield* Simulator.variables,
        CREDIT_DATA_SCOPES: requested.join(" ")
      }
      const of = (name: string) => usual[`CREDIT_DATA_${name}`] ?? assert.fail(name)
      const secret = of("CLIENT_SECRET")
      const name = Sealing.nameOf(secret, {
        url: `${of("AUTH_V2_URL")}/oauth2/token`,
        clientId: of("CLIENT_ID"),
        audience: of("AUDIENCE"),
        scopes: requested
      })
      const home = join(folder, "home")
      const tokens = join(home, ".cache", "credit-data", "tokens")
      const set: Readonly<Record<string, string>> = { ...usual, HOME: home, XDG_CACHE_HOME: "caches" }
      const { CREDIT_DATA_CLIENT_SECRET: _, ...withoutSecret } = set
      // the whole program accepts the variables, of V1 too, whose warning appears each time
      const accept = (...options: ReadonlyArray<string>) =>
        start(process.execPath, [program, "token", "--cache", ...options], { variables: set })
      const whole = yield* accept()
      yield* accept("--auth=v1")
      const read = (options: ReadonlyArray<string>, variables = set) =>
        start(process.execPath, [join(reader, "credit-data.js"), "token", ...options], { variables })
      const { stdout } = yield* read(["--cache", "--output=header"])
      assert.strictEqual(stdout, `Authorization: Bearer ${whole.stdout}`)
      const run = (
        {
          cache = true,
          ends = 50,
          isSecret = false,
          mode = 0o700,
          option,
          ownEnds = ends,
          scopes = requested,
          variables
        }: Case
      ) => {
        chmodSync(tokens, mode)
        const [endsAt, expiresAt] = [ends, ownEnds].map((minutes) => Date.now() + minutes * minute)
        const token = { secret: "a-cached-token", scopes, lifetimeMillis: 60 * minute, endsAt, expiresAt }
        const bytes = Sealing.seal({ secret, name, fence: 1 }, JSON.stringify({ token }))
        const value = { fence: 1, expiresAt: endsAt, bytes: Buffer.from(bytes).toString("base64") }
        writeFileSync(join(tokens, `${name}.value`), JSON.stringify(value), { mode: 0o600 })
        const options = [...(cache ? ["--cache"] : []), ...(option === undefined ? [] : [option])]
        return read(options, { ...(isSecret ? withoutSecret : set), ...variables })
      }
      const printed = yield* run({})
      assert.deepStrictEqual([printed.stdout, printed.stderr], ["a-cached-token\n", ""])
      // the time limit of the secret's command is longer
      const ended = yield* Effect.timeout(
        run({ option: `--secret-command=printf %s ${secret}`, isSecret: true }),
        "20 seconds"
      )
      assert.deepStrictEqual([ended.stdout, ended.stderr], ["a-cached-token\n", ""])
      for (const [name, each] of Object.entries(others)) {
        const { stderr, stdout } = yield* run(each)
        assert.strictEqual(stdout, "", name)
        assert.include(stderr, "ERR_MODULE_NOT_FOUND", name)
      }
    }).pipe(Effect.scoped)
  )
})
