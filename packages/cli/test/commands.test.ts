import { Fault, Simulator } from "@credit-data/simulator"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { temporaryFolder, onTerminal, program, run, start } from "./support/program.ts"

const secret = "simulated-secret-0123456789abcdefghijklm"
const token = /simulated\.V2\.\d+\.\w+/

const test = <A, E>(name: string, effect: Effect.Effect<A, E, Simulator.Simulator>) =>
  it.live(name, () => Effect.provide(effect, Simulator.layer()), 60_000)

const failTokenRequests = (fault: Fault.Fault, times = 10) =>
  Effect.flatMap(Simulator.Simulator, ({ failTokenRequests }) => failTokenRequests(fault, { times }))

const tokenRequests = Effect.flatMap(Simulator.Simulator, ({ tokenRequests }) => tokenRequests)

const calls = Effect.map(
  Effect.flatMap(Simulator.Simulator, ({ received }) => received),
  (received) => received.filter(({ server }) => server === "Api")
)

describe("credit-data token", () => {
  test(
    "prints only the token",
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* run(["token"])
      assert.deepStrictEqual([code, stderr], [0, ""])
      assert.match(stdout, new RegExp(`^${token.source}\\n$`))
    })
  )

  test(
    "prints JSON with a version and with times in UTC and in seconds",
    Effect.gen(function*() {
      const { stdout } = yield* run(["token", "--output", "json"])
      const { accessToken, expiresAt, requestedAt, scopes, tokenType, version } = JSON.parse(stdout)
      assert.match(accessToken, token)
      assert.deepStrictEqual([version, tokenType], [1, "Bearer"])
      assert.deepStrictEqual(scopes, ["data-access:all", "furnishment:all", "serviceplus:all"])
      assert.match(expiresAt.iso, /^\d{4}-\d\d-\d\dT.*Z$/)
      assert.strictEqual(expiresAt.epochSeconds, Math.floor(Date.parse(expiresAt.iso) / 1_000))
      assert.closeTo(expiresAt.epochSeconds - requestedAt.epochSeconds, 86_400, 1)
    })
  )

  test(
    "prints a header for curl, and a line for eval",
    Effect.gen(function*() {
      assert.match((yield* run(["token", "--output", "header"])).stdout, /^Authorization: Bearer simulated\.\S+\n$/)
      const env = yield* run(["token", "--output", "env"])
      const evaluated = yield* start("sh", ["-c", `${env.stdout} echo "$CREDIT_DATA_ACCESS_TOKEN"`])
      assert.match(evaluated.stdout, new RegExp(`^${token.source}\\n$`))
    })
  )

  test(
    "uses the version of --auth, of CREDIT_DATA_AUTH, or V2",
    Effect.gen(function*() {
      const v1 = /^simulated\.V1\./
      assert.match((yield* run(["token", "--auth", "v1"])).stdout, v1)
      assert.match((yield* run(["token"], { variables: { CREDIT_DATA_AUTH: "v1" } })).stdout, v1)
      assert.match((yield* run(["token"], { variables: { CREDIT_DATA_AUTH: "shadow" } })).stdout, v1)
      const both = yield* run(["token", "--auth", "v2"], { variables: { CREDIT_DATA_AUTH: "v1" } })
      assert.match(both.stdout, token)
    })
  )

  test(
    "hides the token on a terminal, unless --show-token is given",
    Effect.gen(function*() {
      const outputs = [["token"], ...["json", "header", "env"].map((output) => ["token", "--output", output])]
      for (const args of outputs) {
        const { code, stdout } = yield* onTerminal(args)
        assert.strictEqual(code, 0)
        assert.notMatch(stdout, token)
        assert.include(stdout, "--show-token")
      }
      assert.match((yield* onTerminal(["token", "--show-token"])).stdout, token)
    })
  )
})

