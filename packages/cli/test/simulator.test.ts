import { areFree, freePorts } from "@credit-data/test-support/freePorts"
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { help } from "../../simulator/src/internal/standalone/arguments.ts"
import { test, together } from "./support/command.ts"
import { run, runWith, startProgram, temporaryFolder } from "./support/program.ts"

describe.concurrent("credit-data simulator", () => {
  test(
    "runs the simulator until Ctrl-C, and releases its ports",
    Effect.gen(function*() {
      const first = yield* freePorts(4)
      const file = join(yield* temporaryFolder, "simulator.env")
      const options = ["--port", String(first), "--token-lifetime", "1m", "--console", "--log", "--write-env", file]
      const { code, stdout } = yield* startProgram(["simulator", ...options], {
        variables: {},
        observe: (stdout, kill) => {
          if (stdout.includes("In a shell")) kill("SIGINT")
        }
      })
      assert.include(stdout, `http://127.0.0.1:${first + 3}/#key=`)
      assert.strictEqual(code, 130)
      assert.isTrue(yield* areFree(first, 4))
      assert.include(readFileSync(file, "utf8"), `CREDIT_DATA_AUTH_V2_URL=http://127.0.0.1:${first + 2}`)
      assert.strictEqual(statSync(file).mode & 0o77, 0)
      const again = yield* runWith({}, ["simulator", "--write-env", file])
      assert.strictEqual(again.code, 2)
      assert.include(again.stderr, file)
    }).pipe(Effect.scoped)
  )
})

describe.concurrent("the options of credit-data simulator", () => {
  test(
    "are the options of the simulator's own command",
    Effect.map(run(["simulator", "--help"]), ({ stdout }) => {
      const names = (text: string) =>
        [...new Set(text.match(/--[a-z-]+/g))].filter((name) => name !== "--help").toSorted()
      assert.deepStrictEqual(names(stdout).filter((name) => name !== "--variables"), names(help))
    })
  )

  test(
    "are refused by name, without their values",
    Effect.gen(function*() {
      const refusals = yield* together(
        run(["simulator", "--token-lifetime", "canary"]),
        run(["simulator", "--fixtures", "/nowhere"])
      )
      assert.deepStrictEqual(refusals.map(({ code, stderr }) => [code, stderr]), [
        [2, "--token-lifetime: expected a time such as 90s, 10m or 24h\n"],
        [2, "/nowhere: There is no such folder, or it cannot be read\n"]
      ])
    })
  )
})
