import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { secret, test, together, token } from "./support/command.ts"
import { runProcess } from "./support/program.ts"

describe.concurrent("credit-data exec", () => {
  test(
    "runs a program with its options, the token and no variable of the secret, however its name is spelled, and exits with its exit code",
    Effect.gen(function*() {
      const script = "echo \"$*\"; env; exit 7"
      const variables = {
        credit_data_client_secret: secret,
        Credit_Data_Client_Secret: secret,
        "CREDIT-DATA-CLIENT-SECRET": secret,
        CREDIT_DATA_CLIENT_SECRET_OLD: secret
      }
      const [seven, killed, unusable, missing] = yield* together(
        runProcess(["exec", "--", "sh", "-c", script, "sh", "--auth=v1", "--header=a", "-X"], { variables }),
        runProcess(["exec", "--", "sh", "-c", "kill -TERM $$"]),
        runProcess(["exec", "--", "/etc/passwd/x"]),
        runProcess(["exec", "--", "a-program-that-does-not-exist"])
      )
      assert.strictEqual(seven.code, 7)
      assert.match(seven.stdout, /^--auth=v1 --header=a -X\n/)
      assert.match(seven.stdout, new RegExp(`^CREDIT_DATA_ACCESS_TOKEN=${token.source}$`, "m"))
      assert.match(seven.stdout, /^CREDIT_DATA_CLIENT_ID=/m)
      assert.notInclude(seven.stdout, secret)
      assert.strictEqual(killed.code, 128 + 15)
      assert.strictEqual(unusable.code, 2)
      assert.deepStrictEqual([missing.code, missing.stdout], [2, ""])
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
})