describe("credit-data doctor", () => {
  test(
    "prints each step, what to do, and exits with 1 when one failed",
    Effect.gen(function*() {
      const good = yield* run(["doctor", "--probe", "/data-access/a"])
      assert.deepStrictEqual([good.code, good.stderr], [0, ""])
      const names = ["configuration", "name", "connection", "TLS", "clock", "token", "scopes", "API"]
      assert.deepStrictEqual(good.stdout.trim().split("\n").map((line) => line.split(/ +/)[1]), names)
      const refused = yield* run(["doctor"], { variables: { CREDIT_DATA_CLIENT_SECRET: "another secret" } })
      assert.strictEqual(refused.code, 1)
      assert.match(refused.stdout, /^failed +token .*the client was refused[^]*Check\s+that\s+the\s+client\s+id/m)
      assert.notInclude(refused.stdout, "another secret")
    })
  )

  test(
    "prints JSON with a version",
    Effect.gen(function*() {
      const good = yield* run(["doctor", "--json"])
      const { ok, steps, version } = JSON.parse(good.stdout)
      assert.deepStrictEqual([version, ok, steps.length, good.code], [1, true, 8, 0])
      const proxy = { HTTPS_PROXY: "http://user:can#ary@proxy:3128" }
      const failed = yield* run(["doctor", "--json"], { variables: proxy })
      assert.deepStrictEqual([JSON.parse(failed.stdout).ok, failed.code], [false, 1])
      assert.include(failed.stdout, "HTTPS_PROXY")
      assert.notMatch(failed.stdout, /can#?ary/)
    })
  )
})

describe("credit-data call", () => {
  test(
    "prints the body of the answer",
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* run(["call", "/data-access/consumers/42"])
      assert.deepStrictEqual([code, stderr], [0, ""])
      assert.strictEqual(JSON.parse(stdout).path, "/data-access/consumers/42")
    })
  )

  test(
    "sends a method, headers and a body",
    Effect.gen(function*() {
      yield* run(["call", "-X", "PUT", "-H", "X-Trace: a b", "-d", "{\"a\":1}", "/furnishment/submissions/7"])
      yield* run(["call", "-d", "@-", "-H", "Content-Type: text/csv", "/furnishment/submissions"], { input: "a;b" })
      yield* run(["call", "-d", "@-", "/furnishment/submissions"])
      const [first, second, third] = yield* calls
      const bodyOf = (call: typeof first) =>
        call === undefined ? "" : new TextDecoder().decode(Redacted.value(call.body))
      assert.deepStrictEqual([first?.method, first?.headers["x-trace"], bodyOf(first)], ["PUT", "a b", "{\"a\":1}"])
      assert.strictEqual(first?.headers["content-type"], "application/json")
      assert.deepStrictEqual([second?.method, second?.headers["content-type"], bodyOf(second)], [
        "POST",
        "text/csv",
        "a;b"
      ])
      assert.deepStrictEqual([third?.method, bodyOf(third)], ["POST", ""])
    })
  )

  test(
    "exits with 0 on any answer, and with 22 on an error status with --fail",
    Effect.gen(function*() {
      const missing = yield* run(["call", "/nothing"])
      assert.deepStrictEqual([missing.code, missing.stderr], [0, "status 404\n"])
      const failed = yield* run(["call", "--fail", "/nothing"])
      assert.strictEqual(failed.code, 22)
      assert.strictEqual((yield* run(["call", "--fail", "/data-access/a"])).code, 0)
    })
  )

  test(
    "replaces a cached token that the API rejects",
    Effect.gen(function*() {
      const variables = { XDG_CACHE_HOME: yield* temporaryFolder }
      yield* run(["call", "--cache", "/data-access/a"], { variables })
      yield* Effect.flatMap(Simulator.Simulator, ({ revokeTokens }) => revokeTokens)
      assert.strictEqual((yield* run(["call", "--cache", "--fail", "/data-access/a"], { variables })).code, 0)
      assert.strictEqual(yield* tokenRequests, 2)
    }).pipe(Effect.scoped)
  )

  test(
    "refuses another host, a wrong header and a wrong method before anything is sent",
    Effect.gen(function*() {
      for (
        const args of [
          ["https://elsewhere.example/"],
          ["-H", "nonsense", "/a"],
          ["-H", "Bad Name: x", "/a"],
          ["-H", "Authorization: Bearer x", "/a"],
          ["-X", "BREW", "/a"],
          [
            "-d",
            "@/nowhere",
            "/a"
          ]
        ]
      ) {
        const { code, stderr, stdout } = yield* run(["call", ...args])
        assert.deepStrictEqual([code, stdout], [2, ""], args.join(" "))
        assert.isNotEmpty(stderr)
      }
      assert.deepStrictEqual(yield* calls, [])
    })
  )
})

