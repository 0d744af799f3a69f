import { Simulator } from "@credit-data/simulator"
import { assert, describe } from "@effect/vitest"
import { Duration, Effect } from "effect"
import * as PrintedJson from "./support/printedJson.ts"
import { decoded, secret, test, together, token, tokenRequests } from "./support/command.ts"
import { program, start } from "./support/program.ts"

/** Runs the program without the variable of the secret. */
const runWithout = Effect.fnUntraced(function*(args: ReadonlyArray<string>, input?: string) {
  const { CREDIT_DATA_CLIENT_SECRET: _, ...variables } = yield* Simulator.variables
  return yield* start(process.execPath, [program, ...args], { variables, ...(input === undefined ? {} : { input }) })
})

describe.concurrent("--secret-command", () => {
  test(
    "reads the secret from a command, from a pipe, or from a file of variables that is a pipe",
    Effect.gen(function*() {
      const lines = Object.entries(yield* Simulator.variables).map(([name, value]) => `${name}="${value}"`).join("\\n")
      const substitution = `${process.execPath} ${program} token --variables <(printf '${lines}')`
      const [command, pipe, file, child, doctor] = yield* together(
        runWithout(["token", "--secret-command", `echo ignored >&2; echo ${secret}`]),
        runWithout(["token", "--secret-command=cat"], `${secret}\n`),
        start("bash", ["-c", substitution]),
        runWithout(["exec", "--secret-command", `echo ${secret}`, "--", "env"]),
        runWithout(["doctor", "--json", "--secret-command", `echo ${secret}`])
      )
      for (const { code, stderr, stdout } of [command, pipe, file]) {
        assert.deepStrictEqual([code, stderr], [0, ""])
        assert.match(stdout, token)
      }
      assert.notInclude(child.stdout, secret)
      assert.include(
        decoded(PrintedJson.Doctor, doctor.stdout).steps[0]?.notes.join("\n"),
        "from --secret-command: CREDIT_DATA_CLIENT_SECRET"
      )
    })
  )

  test(
    "shows nothing that the command prints, and ends after 5 seconds",
    Effect.gen(function*() {
      const [failed, missing, empty, killed, [time, slow]] = yield* together(
        runWithout(["token", "--secret-command", "echo canary; echo canary >&2; exit 3"]),
        runWithout(["token", "--secret-command", "/nowhere/canary-less"]),
        runWithout(["token", "--secret-command", "true"]),
        runWithout(["token", "--secret-command", "kill -9 $$"]),
        Effect.timed(runWithout(["token", "--secret-command", "echo canary; sleep 60"]))
      )
      for (const { code, stderr, stdout } of [failed, missing, empty, killed, slow]) {
        assert.deepStrictEqual([code, stdout], [2, ""], stderr)
        assert.notInclude(stderr, "canary")
      }
      assert.match(failed.stderr, /^The command of --secret-command exited with 3\./)
      assert.match(missing.stderr, /^The command of --secret-command exited with 127\./)
      assert.match(empty.stderr, /CREDIT_DATA_CLIENT_SECRET/)
      assert.match(killed.stderr, /^The command of --secret-command was ended by SIGKILL\./)
      assert.match(slow.stderr, /^The command of --secret-command did not finish within 5 seconds\./)
      assert.isBelow(Duration.toMillis(time), 30_000)
      assert.strictEqual(yield* tokenRequests, 0)
    })
  )
})
