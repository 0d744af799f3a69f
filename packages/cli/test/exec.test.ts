import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { secret, test, together, token } from "./support/command.ts"
import { runProcess } from "./support/program.ts"

describe.concurrent("credit-data exec", () => {
  test(
    "runs a program with the token and without the secret, and exits with its exit code",
    Effect.gen(function*() {
      const script = "echo \"$CREDIT_DATA_ACCESS_TOKEN $CREDIT_DATA_CLIENT_SECRET\"; exit 7"
      const [seven, killed, unusable, missing] = yield* together(
        runProcess(["exec", "--", "sh", "-c", script]),
        runProcess(["exec", "--", "sh", "-c", "kill -TERM $$"]),
        runProcess(["exec", "--", "/etc/passwd/x"]),
        runProcess(["exec", "--", "a-program-that-does-not-exist"])
      )
      assert.strictEqual(seven.code, 7)
      assert.match(seven.stdout, new RegExp(`^${token.source} \\n$`))
      assert.strictEqual(killed.code, 128 + 15)
      assert.strictEqual(unusable.code, 2)
      assert.deepStrictEqual([missing.code, missing.stdout], [2, ""])
    })
  )

  test(
    "runs a program without any variable of the secret, however its name is spelled",
    Effect.gen(function*() {
      const { stdout } = yield* runProcess(["exec", "--", "env"], {
        variables: {
          credit_data_client_secret: secret,
          Credit_Data_Client_Secret: secret,
          "CREDIT-DATA-CLIENT-SECRET": secret,
          CREDIT_DATA_CLIENT_SECRET_OLD: secret
        }
      })
      assert.match(stdout, /^CREDIT_DATA_ACCESS_TOKEN=/m)
      assert.match(stdout, /^CREDIT_DATA_CLIENT_ID=/m)
      assert.notInclude(stdout, secret)
    })
  )

  test(
    "passes signals on, and exits with the program's exit code",
    Effect.gen(function*() {
      const signals = ["SIGTERM", "SIGHUP", "SIGINT"] as const
      const stopped = yield* together(...signals.map((signal) => {
        const script = `trap "kill \\$!; exit 3" ${signal.slice(3)}; sleep 9 >/dev/null 2>&1 & echo ready; wait`
        return runProcess(["exec", "--", "bash", "-c", script], {
          observe: (stdout, kill) => {
            if (stdout === "ready\n") kill(signal)
          }
        })
      }))
      assert.deepStrictEqual(stopped.map(({ code }) => code), [3, 3, 3])
    })
  )

  test(
    "leaves the program's options unchanged",
    Effect.gen(function*() {
      const { stdout } = yield* runProcess(["exec", "--", "echo", "--auth=v1", "--header=a", "-X"])
      assert.strictEqual(stdout, "--auth=v1 --header=a -X\n")
    })
  )
})