describe("credit-data exec", () => {
  test(
    "runs a program with the token and without the secret, and exits like it",
    Effect.gen(function*() {
      const script = "echo \"$CREDIT_DATA_ACCESS_TOKEN $CREDIT_DATA_CLIENT_SECRET\"; exit 7"
      const { code, stdout } = yield* run(["exec", "--", "sh", "-c", script])
      assert.strictEqual(code, 7)
      assert.match(stdout, new RegExp(`^${token.source} \\n$`))
      assert.strictEqual((yield* run(["exec", "--", "sh", "-c", "kill -TERM $$"])).code, 128 + 15)
      for (const signal of ["SIGTERM", "SIGHUP", "SIGINT"] as const) {
        const script = `trap "exit 3" ${signal.slice(3)}; for i in 1 2 3 4 5 6 7 8; do sleep 1; done`
        const stopped = yield* run(["exec", "--", "sh", "-c", script], {
          started: (kill) => setTimeout(() => kill(signal), 3_000)
        })
        assert.strictEqual(stopped.code, 3, signal)
      }
      assert.strictEqual((yield* run(["exec", "--", "/etc/passwd/x"])).code, 2)
      const listed = yield* run(["exec", "--", "sh", "-c", "ps -o args= -p $PPID"])
      assert.include(listed.stdout, "exec -- sh")
      assert.notMatch(listed.stdout, new RegExp(`${token.source}|${secret}`))
      const missing = yield* run(["exec", "--", "a-program-that-does-not-exist"])
      assert.deepStrictEqual([missing.code, missing.stdout], [2, ""])
    })
  )
})

describe("credit-data compare", () => {
  test(
    "prints both tokens, the probes and a verdict",
    Effect.gen(function*() {
      const { code, stdout } = yield* run(["compare", "--probe", "GET /data-access/consumers/42"])
      assert.strictEqual(code, 0)
      assert.match(
        stdout,
        /^V1 +lifetime +23h 59m \d+s\n +granted +read:consumers .*\nV2 +lifetime .*\n +granted +data-access:all /
      )
      assert.match(stdout, /^GET \/data-access\/consumers\/42 +200 +200 +same$/m)
      assert.include(stdout, "Ready for V2.")
    })
  )

  test(
    "exits with 1 when something speaks against V2, also as JSON",
    Effect.gen(function*() {
      const { grantScopes } = yield* Simulator.Simulator
      yield* grantScopes(["data-access:all"])
      const text = yield* run(["compare"])
      assert.strictEqual(text.code, 1)
      assert.include(text.stdout, "- V2 does not grant furnishment:all serviceplus:all.")
      const json = yield* run(["compare", "--json"])
      assert.strictEqual(json.code, 1)
      const { problems, verdict, version } = JSON.parse(json.stdout)
      assert.deepStrictEqual([version, verdict, problems[0].type], [1, "NotReady", "ScopesMissing"])
      assert.strictEqual((yield* run(["compare", "--probe", "POST /a"])).code, 2)
    })
  )
})

describe("credit-data status and --cache", () => {
  test(
    "keep one token for several commands, sealed on disk",
    Effect.gen(function*() {
      const folder = yield* temporaryFolder
      const variables = { XDG_CACHE_HOME: folder }
      const before = yield* run(["status"], { variables })
      assert.deepStrictEqual([before.code, before.stdout], [2, ""])
      assert.include(before.stderr, "--cache")
      assert.strictEqual(yield* tokenRequests, 0)
      const first = yield* run(["token", "--cache"], { variables })
      const second = yield* run(["token", "--cache"], { variables })
      assert.strictEqual(first.stdout, second.stdout)
      const { code, stdout } = yield* run(["status"], { variables })
      assert.strictEqual(code, 0)
      assert.match(stdout, /^life +█+ 100 %$/m)
      assert.match(stdout, /^left +23h 59m/m)
      const json = JSON.parse((yield* run(["status", "--json"], { variables })).stdout)
      assert.deepStrictEqual([json.version, json.leftSeconds > 86_000], [1, true])
      assert.strictEqual(yield* tokenRequests, 1)

      const tokens = join(folder, "credit-data", "tokens")
      for (const name of readdirSync(tokens, { recursive: true })) {
        const file = join(tokens, String(name))
        if (!statSync(file).isFile()) continue
        assert.strictEqual(statSync(file).mode & 0o77, 0)
        const text = readFileSync(file, "latin1")
        for (const canary of [first.stdout.trim(), secret, "simulated-client"]) assert.notInclude(text, canary)
      }
    }).pipe(Effect.scoped)
  )
})

describe("credit-data simulator", () => {
  test(
    "runs the simulator until Ctrl-C",
    Effect.gen(function*() {
      const { stdout } = yield* start(process.execPath, [program, "simulator"], {
        variables: { SIMULATOR_PORT: "17400" },
        started: (kill) => setTimeout(() => kill("SIGINT"), 3_000)
      })
      assert.include(stdout, "export CREDIT_DATA_AUTH_V2_URL='http://127.0.0.1:17402'")
    })
  )
})

