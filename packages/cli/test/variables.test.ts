import { Simulator } from "@credit-data/simulator"
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { chmodSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as PrintedJson from "./support/printedJson.ts"
import { decoded, secret, test, together, token } from "./support/command.ts"
import { ofAnotherUser, program, run, runWith, start, startProgram, temporaryFolder } from "./support/program.ts"

/** Runs the program with the variables of a file only. */
const runWithFile = (file: string, args: ReadonlyArray<string>, variables: Record<string, string> = {}) =>
  runWith(variables, [...args, "--variables", file])

/** A file with the variables of the simulator. */
const variablesFile = Effect.fnUntraced(function*(text: (lines: string) => string = (lines) => lines) {
  const file = join(yield* temporaryFolder, "simulator.env")
  const lines = Object.entries(yield* Simulator.variables).map(([name, value]) => `${name}="${value}"`)
  writeFileSync(file, text(lines.join("\n")), { mode: 0o600 })
  return file
})

describe.concurrent("--variables", () => {
  test(
    "has the variables of every command, without evaluating anything",
    Effect.gen(function*() {
      const file = yield* variablesFile((lines) =>
        `\uFEFF# a comment\n${lines}\nCREDIT_DATA_ENVIRONMENT=$(id)-\`id\`-$HOME\n`
      )
      const [printed, child, doctor] = yield* together(
        runWithFile(file, ["token"]),
        startProgram(["exec", "--variables", file, "--", "sh", "-c", "echo $CREDIT_DATA_ENVIRONMENT"]),
        runWithFile(file, ["doctor", "--json"])
      )
      assert.deepStrictEqual([printed.code, printed.stderr], [0, ""])
      assert.match(printed.stdout, token)
      assert.strictEqual(child.stdout, "$(id)-`id`-$HOME\n")
      const [configuration] = decoded(PrintedJson.Doctor, doctor.stdout).steps
      assert.include(configuration?.notes.join("\n"), `from ${file}: CREDIT_DATA_ENVIRONMENT, `)
    }).pipe(Effect.scoped)
  )

  test(
    "is overridden by the environment, and doctor shows where each value came from",
    Effect.gen(function*() {
      const file = yield* variablesFile()
      const variables = { CREDIT_DATA_CLIENT_SECRET: "another-secret-0123456789abcdefghijklmno" }
      const { code, stdout } = yield* runWithFile(file, ["doctor", "--json"], variables)
      assert.strictEqual(code, 1)
      const [configuration] = decoded(PrintedJson.Doctor, stdout).steps
      assert.include(configuration?.notes.join("\n"), "from the environment: CREDIT_DATA_CLIENT_SECRET")
      assert.notInclude(stdout, secret)
      assert.notInclude(stdout, variables.CREDIT_DATA_CLIENT_SECRET)
    }).pipe(Effect.scoped)
  )

  test(
    "is reported when other users can read it, and when it cannot be read",
    Effect.gen(function*() {
      const file = yield* variablesFile()
      chmodSync(file, 0o644)
      const readable = yield* runWithFile(file, ["token"])
      assert.strictEqual(readable.code, 0)
      assert.strictEqual(
        readable.stderr,
        `warning: other users of this machine can read ${file}. Run chmod 600 on it.\n`
      )
      const writable = yield* Effect.sync(() => chmodSync(file, 0o622)).pipe(
        Effect.zipRight(runWithFile(file, ["token"]))
      )
      assert.strictEqual(writable.code, 0)
      assert.strictEqual(
        writable.stderr,
        `warning: other users of this machine can change ${file}. Run chmod 600 on it.\n`
      )
      const [folder, missing] = yield* together(
        runWithFile(join(file, ".."), ["token"]),
        runWithFile(join(file, "missing"), ["token"])
      )
      assert.deepStrictEqual([folder.code, folder.stdout], [2, ""])
      assert.strictEqual(folder.stderr, `Cannot read the --variables file: ${join(file, "..")} (EISDIR).\n`)
      assert.deepStrictEqual([missing.code, missing.stdout], [2, ""])
      assert.strictEqual(
        missing.stderr,
        `Cannot read the --variables file: ${join(file, "missing")} (ENOTDIR).\n`
      )
    }).pipe(Effect.scoped)
  )

  test(
    "is refused when it belongs to another user",
    Effect.gen(function*() {
      const file = yield* variablesFile()
      const { code, stderr, stdout } = yield* start(
        process.execPath,
        ["--import", ofAnotherUser, program, "token", "--variables", file]
      )
      assert.deepStrictEqual([code, stdout], [2, ""])
      assert.strictEqual(
        stderr,
        `The --variables file belongs to another user: ${file}. Copy it to a file that belongs to you.\n`
      )
    }).pipe(Effect.scoped)
  )

  test(
    "runs no code and changes nothing in the command itself",
    Effect.gen(function*() {
      const folder = yield* temporaryFolder
      const module = join(folder, "canary.mjs")
      writeFileSync(module, "process.stderr.write('canary')")
      const file = yield* variablesFile((lines) => `${lines}\nNODE_OPTIONS="--import=${module}"`)
      const { code, stderr, stdout } = yield* runWithFile(file, ["token"])
      assert.strictEqual(code, 0)
      assert.match(stdout, token)
      assert.strictEqual(
        stderr,
        `warning: NODE_OPTIONS in ${file} has no effect on credit-data, because Node reads it when it starts. Set it in the ` +
          "environment.\n"
      )
      const old = yield* run(["token", `--env-file=${file}`])
      assert.deepStrictEqual([old.code, old.stdout], [2, ""])
      assert.include(old.stderr, "Unknown option: --env-file. Use --variables FILE.")
    }).pipe(Effect.scoped)
  )
})
