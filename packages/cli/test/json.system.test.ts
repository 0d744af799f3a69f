import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { test, together } from "./support/command.ts"
import { onTerminal, run } from "./support/program.ts"

describe("--json", () => {
  test(
    "is the only option for JSON, which the messages about other options name",
    Effect.gen(function*() {
      const typed = [
        ["token", "--output", "json"],
        ["token", "--output=json"],
        ["token", "--format", "json"],
        ["token", "-o", "json"],
        ["doctor", "--output", "json"],
        ["compare", "--format=json"],
        ["status", "-j"],
        ["call", "--json", "{}", "/a"]
      ]
      const outcomes = yield* together(...typed.map((args) => run(args)))
      for (const [index, { code, stderr, stdout }] of outcomes.entries()) {
        assert.deepStrictEqual([code, stdout], [2, ""])
        assert.include(stderr, typed[index]?.[0] === "call" ? "Use --data BODY" : "se --json.")
      }
      const both = yield* run(["token", "--json", "--output", "header"])
      assert.match(both.stderr, /^--json and --output cannot be combined\./)
    })
  )

  test(
    "is one line on a terminal too, without the token",
    Effect.gen(function*() {
      const { stdout } = yield* onTerminal(["token", "--json"], { variables: { NO_COLOR: "1" } })
      assert.match(stdout, /^\{"version":1,"accessToken":"<hidden>",.*\}\r\n/)
    })
  )
})
