import { Simulator } from "@credit-data/simulator"
import { HttpServerResponse } from "@effect/platform"
import { assert, describe } from "@effect/vitest"
import { Effect, Option, Redacted } from "effect"
import { secret, test, together, token } from "./support/command.ts"
import { run, runProcess } from "./support/program.ts"

describe.concurrent("--verbose", () => {
  test(
    "shows each request and its response on standard error, and no secret, token or body",
    Effect.gen(function*() {
      const { handleCalls } = yield* Simulator.Simulator
      // a server that echoes the token in each form
      yield* handleCalls(({ authorization }) => {
        const echoed = Redacted.value(Option.getOrThrow(authorization)).replace("Bearer ", "")
        const headers = {
          "x-echo": `it was ${echoed}`,
          "x-encoded": encodeURIComponent(echoed),
          "x-base64": btoa(echoed),
          "set-cookie": "session=canary"
        }
        return Effect.succeed(HttpServerResponse.text("a canary body", { headers }))
      })
      const args = ["-d", "canary", "-H", "X-Api-Key: canary", "-H", "X-Trace: a", "/data-access/a"]
      const { code, stderr, stdout } = yield* run(["call", "--verbose", ...args])
      assert.deepStrictEqual([code, stdout], [0, "a canary body"])
      assert.match(stderr, /^> POST http:\/\/127\.0\.0\.1:\d+\/oauth2\/token$/m)
      assert.match(stderr, /^> POST http:\/\/127\.0\.0\.1:\d+\/data-access\/a$/m)
      assert.match(stderr, /^> content-length: 6$/m)
      assert.match(stderr, /^> x-trace: a$/m)
      assert.match(stderr, /^> authorization: <redacted>$/m)
      assert.strictEqual(stderr.match(/^< 200 after \d+ ms$/gm)?.length, 2)
      assert.match(stderr, /^< x-echo: it was <\w+>$/m)
      assert.notMatch(stderr, token)
      assert.notInclude(stderr, secret)
      assert.notInclude(stderr, btoa("simulated."))
      assert.notInclude(stderr, "canary")
      for (const line of stderr.trim().split("\n")) assert.match(line, /^[<>] /)
    })
  )

  test(
    "shows why there was no response, and the requests of every other command",
    Effect.gen(function*() {
      const closed = { CREDIT_DATA_AUTH_V2_URL: "http://127.0.0.1:1" }
      const [failed, ...others] = yield* together(
        run(["token", "-v", "--timeout", "1s"], closed),
        run(["token", "-v"]),
        runProcess(["exec", "-v", "--", "true"]),
        run(["compare", "-v"]),
        run(["doctor", "-v"])
      )
      assert.include(failed.stderr, "< no response (Transport)")
      for (const { stderr } of others) {
        assert.match(stderr, /^> POST .*\/oauth2\/token$/m)
        assert.match(stderr, /^< 200 after \d+ ms$/m)
        assert.notInclude(stderr, secret)
      }
    })
  )
})
