import { Fault } from "@credit-data/simulator"
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { escape, failTokenRequests, secret, test, together, token } from "./support/command.ts"
import { onTerminal, run, runProcess, temporaryFolder } from "./support/program.ts"

describe("credit-data on a terminal", () => {
  test(
    "has colours for light and dark terminals, and none with NO_COLOR",
    Effect.gen(function*() {
      const [plain, colored] = yield* together(
        onTerminal(["compare"], { variables: { NO_COLOR: "1" } }),
        onTerminal(["compare"])
      )
      assert.notInclude(plain.stdout, escape)
      assert.include(colored.stdout, escape)
      // black and white are invisible on one of them
      assert.notMatch(colored.stdout, /\[(0;)?(1;)?(30|37|90|97)m/)
    })
  )

  test(
    "exec shows neither the token nor the secret in the list of processes",
    Effect.gen(function*() {
      const { stdout } = yield* runProcess(["exec", "--", "sh", "-c", "ps -o args= -p $PPID"])
      assert.include(stdout, "exec -- sh")
      assert.notMatch(stdout, new RegExp(`${token.source}|${secret}`))
    })
  )

  test(
    "hides the token on a terminal, unless --show-token is given",
    Effect.gen(function*() {
      const outputs = [
        ["token"],
        ["token", "--json"],
        ...["header", "env"].map((output) => ["token", "--output", output])
      ]
      const [shown, ...hidden] = yield* together(
        onTerminal(["token", "--show-token"]),
        ...outputs.map((args) => onTerminal(args))
      )
      assert.match(shown.stdout, token)
      for (const { code, stdout } of hidden) {
        assert.strictEqual(code, 0)
        assert.notMatch(stdout, token)
        assert.include(stdout, "--show-token")
      }
    })
  )

  test(
    "shows scopes without the effect that their characters would have",
    Effect.gen(function*() {
      const body = { access_token: "a-token", token_type: "Bearer", expires_in: 3_600 }
      const scope = `data-access:all furnishment:all serviceplus:all a${escape}]0;title\u0007\u202eb`
      yield* failTokenRequests(Fault.Response({ status: 200, body: JSON.stringify({ ...body, scope }) }))
      const { stdout } = yield* onTerminal(["token"], { variables: { NO_COLOR: "1" } })
      assert.include(stdout, "serviceplus:all a\\u001b]0;title\\u0007\\u202eb")
    })
  )

  test(
    "fits into 40, 80 and 120 columns",
    Effect.gen(function*() {
      for (const columns of [40, 80, 120]) {
        const variables = { NO_COLOR: "1", CREDIT_DATA_AUDIENCE: "", CREDIT_DATA_SCOPES: "" }
        const { code, stdout } = yield* onTerminal(["doctor"], { columns, variables })
        assert.strictEqual(code, 1)
        const lines = stdout.split("\r\n")
        // an address has no space at which it could be broken
        for (const line of lines.filter((line) => !/\S{40}/.test(line))) assert.isAtMost(line.length, columns, line)
        assert.strictEqual(lines.filter((line) => /^ +- Change CREDIT_DATA_/.test(line)).length, 2)
      }
    })
  )

  test(
    "lists profiles within 40, 80 and 120 columns, one below the other where a table has no room",
    Effect.gen(function*() {
      const folder = yield* temporaryFolder
      mkdirSync(join(folder, "credit-data"))
      const profile = (name: string) =>
        `[${name}]\nCREDIT_DATA_CLIENT_ID=acme\nCREDIT_DATA_BASE_URL=https://api.${name}.example\n` +
        `CREDIT_DATA_AUTH_V2_URL=https://auth.${name}.example\nsecret-command=false\n`
      writeFileSync(join(folder, "credit-data/profiles.ini"), profile("sandbox") + profile("production"), {
        mode: 0o600
      })
      const variables = { XDG_CONFIG_HOME: folder, NO_COLOR: "1" }
      const [narrow, wide, wider] = yield* together(
        ...[40, 80, 120].map((columns) => onTerminal(["profiles"], { columns, variables }))
      )
      assert.strictEqual(
        narrow?.stdout,
        [
          "profile  sandbox",
          "client   acme",
          "API      api.sandbox.example",
          "Auth V2  auth.sandbox.example",
          "",
          "profile  production",
          "client   acme",
          "API      api.production.example",
          "Auth V2  auth.production.example",
          ""
        ].join("\r\n")
      )
      assert.match(wide?.stdout ?? "", /^profile {5}client {2}API {21}Auth V2\r\nsandbox /)
      assert.strictEqual(wider?.stdout, wide?.stdout)
    }).pipe(Effect.scoped)
  )

  test(
    "has help that fits into 40 columns, with examples that can be copied",
    Effect.gen(function*() {
      const names = ["token", "compare", "call", "exec", "status", "profiles", "doctor", "completions"]
      const helps = yield* together(
        ...[["--help"], ...names.map((name) => [name, "--help"])].map((args) => onTerminal(args, { columns: 40 }))
      )
      for (const { stdout } of helps) {
        for (const line of stdout.split("\r\n")) assert.isAtMost(line.length, 40, line)
      }
      const { stdout } = yield* run(["--help"])
      const words = (text: string) => text.replaceAll(/ \\$/gm, "").split(/\s+/)
      assert.sameMembers(words(helps[0]?.stdout ?? ""), words(stdout))
      assert.include(helps[0]?.stdout, "  credit-data call \\\r\n    /data-access/consumers/42\r\n")
    })
  )

  test(
    "has a spinner on a terminal while it waits, which leaves nothing behind",
    Effect.gen(function*() {
      yield* failTokenRequests(Fault.Delay({ duration: "1500 millis" }))
      const [shown, ascii, plain, ci] = yield* together(
        onTerminal(["token"]),
        onTerminal(["token"], { variables: { LANG: "C" } }),
        onTerminal(["token"], { variables: { NO_COLOR: "1" } }),
        onTerminal(["token"], { variables: { CI: "true" } })
      )
      assert.match(shown.stdout, new RegExp(`^\\r⠋\\r⠙[^]*\\r${escape}\\[Ktoken `))
      assert.match(ascii.stdout, new RegExp(`^\\r\\|\\r/[^]*\\r${escape}\\[Ktoken `))
      for (const { stdout } of [plain, ci]) assert.match(stdout, /^token /)
    })
  )
})
