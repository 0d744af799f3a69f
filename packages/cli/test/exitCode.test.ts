import { Fault, Simulator } from "@credit-data/simulator"
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { failTokenRequests, secret, test, together } from "./support/command.ts"
import { type Outcome, run, runProcess, runWith, temporaryFolder } from "./support/program.ts"

describe.concurrent("the exit code of credit-data", () => {
  const checked = (code: number) => (outcome: Outcome) => {
    assert.strictEqual(outcome.code, code, outcome.stderr)
    assert.strictEqual(outcome.stdout, "")
    assert.notInclude(outcome.stderr, secret)
    return outcome.stderr
  }

  const failed = (code: number, args: ReadonlyArray<string>, variables: Record<string, string> = {}) =>
    Effect.map(run(args, variables), checked(code))

  test(
    "is 2 for a wrong option, for variables that are missing, and for a secret as an argument",
    Effect.gen(function*() {
      const [proxy, ...messages] = yield* together(
        failed(2, ["token"], { HTTPS_PROXY: "http://user:can#ary@proxy:3128" }),
        failed(2, ["token", "--nonsense=canary"]),
        failed(2, ["token", "--client-secret=canary"]),
        failed(2, ["token", "--client-secret", "canary"]),
        failed(2, ["brew"]),
        failed(2, ["--auth", "v1", "token"]),
        failed(2, ["completions", "tcsh"]),
        failed(2, ["token"], { CREDIT_DATA_AUTH: "v3" }),
        failed(2, ["call", "/a", "-X"]),
        failed(2, ["call", "/a", "-X", "get", "-d", "canary"])
      )
      assert.match(proxy, /HTTPS_PROXY.*malformed/)
      assert.notMatch(proxy, /can#?ary/)
      const expected = [
        "Unknown option: --nonsense. See credit-data token --help.\n",
        "Do not pass credentials as arguments",
        "Do not pass credentials as arguments",
        "There is no such command. The commands are token",
        "Expected a command first, then its options. The commands are token",
        "fish",
        "v1 or v2",
        "-X needs a value. See credit-data call --help.\n",
        "A GET has no body. Give --data another --request."
      ]
      for (const [index, message] of messages.entries()) {
        assert.include(message, expected[index] ?? "?")
        assert.notInclude(message, "canary")
      }
      const { code, stderr, stdout } = yield* runWith({}, ["token"])
      assert.deepStrictEqual([code, stdout], [2, ""])
      assert.strictEqual(stderr.split("\n").filter((line) => line.startsWith("- CREDIT_DATA_")).length, 7)
    })
  )

  test(
    "is 2 for an argument that is not expected, which is not repeated",
    Effect.gen(function*() {
      const messages = yield* together(
        failed(2, ["token", "--client-secrt=a canary phrase"]),
        failed(2, ["token", "--client-secrt", "a canary phrase"]),
        failed(2, ["token", "--client-secrt=it's a canary\nphrase"]),
        failed(2, ["token", "-s=a canary phrase"]),
        failed(2, ["token", "--cache=a canary phrase"]),
        failed(2, ["token", "a canary phrase"]),
        failed(2, ["call", "--hedaer", "X-Key: canary", "/a"]),
        failed(2, ["--client-secrt=a canary phrase", "token"])
      )
      for (const message of messages) {
        assert.notMatch(message, /canary|phrase/)
        assert.match(message, /^[^\n]+\n$/)
      }
    })
  )

  test(
    "is 3 when the client is refused",
    Effect.gen(function*() {
      const wrong = "another-secret-0123456789abcdefghijklmno"
      const stderr = yield* failed(3, ["token"], { CREDIT_DATA_CLIENT_SECRET: wrong })
      assert.include(stderr, "refused the client")
      assert.notInclude(stderr, wrong)
    })
  )

  test(
    "is 4 when the token endpoint is unavailable, or responds that it is busy",
    Effect.gen(function*() {
      yield* failTokenRequests(Fault.Response({ status: 503 }))
      const outcomes = yield* together(
        runProcess(["token"], { variables: { CREDIT_DATA_AUTH_V2_URL: "http://127.0.0.1:1" } }),
        runProcess(["call", "/data-access/a"])
      )
      for (const outcome of outcomes) {
        const stderr = checked(4)(outcome)
        // the message of the log would be a second one
        assert.match(stderr, /^The token endpoint [^\n]+\n$/)
        // nothing applies to the next process
        assert.notInclude(stderr, "Next attempt")
      }
    })
  )

  test(
    "is 5 when the response is invalid",
    Effect.gen(function*() {
      yield* failTokenRequests(Fault.Response({ status: 200, body: "<html>canary</html>" }))
      assert.notInclude(yield* failed(5, ["exec", "--", "true"]), "canary")
    })
  )

  test(
    "is 6 when a scope is missing",
    Effect.gen(function*() {
      const { grantScopes } = yield* Simulator.Simulator
      yield* grantScopes(["data-access:all"])
      assert.include(yield* failed(6, ["token"]), "furnishment:all serviceplus:all")
    })
  )

  test(
    "is 70 for a defect, which shows no message of another library",
    Effect.gen(function*() {
      const folder = yield* temporaryFolder
      const module = join(folder, "broken.mjs")
      writeFileSync(module, "Date.prototype.toISOString = () => { throw new TypeError('can' + 'ary') }")
      const broken = runProcess(["token", "--json"], { variables: { NODE_OPTIONS: `--import=${module}` } })
      const stderr = yield* Effect.map(broken, checked(70))
      assert.match(stderr, /^A defect of this program: TypeError\..*\n +at /)
      assert.notInclude(stderr, "canary")
    }).pipe(Effect.scoped)
  )

  test(
    "is 130 after Ctrl-C",
    Effect.gen(function*() {
      const { awaitReceived } = yield* Simulator.Simulator
      yield* failTokenRequests(Fault.Silence())
      let kill: (signal: NodeJS.Signals) => void = () => {}
      const running = yield* Effect.fork(runProcess(["token"], {
        observe: (_, killer) => {
          kill = killer
        }
      }))
      yield* awaitReceived("AuthV2", 1)
      kill("SIGINT")
      const { code, stdout } = yield* Fiber.join(running)
      assert.deepStrictEqual([code, stdout], [130, ""])
    })
  )
})
