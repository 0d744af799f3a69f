import { Simulator } from "@credit-data/simulator"
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { chmodSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as PrintedJson from "../src/printedJson.ts"
import { decoded, secret, test, together, token } from "./support/command.ts"
import { program, start, temporaryFolder } from "./support/program.ts"

/** Runs the program with the variables of a file only. */
const runWith = (file: string, args: ReadonlyArray<string>, variables: Record<string, string> = {}) =>
  start(process.execPath, [program, ...args, "--env-file", file], { variables })

/** A file with the variables of the simulator. */
const envFile = Effect.fnUntraced(function*(text: (lines: string) => string = (lines) => lines) {
  const file = join(yield* temporaryFolder, "simulator.env")
  const lines = Object.entries(yield* Simulator.variables).map(([name, value]) => `${name}="${value}"`)
  writeFileSync(file, text(lines.join("\n")), { mode: 0o600 })
  return file
})

describe("--env-file", () => {
  test(
    "has the variables of every command, without evaluating anything",
    Effect.gen(function*() {
      const file = yield* envFile((lines) =>
        `\uFEFF# a comment\n${lines}\nCREDIT_DATA_ENVIRONMENT=$(id)-\`id\`-$HOME\n`
      )
      const [printed, call, child, doctor] = yield* together(
        runWith(file, ["token"]),
        runWith(file, ["call", "/data-access/a"]),
        start(process.execPath, [
          program,
          "exec",
          "--env-file",
          file,
          "--",
          "sh",
          "-c",
          "echo $CREDIT_DATA_ENVIRONMENT"
        ]),
        runWith(file, ["doctor", "--json"])
      )
      assert.deepStrictEqual([printed.code, printed.stderr], [0, ""])
      assert.match(printed.stdout, token)
      assert.strictEqual(call.code, 0)
      assert.strictEqual(child.stdout, "$(id)-`id`-$HOME\n")
      const [configuration] = decoded(PrintedJson.Doctor, doctor.stdout).steps
      assert.include(configuration?.notes.join("\n"), `from ${file}: CREDIT_DATA_ENVIRONMENT, `)
    }).pipe(Effect.scoped)
  )

  test(
    "is overridden by the environment, and doctor shows where each value came from",
    Effect.gen(function*() {
      const file = yield* envFile()
      const variables = { CREDIT_DATA_CLIENT_SECRET: "another-secret-0123456789abcdefghijklmno" }
      const { code, stdout } = yield* runWith(file, ["doctor", "--json"], variables)
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
      const file = yield* envFile()
      chmodSync(file, 0o644)
      const readable = yield* runWith(file, ["token"])
      assert.strictEqual(readable.code, 0)
      assert.strictEqual(
        readable.stderr,
        `warning: other users of this machine can read ${file}. Run chmod 600 on it.\n`
      )
      const folder = yield* runWith(join(file, ".."), ["token"])
      // Node looks for this option among the arguments of programs too, and exits with 9
      assert.include([2, 9], folder.code)
      assert.strictEqual(folder.stdout, "")
      assert.isNotEmpty(folder.stderr)
    }).pipe(Effect.scoped)
  )
})
