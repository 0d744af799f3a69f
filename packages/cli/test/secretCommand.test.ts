import { Simulator } from "@credit-data/simulator"
import { assert, describe } from "@effect/vitest"
import { Duration, Effect, Schedule } from "effect"
import * as PrintedJson from "./support/printedJson.ts"
import { decoded, secret, test, together, token, tokenRequests } from "./support/command.ts"
import { program, runWith, start, startProgram } from "./support/program.ts"

const variablesWithout = Effect.map(Simulator.variables, (all) => {
  const { CREDIT_DATA_CLIENT_SECRET: _, ...variables } = all
  return variables
})

/** Runs the program without the variable of the secret. */
const runWithout = (args: ReadonlyArray<string>) =>
  Effect.flatMap(variablesWithout, (variables) => runWith(variables, args))

/** The same in a process of its own. */
const startWithout = (args: ReadonlyArray<string>, input = "", others: Record<string, string> = {}) =>
  Effect.flatMap(variablesWithout, (variables) => startProgram(args, { variables: { ...variables, ...others }, input }))

/** Lets 30 seconds pass in one. */
const inAHurry = {
  NODE_OPTIONS: `--import=data:text/javascript,${
    encodeURIComponent(`
      const { setTimeout } = globalThis
      globalThis.setTimeout = (run, millis) => setTimeout(run, millis === 30_000 ? 1_000 : millis)
    `)
  }`
}

describe.concurrent("--secret-command", () => {
  test(
    "reads the secret from a command, from a pipe, or from a file of variables that is a pipe",
    Effect.gen(function*() {
      const lines = Object.entries(yield* Simulator.variables).map(([name, value]) => `${name}="${value}"`).join("\\n")
      const substitution = `${process.execPath} ${program} token --variables <(printf '${lines}')`
      const [command, pipe, file, child, doctor] = yield* together(
        runWithout(["token", "--secret-command", `echo ${secret}`]),
        startWithout(["token", "--secret-command=cat"], `${secret}\n`),
        start("bash", ["-c", substitution]),
        startWithout(["exec", "--secret-command", `echo ${secret}`, "--", "env"]),
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
    "passes on what the command prints on standard error, shows nothing else of it, and ends after 30 seconds",
    Effect.gen(function*() {
      const shown = "echo canary; echo shown >&2; "
      const [failed, missing, empty, killed, [time, slow]] = yield* together(
        runWithout(["token", "--secret-command", `${shown}exit 3`]),
        runWithout(["token", "--secret-command", "/nowhere/program"]),
        runWithout(["token", "--secret-command", "true"]),
        runWithout(["token", "--secret-command", "kill -9 $$"]),
        Effect.timed(startWithout(["token", "--secret-command", `${shown}sleep 60; true`], "", inAHurry))
      )
      for (const { code, stderr, stdout } of [failed, missing, empty, killed, slow]) {
        assert.deepStrictEqual([code, stdout], [2, ""], stderr)
        assert.notInclude(stderr, "canary")
      }
      const message = (reason: string) =>
        `The command of --secret-command ${reason}. Run it on its own to see its output.\n`
      assert.strictEqual(failed.stderr, `shown\n${message("exited with 3")}`)
      assert.include(missing.stderr, message("exited with 127"))
      assert.strictEqual(empty.stderr, message("printed nothing"))
      assert.strictEqual(killed.stderr, message("was ended by SIGKILL"))
      assert.strictEqual(slow.stderr, `shown\n${message("did not finish within 30 seconds")}`)
      assert.isBelow(Duration.toMillis(time), 30_000)
      assert.strictEqual(yield* tokenRequests, 0)
    })
  )

  test(
    "does not wait for a process that the command leaves in the background",
    Effect.gen(function*() {
      const left = yield* startWithout(["token", "--secret-command", `sleep 60 & echo $! >&2; echo ${secret}`])
      assert.strictEqual(left.code, 0, left.stderr)
      process.kill(Number(left.stderr))
      assert.match(left.stdout, token)
    })
  )

  test(
    "leaves no command running that takes longer than 30 seconds",
    Effect.gen(function*() {
      const slow = yield* startWithout(["token", "--secret-command", "echo $$ >&2; exec sleep 60"], "", inAHurry)
      assert.strictEqual(slow.code, 2)
      const [pid = ""] = slow.stderr.split("\n")
      // a signal takes a moment to end a process
      yield* Effect.try(() => process.kill(Number(pid), 0)).pipe(
        Effect.flip,
        Effect.retry({ times: 100, schedule: Schedule.spaced("50 millis") })
      )
    })
  )
})
