import { AccessScope } from "@credit-data/core"
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import * as PrintedJson from "./support/printedJson.ts"
import { decoded, sunset, test, together, token } from "./support/command.ts"
import { run, runProcess, start } from "./support/program.ts"

describe.concurrent("credit-data token", () => {
  test(
    "prints only the token",
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* runProcess(["token"])
      assert.deepStrictEqual([code, stderr], [0, ""])
      assert.match(stdout, new RegExp(`^${token.source}\\n$`))
    })
  )

  test(
    "prints JSON with a version and with times in UTC and in seconds",
    Effect.gen(function*() {
      const { stdout } = yield* run(["token", "--json"])
      const { accessToken, expiresAt, requestedAt, scopes } = decoded(PrintedJson.Token, stdout)
      assert.match(accessToken, token)
      assert.deepStrictEqual(scopes, AccessScope.all)
      assert.match(expiresAt.iso, /^\d{4}-\d\d-\d\dT.*Z$/)
      assert.strictEqual(expiresAt.epochSeconds, Math.floor(Date.parse(expiresAt.iso) / 1_000))
      assert.closeTo(expiresAt.epochSeconds - requestedAt.epochSeconds, 86_400, 1)
    })
  )

  test(
    "prints a header for curl, and a line for eval",
    Effect.gen(function*() {
      const [header, env] = yield* together(
        run(["token", "--output", "header"]),
        run(["token", "--output", "env"])
      )
      assert.match(header.stdout, /^Authorization: Bearer simulated\.\S+\n$/)
      const evaluated = yield* start("sh", ["-c", `${env.stdout} echo "$CREDIT_DATA_ACCESS_TOKEN"`])
      assert.match(evaluated.stdout, new RegExp(`^${token.source}\\n$`))
    })
  )

  test(
    "uses the version of --auth, of CREDIT_DATA_AUTH, or V2",
    Effect.gen(function*() {
      const [option, variable, both] = yield* together(
        run(["token", "--auth", "v1"]),
        run(["token"], { CREDIT_DATA_AUTH: "v1" }),
        run(["token", "--auth=v2"], { CREDIT_DATA_AUTH: "v1" })
      )
      for (const { stderr, stdout } of [option, variable]) {
        assert.match(stdout, /^simulated\.V1\./)
        // one plain line
        assert.match(stderr, sunset)
      }
      assert.match(both.stdout, token)
      assert.strictEqual(both.stderr, "")
    })
  )
})
