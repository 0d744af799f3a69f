import { Fault } from "@credit-data/simulator"
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as PrintedJson from "./support/printedJson.ts"
import { decoded, failTokenRequests, secret, test, tokenRequests } from "./support/command.ts"
import { run, runAll, runProcess, temporaryFolder } from "./support/program.ts"

describe.concurrent("credit-data status and --cache", () => {
  test(
    "keep one token for several commands, sealed on disk",
    Effect.gen(function*() {
      const folder = yield* temporaryFolder
      const variables = { XDG_CACHE_HOME: folder, LANG: "C.UTF-8" }
      const before = yield* run(["status"], variables)
      assert.isFalse(existsSync(join(folder, "credit-data", "tokens")))
      assert.deepStrictEqual([before.code, before.stdout], [2, ""])
      assert.include(before.stderr, "--cache")
      assert.strictEqual(yield* tokenRequests, 0)
      const first = yield* run(["token", "--cache"], variables)
      const second = yield* run(["token", "--cache"], variables)
      assert.strictEqual(first.stdout, second.stdout)
      const { code, stdout } = yield* run(["status"], variables)
      assert.strictEqual(code, 0)
      assert.match(stdout, /^life +█+ 100 %$/m)
      const dumb = yield* run(["status"], { ...variables, TERM: "dumb" })
      assert.match(dumb.stdout, /^life +#+ 100 %$/m)
      // the expiry is the same each time, but for the rounding to a second
      const expiry = (text: string) => Number(/^expires .*\((\d+)\)$/m.exec(text)?.[1])
      assert.approximately(expiry(dumb.stdout), expiry(stdout), 1)
      assert.match(stdout, /^left +23h 59m/m)
      const tokens = join(folder, "credit-data", "tokens")
      const files = readdirSync(tokens).toSorted()
      const json = decoded(PrintedJson.Status, (yield* run(["status", "--json"], variables)).stdout)
      assert.deepStrictEqual([json.leftSeconds > 86_000, json.failure], [true, null])
      assert.strictEqual(yield* tokenRequests, 1)
      assert.deepStrictEqual(readdirSync(tokens).toSorted(), files)
      for (const name of readdirSync(tokens, { recursive: true })) {
        const file = join(tokens, String(name))
        if (!statSync(file).isFile()) continue
        assert.strictEqual(statSync(file).mode & 0o77, 0)
        const text = readFileSync(file, "latin1")
        for (const canary of [first.stdout.trim(), secret, "simulated-client"]) assert.notInclude(text, canary)
      }
    }).pipe(Effect.scoped)
  )

  test(
    "show a shared failure, until when it is remembered, and exit with its code",
    Effect.gen(function*() {
      const variables = { XDG_CACHE_HOME: yield* temporaryFolder }
      const refused = Fault.Response({
        status: 400,
        headers: { "retry-after": "60" },
        body: "{\"error\":\"invalid_scope\"}"
      })
      yield* failTokenRequests(refused, 1)
      yield* run(["token", "--cache"], variables)
      const { code, stderr, stdout } = yield* run(["status", "--json"], variables)
      assert.deepStrictEqual([code, stdout], [5, ""])
      assert.match(
        stderr,
        /^The cache contains a failure instead of a token: ServerError, until 20\S+Z\. .*400 invalid_scope/
      )
    }).pipe(Effect.scoped)
  )

  test(
    "refuse a folder that other users can enter",
    Effect.gen(function*() {
      const folder = yield* temporaryFolder
      mkdirSync(join(folder, "credit-data", "tokens"), { recursive: true })
      // whatever the umask is
      chmodSync(join(folder, "credit-data", "tokens"), 0o755)
      for (
        const { code, stderr } of yield* runAll([["token", "--cache"], ["status"]], { XDG_CACHE_HOME: folder })
      ) {
        assert.strictEqual(code, 2)
        assert.include(stderr, `The cache folder ${join(folder, "credit-data", "tokens")} cannot be used.`)
        assert.include(stderr, "only its owner can enter (mode 0700, not 0755)")
        assert.include(stderr, "set XDG_CACHE_HOME")
      }
      assert.strictEqual(yield* tokenRequests, 0)
    }).pipe(Effect.scoped)
  )

  test(
    "name the variable of a client secret that is too short to seal a token",
    Effect.gen(function*() {
      const variables = { XDG_CACHE_HOME: yield* temporaryFolder, CREDIT_DATA_CLIENT_SECRET: "short canary" }
      const { code, stderr, stdout } = yield* run(["token", "--cache"], variables)
      assert.deepStrictEqual([code, stdout], [2, ""])
      assert.match(
        stderr,
        /^--cache needs a client secret of at least 32 characters.*CREDIT_DATA_CLIENT_SECRET is shorter/
      )
      assert.notInclude(stderr, "canary")
    }).pipe(Effect.scoped)
  )

  test(
    "end at once where no folder can be",
    Effect.gen(function*() {
      const { code, stderr } = yield* runProcess(["token", "--cache"], { variables: { HOME: "/proc" } })
      assert.strictEqual(code, 2)
      assert.include(stderr, "The cache folder /proc/.cache/credit-data/tokens cannot be used.")
    })
  )

  test(
    "need XDG_CACHE_HOME when the user has no home folder",
    Effect.gen(function*() {
      const folder = yield* temporaryFolder
      const module = join(folder, "homeless.mjs")
      writeFileSync(
        module,
        "import os from 'node:os'; import { syncBuiltinESMExports } from 'node:module';\n" +
          "os.homedir = () => { throw new Error('a canary') }; syncBuiltinESMExports()"
      )
      const variables = { NODE_OPTIONS: `--import=${module}` }
      const { code, stderr, stdout } = yield* runProcess(["token", "--cache"], { variables })
      assert.deepStrictEqual([code, stdout], [2, ""])
      assert.match(stderr, /^This user has no home folder for the cache\. Set XDG_CACHE_HOME/)
    }).pipe(Effect.scoped)
  )
})