describe("the exit code of credit-data", () => {
  const failed = (code: number, args: ReadonlyArray<string>, variables: Record<string, string> = {}) =>
    Effect.map(run(args, { variables }), (outcome) => {
      assert.strictEqual(outcome.code, code, outcome.stderr)
      assert.strictEqual(outcome.stdout, "")
      assert.notInclude(outcome.stderr, secret)
      return outcome.stderr
    })

  test(
    "is 2 for a wrong option, for variables that are missing, and for a secret as an argument",
    Effect.gen(function*() {
      assert.include(yield* failed(2, ["token", "--nonsense=canary"]), "--nonsense")
      assert.notInclude(yield* failed(2, ["token", "--nonsense=a canary"]), "canary")
      assert.notInclude(yield* failed(2, ["token", "--client-secret=canary"]), "canary")
      assert.notInclude(yield* failed(2, ["token", "--client-secret", "canary"]), "canary")
      assert.include(yield* failed(2, ["brew"]), "Invalid subcommand")
      assert.include(yield* failed(2, ["completions", "tcsh"]), "fish")
      assert.include(yield* failed(2, ["token"], { CREDIT_DATA_AUTH: "v3" }), "v1 or shadow or v2")
      const proxy = yield* failed(2, ["token"], { HTTPS_PROXY: "http://user:can#ary@proxy:3128" })
      assert.match(proxy, /HTTPS_PROXY.*malformed/)
      assert.notMatch(proxy, /can#?ary/)
      const { code, stderr, stdout } = yield* start(process.execPath, [program, "token"])
      assert.deepStrictEqual([code, stdout], [2, ""])
      assert.strictEqual(stderr.split("\n").filter((line) => line.startsWith("- CREDIT_DATA_")).length, 7)
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
    "is 4 when the token endpoint is away, or answers that it is busy",
    Effect.gen(function*() {
      yield* failed(4, ["token"], { CREDIT_DATA_AUTH_V2_URL: "http://127.0.0.1:1" })
      yield* failTokenRequests(Fault.Answer({ status: 503 }))
      yield* failed(4, ["call", "/data-access/a"])
    })
  )

  test(
    "is 5 when the answer is invalid",
    Effect.gen(function*() {
      yield* failTokenRequests(Fault.Answer({ status: 200, body: "<html>canary</html>" }))
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
      const stderr = yield* failed(70, ["token", "--output", "json"], { NODE_OPTIONS: `--import=${module}` })
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
      const running = yield* Effect.fork(run(["token"], {
        started: (killer) => {
          kill = killer
        }
      }))
      yield* awaitReceived("AuthV2", 1)
      kill("SIGINT")
      const { code, stdout } = yield* running
      assert.deepStrictEqual([code, stdout], [130, ""])
    })
  )
})

describe("the output of credit-data", () => {
  const escape = String.fromCharCode(27)

  test(
    "has no colours in a pipe, and none with NO_COLOR",
    Effect.gen(function*() {
      for (const args of [["--help"], ["token", "--help"], ["compare"], ["token", "--nonsense"]]) {
        const { stderr, stdout } = yield* run(args)
        assert.notInclude(stdout + stderr, escape)
      }
      const plain = yield* onTerminal(["compare"], { variables: { NO_COLOR: "1" } })
      assert.notInclude(plain.stdout, escape)
      assert.include((yield* onTerminal(["compare"])).stdout, escape)
    })
  )

  test(
    "is help that fits into 120 columns and names the program",
    Effect.gen(function*() {
      const { code, stdout } = yield* run([])
      assert.strictEqual(code, 0)
      assert.strictEqual((yield* run(["--help"])).stdout, stdout)
      for (const line of stdout.split("\n")) assert.isAtMost(line.length, 120)
      for (const name of ["token", "compare", "call", "exec", "status", "simulator", "doctor"]) {
        assert.include(stdout, `  ${name} `)
        assert.match((yield* run([name, "--help"])).stdout, new RegExp(`^\\s*\\$ credit-data ${name}`, "m"))
      }
      assert.match((yield* run(["--version"])).stdout, /^\d+\.\d+\.\d+\n$/)
    })
  )

  test(
    "is a script of completions for each shell",
    Effect.gen(function*() {
      const { stdout } = yield* run(["completions", "bash"])
      const checked = yield* start("bash", ["-n"], { input: stdout })
      assert.deepStrictEqual([checked.code, checked.stderr], [0, ""])
      for (const shell of ["zsh", "fish"]) assert.include((yield* run(["completions", shell])).stdout, "credit-data")
    })
  )

  test(
    "may be closed by its reader",
    Effect.gen(function*() {
      const variables = yield* Simulator.variables
      const line = `${process.execPath} ${program} call /data-access/a | true; echo "\${PIPESTATUS[0]}"`
      const { stderr, stdout } = yield* start("bash", ["-c", line], { variables })
      assert.deepStrictEqual([stdout, stderr], ["0\n", ""])
    })
  )
})
