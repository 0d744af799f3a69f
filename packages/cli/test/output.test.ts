import { AccessScope } from "@credit-data/core"
import { Fault, Simulator } from "@credit-data/simulator"
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { escape, failTokenRequests, test, together } from "./support/command.ts"
import { program, run, runAll, start, temporaryFolder } from "./support/program.ts"

describe.concurrent("the output of credit-data", () => {
  test(
    "has no colours in a pipe",
    Effect.gen(function*() {
      const args = [["--help"], ["token", "--help"], ["compare"], ["token", "--nonsense"]]
      for (const { stderr, stdout } of yield* runAll(args)) assert.notInclude(stdout + stderr, escape)
    })
  )

  test(
    "shows scopes without the effect that their characters would have on a terminal",
    Effect.gen(function*() {
      const scopes = [...AccessScope.all, `a${escape}]0;title\u0007\u202eb\nc`]
      const body = { access_token: "a-token", token_type: "Bearer", expires_in: 3_600, scope: scopes.join(" ") }
      yield* failTokenRequests(Fault.Response({ status: 200, body: JSON.stringify(body) }))
      const folder = yield* temporaryFolder
      const variables = { XDG_CACHE_HOME: folder }
      yield* run(["token", "--cache"], variables)
      const shown = "serviceplus:all a\\u001b]0;title\\u0007\\u202eb c\n"
      for (const { stdout } of yield* runAll([["status"], ["compare"]], variables)) {
        assert.include(stdout, shown)
      }
      yield* failTokenRequests(Fault.Response({ status: 200, body: JSON.stringify({ ...body, scope: `${escape}x` }) }))
      const missing = yield* run(["token"])
      assert.notInclude(missing.stderr, escape)
    }).pipe(Effect.scoped)
  )

  test(
    "repeats an option, a path or a profile without the effect that its characters would have on a terminal",
    Effect.gen(function*() {
      const refusals = yield* runAll([
        ["token", `--unknown${escape}`],
        ["token", "--variables", `/nowhere/${escape}`],
        ["token", "--profile", `none${escape}`],
        ["call", "/data-access/a", "--data", `@/nowhere/${escape}`],
        [escape]
      ], yield* Simulator.variables)
      for (const { code, stderr } of refusals) {
        assert.notStrictEqual(code, 0)
        assert.notInclude(stderr, "\u001b")
        assert.notInclude(stderr, "\u202e")
      }
    }).pipe(Effect.scoped)
  )

  test(
    "is help that fits into 80 columns and names the program",
    Effect.gen(function*() {
      const names = ["token", "compare", "call", "exec", "status", "profiles", "doctor"]
      const [none, help, number, ...helps] = yield* together(
        run([]),
        run(["--help"]),
        run(["--version"]),
        ...names.map((name) => run([name, "--help"]))
      )
      assert.strictEqual(none.code, 0)
      assert.strictEqual(help.stdout, none.stdout)
      for (const { stdout } of [none, ...helps]) {
        for (const line of stdout.split("\n")) assert.isAtMost(line.length, 80, line)
      }
      for (const [index, name] of names.entries()) {
        assert.include(none.stdout, `  ${name} `)
        assert.include(helps[index]?.stdout, `\nUsage: credit-data ${name} `)
      }
      assert.match(number.stdout, /^\d+\.\d+\.\d+\n$/)
    })
  )

  test(
    "is a script of completions for each shell",
    Effect.gen(function*() {
      const [bash, ...others] = yield* together(
        run(["completions", "bash"]),
        run(["completions", "zsh"]),
        run(["completions", "fish"])
      )
      const checked = yield* start("bash", ["-n"], { input: bash.stdout })
      assert.deepStrictEqual([checked.code, checked.stderr], [0, ""])
      for (const { stdout } of others) assert.include(stdout, "credit-data")
    })
  )

  test(
    "may be closed by its reader",
    Effect.gen(function*() {
      const variables = yield* Simulator.variables
      const closed = (args: string, wrong: Record<string, string> = {}) => {
        const line = `${process.execPath} ${program} ${args} | true; echo "\${PIPESTATUS[0]}"`
        return start("bash", ["-c", line], { variables: { ...variables, ...wrong } })
      }
      const [failed, doctor, parser] = yield* together(
        closed("call --fail /nothing"),
        closed("doctor", { CREDIT_DATA_CLIENT_SECRET: "another secret" }),
        closed("token --help")
      )
      // the command keeps its exit code
      assert.deepStrictEqual([failed.stdout, failed.stderr], ["22\n", "status 404\n"])
      assert.deepStrictEqual([doctor.stdout, doctor.stderr], ["1\n", ""])
      assert.deepStrictEqual([parser.stdout, parser.stderr], ["0\n", ""])
    })
  )

  test(
    "that cannot be written is one message, and the exit code 74",
    Effect.gen(function*() {
      const variables = yield* Simulator.variables
      const outcomes = yield* together(
        ...["token", "call /nothing", "token --help"].map((args) =>
          start("bash", ["-c", `${process.execPath} ${program} ${args} > /dev/full`], { variables })
        )
      )
      for (const { code, stderr } of outcomes) {
        assert.strictEqual(code, 74)
        assert.match(stderr, /^(warning: .*\n|status 404\n)?The output cannot be written: ENOSPC\.\n$/)
      }
    })
  )
})
