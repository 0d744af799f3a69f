import { script, start } from "@credit-data/test-support/childProcess"
import { Command } from "@effect/platform"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { fileURLToPath } from "node:url"

const bin = fileURLToPath(new URL("../src/bin.ts", import.meta.url))

it.live("the command starts the servers, prints the variables to export, and exits at once on SIGINT", () =>
  Effect.gen(function*() {
    const { child, printed } = yield* start(script(bin).pipe(Command.env({ SIMULATOR_PORT: "17400" })))
    const instructions = yield* printed("--header \"Authorization: Bearer $TOKEN\"")
    const variables = Object.fromEntries(
      [...instructions.matchAll(/^ {2}export (\w+)='(.*)'$/gm)].map(([, name, value]) => [name, value])
    )
    assert.strictEqual(variables["CREDIT_DATA_BASE_URL"], "http://127.0.0.1:17400")
    const response = yield* Effect.promise(() =>
      fetch(`${variables["CREDIT_DATA_AUTH_V2_URL"]}/oauth2/token`, {
        method: "POST",
        body: new URLSearchParams({
          client_id: variables["CREDIT_DATA_CLIENT_ID"],
          client_secret: variables["CREDIT_DATA_CLIENT_SECRET"],
          audience: variables["CREDIT_DATA_AUDIENCE"],
          scope: variables["CREDIT_DATA_SCOPES"],
          grant_type: "client_credentials"
        })
      })
    )
    assert.strictEqual(response.status, 200)
    yield* child.kill("SIGINT")
    assert.isFalse(yield* child.isRunning)
  }).pipe(Effect.scoped, Effect.timeout("25 seconds")))
