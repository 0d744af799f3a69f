import { Fault, Simulator } from "@credit-data/simulator"
import { areFree, freePorts } from "@credit-data/test-support/freePorts"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Redacted, Schema } from "effect"
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { help } from "../../simulator/src/internal/standalone/arguments.ts"
import * as Answers from "../src/answers.ts"
import { onTerminal, program, run, runAll, start, temporaryFolder } from "./support/program.ts"

const secret = "simulated-secret-0123456789abcdefghijklm"
const token = /simulated\.V2\.\d+\.\w+/

const test = <A, E>(name: string, effect: Effect.Effect<A, E, Simulator.Simulator>) =>
  it.live(name, () => Effect.provide(effect, Simulator.layer()), 60_000)

/** The JSON that a command has printed. Fails if a field is missing or not documented. */
const decoded = <A, I>(schema: Schema.Schema<A, I>, stdout: string): A =>
  Schema.decodeUnknownSync(Schema.parseJson(schema))(stdout, { onExcessProperty: "error" })

const sunset = /^warning: Auth V1 is past its sunset .*\n$/

/** Effects that do not depend on each other. Each starts a process. */
const together = <const Effects extends ReadonlyArray<Effect.Effect<unknown, unknown, unknown>>>(...effects: Effects) =>
  Effect.all(effects, { concurrency: 4 })

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
      const { accessToken, expiresAt, requestedAt, scopes } = decoded(Answers.Token, stdout)
      assert.match(accessToken, token)
      assert.deepStrictEqual(scopes, ["data-access:all", "furnishment:all", "serviceplus:all"])
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
      const [option, variable, shadow, both] = yield* together(
        run(["token", "--auth", "v1"]),
        run(["token"], { variables: { CREDIT_DATA_AUTH: "v1" } }),
        run(["token"], { variables: { CREDIT_DATA_AUTH: "shadow" } }),
        run(["token", "--auth=v2"], { variables: { CREDIT_DATA_AUTH: "v1" } })
      )
      for (const { stderr, stdout } of [option, variable, shadow]) {
        assert.match(stdout, /^simulated\.V1\./)
        // one plain line
        assert.match(stderr, sunset)
      }
      assert.match(both.stdout, token)
      assert.strictEqual(both.stderr, "")
    })
  )

  test(
    "hides the token on a terminal, unless --show-token is given",
    Effect.gen(function*() {
      const outputs = [["token"], ...["json", "header", "env"].map((output) => ["token", "--output", output])]
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
})

describe("credit-data doctor", () => {
  test(
    "prints each step, what to do, and exits with 1 when one failed",
    Effect.gen(function*() {
      const [good, refused] = yield* together(
        run(["doctor", "--probe", "/data-access/a"]),
        run(["doctor"], { variables: { CREDIT_DATA_CLIENT_SECRET: "another secret" } })
      )
      assert.deepStrictEqual([good.code, good.stderr], [0, ""])
      const names = ["configuration", "name", "connection", "TLS", "clock", "token", "scopes", "API"]
      assert.deepStrictEqual(good.stdout.trim().split("\n").map((line) => line.split(/ +/)[1]), names)
      assert.strictEqual(refused.code, 1)
      assert.match(refused.stdout, /^failed +token .*the client was refused[^]*Check\s+that\s+the\s+client\s+id/m)
      assert.notInclude(refused.stdout, "another secret")
    })
  )

  test(
    "prints JSON with a version",
    Effect.gen(function*() {
      const proxy = { HTTPS_PROXY: "http://user:can#ary@proxy:3128" }
      const [good, failed] = yield* together(
        run(["doctor", "--json"]),
        run(["doctor", "--json"], { variables: proxy })
      )
      const { ok, steps } = decoded(Answers.Doctor, good.stdout)
      assert.deepStrictEqual([ok, steps.length, good.code], [true, 8, 0])
      assert.deepStrictEqual([decoded(Answers.Doctor, failed.stdout).ok, failed.code], [false, 1])
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
      yield* together(
        run(["call", "-X", "PUT", "-H", "X-Trace: a b", "-d", "{\"a\":1}", "/furnishment/submissions/1"]),
        run(["call", "-d", "@-", "-H", "Content-Type: text/csv", "/furnishment/submissions/2"], { input: "a;b" }),
        run(["call", "-d", "@-", "/furnishment/submissions/3"]),
        run(["call", "/furnishment/submissions/4", "--data=--x", "--header=X-Trace: a", "-H", "x-trace: b"]),
        run(["call", "-H", "Cookie: a=1", "-H", "Cookie: b=2", "/furnishment/submissions/5"])
      )
      const sent = (yield* calls).toSorted((a, b) => a.url.localeCompare(b.url))
      const shown = sent.map(({ body, headers, method, url }) => [
        method,
        url.at(-1),
        new TextDecoder().decode(Redacted.value(body)),
        headers["content-type"],
        headers["x-trace"],
        headers["cookie"]
      ])
      const json = "application/json"
      assert.deepStrictEqual(shown, [
        ["PUT", "1", "{\"a\":1}", json, "a b", undefined],
        ["POST", "2", "a;b", "text/csv", undefined, undefined],
        ["POST", "3", "", json, undefined, undefined],
        ["POST", "4", "--x", json, "a, b", undefined],
        ["GET", "5", "", undefined, undefined, "a=1; b=2"]
      ])
    })
  )

  test(
    "exits with 0 on any answer, and with 22 on an error status with --fail",
    Effect.gen(function*() {
      const [missing, failed, good] = yield* together(
        run(["call", "/nothing"]),
        run(["call", "--fail", "/nothing"]),
        run(["call", "--fail", "/data-access/a"])
      )
      assert.deepStrictEqual([missing.code, missing.stderr], [0, "status 404\n"])
      assert.deepStrictEqual([failed.code, good.code], [22, 0])
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
      const refused = [
        ["https://elsewhere.example/"],
        ["-H", "nonsense", "/a"],
        ["-H", "Bad Name: x", "/a"],
        ["-H", "Authorization: Bearer x", "/a"],
        ["-X", "BREW", "/a"],
        ["-d", "@/nowhere", "/a"]
      ]
      for (const { code, stderr, stdout } of yield* runAll(refused.map((args) => ["call", ...args]))) {
        assert.deepStrictEqual([code, stdout], [2, ""], stderr)
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
      const [seven, killed, unusable, listed, missing] = yield* together(
        run(["exec", "--", "sh", "-c", script]),
        run(["exec", "--", "sh", "-c", "kill -TERM $$"]),
        run(["exec", "--", "/etc/passwd/x"]),
        run(["exec", "--", "sh", "-c", "ps -o args= -p $PPID"]),
        run(["exec", "--", "a-program-that-does-not-exist"])
      )
      assert.strictEqual(seven.code, 7)
      assert.match(seven.stdout, new RegExp(`^${token.source} \\n$`))
      assert.strictEqual(killed.code, 128 + 15)
      assert.strictEqual(unusable.code, 2)
      assert.include(listed.stdout, "exec -- sh")
      assert.notMatch(listed.stdout, new RegExp(`${token.source}|${secret}`))
      assert.deepStrictEqual([missing.code, missing.stdout], [2, ""])
    })
  )

  test(
    "passes signals on, and exits like the program",
    Effect.gen(function*() {
      const signals = ["SIGTERM", "SIGHUP", "SIGINT"] as const
      const stopped = yield* together(...signals.map((signal) => {
        const script = `trap "kill \\$!; exit 3" ${signal.slice(3)}; sleep 9 >/dev/null 2>&1 & echo ready; wait`
        return run(["exec", "--", "bash", "-c", script], {
          observe: (stdout, kill) => {
            if (stdout === "ready\n") kill(signal)
          }
        })
      }))
      assert.deepStrictEqual(stopped.map(({ code }) => code), [3, 3, 3])
    })
  )

  test(
    "leaves the options of the program as they are",
    Effect.gen(function*() {
      const { stdout } = yield* run(["exec", "--", "echo", "--auth=v1", "--header=a", "-X"])
      assert.strictEqual(stdout, "--auth=v1 --header=a -X\n")
    })
  )
})

describe("credit-data compare", () => {
  test(
    "prints both tokens, the probes and a verdict",
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* run(["compare", "--probe=GET /data-access/consumers/42"])
      assert.strictEqual(code, 0)
      assert.match(stderr, sunset)
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
      const [text, json, wrong] = yield* together(
        run(["compare"]),
        run(["compare", "--json", "--probe", "GET /nothing"]),
        run(["compare", "--probe", "POST /a"])
      )
      assert.strictEqual(text.code, 1)
      assert.include(text.stdout, "- V2 does not grant furnishment:all serviceplus:all.")
      assert.strictEqual(json.code, 1)
      const { probes, problems, verdict } = decoded(Answers.Compare, json.stdout)
      assert.deepStrictEqual([verdict, ...problems.map(({ type }) => type)], [
        "NotReady",
        "ScopesMissing",
        "ProbeFailed"
      ])
      assert.deepStrictEqual(probes, [{
        method: "GET",
        path: "/nothing",
        v1: { status: 404 },
        v2: { status: 404 },
        sameBody: true
      }])
      assert.strictEqual(wrong.code, 2)
    })
  )

  test(
    "exits with 1 without a probe, because nothing is proven",
    Effect.gen(function*() {
      const { code, stdout } = yield* run(["compare"])
      assert.strictEqual(code, 1)
      assert.include(stdout, "Not proven. No call was compared: give one --probe")
    })
  )

  test(
    "exits with 0 when V1 has ended and V2 works",
    Effect.gen(function*() {
      const withoutV1 = (...options: ReadonlyArray<string>) =>
        // the token of V1 is requested first
        Effect.zipRight(
          failTokenRequests(Fault.Answer({ status: 410 }), 1),
          run(["compare", "--probe", "GET /data-access/a", ...options])
        )
      const text = yield* withoutV1()
      const json = yield* withoutV1("--json")
      assert.deepStrictEqual([text.code, json.code], [0, 0])
      assert.include(text.stdout, "Ready for V2, without a way back.")
      const { probes, v1, verdict } = decoded(Answers.Compare, json.stdout)
      assert.strictEqual(verdict, "ReadyWithoutWayBack")
      assert.deepInclude(v1, { error: "ServerError" })
      assert.deepStrictEqual(probes.map(({ v1, v2 }) => [v1, v2]), [[null, { status: 200 }]])
    })
  )

  test(
    "exits with 4 when a token endpoint has a temporary failure",
    Effect.gen(function*() {
      const gone = (version: string) => ({ [`CREDIT_DATA_AUTH_${version}_URL`]: "http://127.0.0.1:1" })
      const args = ["compare", "--probe", "GET /data-access/a"]
      const outcomes = yield* together(
        run(args, { variables: gone("V1") }),
        run(args, { variables: gone("V2") })
      )
      for (const { code, stderr, stdout } of outcomes) {
        assert.deepStrictEqual([code, stdout], [4, ""])
        assert.match(stderr, /127\.0\.0\.1:1\/\S+ \(simulator\) gave no complete answer: .* Next attempt not before/)
      }
    })
  )

  test(
    "shows why a probe had no answer in its JSON",
    Effect.gen(function*() {
      const { failCalls } = yield* Simulator.Simulator
      yield* failCalls(Fault.Reset(), { times: 9 })
      const { stdout } = yield* run(["compare", "--json", "--probe", "GET /data-access/a"])
      const [probe] = decoded(Answers.Compare, stdout).probes
      assert.deepInclude(probe, { v1: { error: "Reset" }, v2: { error: "Reset" }, sameBody: null })
    })
  )
})

describe("credit-data status and --cache", () => {
  test(
    "keep one token for several commands, sealed on disk",
    Effect.gen(function*() {
      const folder = yield* temporaryFolder
      const variables = { XDG_CACHE_HOME: folder }
      const [timeOfHelp] = yield* Effect.timed(run(["--help"]))
      const [timeOfStatus, before] = yield* Effect.timed(run(["status"], { variables }))
      // the retries of a token request would take longer
      assert.isBelow(Duration.toMillis(timeOfStatus), 5 * Duration.toMillis(timeOfHelp))
      assert.isFalse(existsSync(join(folder, "credit-data")))
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
      const tokens = join(folder, "credit-data", "tokens")
      const files = readdirSync(tokens).toSorted()
      const json = decoded(Answers.Status, (yield* run(["status", "--json"], { variables })).stdout)
      assert.deepStrictEqual([json.leftSeconds > 86_000, json.failure], [true, null])
      assert.strictEqual(yield* tokenRequests, 1)
      assert.deepStrictEqual(readdirSync(tokens).toSorted(), files)
      for (const name of readdirSync(tokens, { recursive: true })) {
        const file = join(tokens, String(name))
        if (!statSync(file).isFile()) continue
        assert.strictEqual(statSync(file).mode & 0o77, 0)
        const text = readFileSync(file, "latin1")
        for (const canary of [first.stdout.trim(), secret, "simulated-client"]) assert.notInclude(text, canary)
      }
    }).pipe(Effect.scoped)
  )

  test(
    "show a failure that the commands share, until when, and exit like them",
    Effect.gen(function*() {
      const variables = { XDG_CACHE_HOME: yield* temporaryFolder }
      const refused = Fault.Answer({
        status: 400,
        headers: { "retry-after": "60" },
        body: "{\"error\":\"invalid_scope\"}"
      })
      yield* failTokenRequests(refused, 1)
      yield* run(["token", "--cache"], { variables })
      const { code, stderr, stdout } = yield* run(["status", "--json"], { variables })
      assert.deepStrictEqual([code, stdout], [5, ""])
      assert.match(
        stderr,
        /^The cache has a failure in place of a token: ServerError, until 20\S+Z\. .*400 invalid_scope/
      )
    }).pipe(Effect.scoped)
  )

  test(
    "refuse a folder that other users can enter",
    Effect.gen(function*() {
      const folder = yield* temporaryFolder
      mkdirSync(join(folder, "credit-data", "tokens"), { recursive: true, mode: 0o755 })
      for (
        const { code, stderr } of yield* runAll([["token", "--cache"], ["status"]], {
          variables: { XDG_CACHE_HOME: folder }
        })
      ) {
        assert.strictEqual(code, 2)
        assert.include(stderr, "only its owner can enter")
      }
      assert.strictEqual(yield* tokenRequests, 0)
    }).pipe(Effect.scoped)
  )

  test(
    "need XDG_CACHE_HOME when the user has no home folder",
    Effect.gen(function*() {
      const folder = yield* temporaryFolder
      const module = join(folder, "homeless.mjs")
      writeFileSync(
        module,
        "import os from 'node:os'; import { syncBuiltinESMExports } from 'node:module';\n" +
          "os.homedir = () => { throw new Error('a canary') }; syncBuiltinESMExports()"
      )
      const NODE_OPTIONS = `--import=${module}`
      const variables = { NODE_OPTIONS, XDG_CACHE_HOME: folder }
      const [homeless, status, good] = yield* together(
        run(["token", "--cache"], { variables: { NODE_OPTIONS } }),
        run(["status"], { variables: { NODE_OPTIONS } }),
        run(["token", "--cache"], { variables })
      )
      for (const { code, stderr, stdout } of [homeless, status]) {
        assert.deepStrictEqual([code, stdout], [2, ""])
        assert.match(stderr, /^This user has no home folder for the cache\. Set XDG_CACHE_HOME/)
      }
      assert.strictEqual(good.code, 0)
    }).pipe(Effect.scoped)
  )
})

describe("credit-data simulator", () => {
  test(
    "runs the simulator until Ctrl-C, and releases its ports",
    Effect.gen(function*() {
      const first = yield* freePorts(4)
      const options = ["--port", String(first), "--token-lifetime", "1m", "--console", "--log"]
      const { code, stdout } = yield* start(process.execPath, [program, "simulator", ...options], {
        variables: {},
        observe: (stdout, kill) => {
          if (stdout.includes("export SIMULATOR_KEY")) kill("SIGINT")
        }
      })
      assert.include(stdout, `export CREDIT_DATA_AUTH_V2_URL='http://127.0.0.1:${first + 2}'`)
      assert.include(stdout, `export SIMULATOR_URL='http://127.0.0.1:${first + 3}'`)
      assert.strictEqual(code, 130)
      assert.isTrue(yield* areFree(first, 4))
    })
  )
})

describe("the options of credit-data simulator", () => {
  test(
    "are those of the simulator's own command",
    Effect.map(run(["simulator", "--help"]), ({ stdout }) => {
      const names = (text: string) =>
        [...new Set(text.match(/--[a-z-]+/g))].filter((name) => name !== "--help").toSorted()
      assert.deepStrictEqual(names(stdout), names(help))
    })
  )

  test(
    "are refused by name, without their values",
    Effect.gen(function*() {
      const refusals = yield* together(
        run(["simulator", "--token-lifetime", "canary"]),
        run(["simulator", "--fixtures", "/nowhere"])
      )
      assert.deepStrictEqual(refusals.map(({ code, stderr }) => [code, stderr]), [
        [2, "--token-lifetime: expected a time such as 90s, 10m or 24h\n"],
        [2, "/nowhere: There is no such file or folder, or it cannot be read\n"]
      ])
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
      const [proxy, ...messages] = yield* together(
        failed(2, ["token"], { HTTPS_PROXY: "http://user:can#ary@proxy:3128" }),
        failed(2, ["token", "--nonsense=canary"]),
        failed(2, ["token", "--client-secret=canary"]),
        failed(2, ["token", "--client-secret", "canary"]),
        failed(2, ["brew"]),
        failed(2, ["--auth", "v1", "token"]),
        failed(2, ["completions", "tcsh"]),
        failed(2, ["token"], { CREDIT_DATA_AUTH: "v3" }),
        failed(2, ["call", "/a", "-X"])
      )
      assert.match(proxy, /HTTPS_PROXY.*malformed/)
      assert.notMatch(proxy, /can#?ary/)
      const expected = [
        "Unknown option, or an option without its value: --nonsense\n",
        "Credentials are never arguments",
        "Credentials are never arguments",
        "Expected a command first, then its options. The commands are 'token'",
        "Expected a command first, then its options. The commands are 'token'",
        "fish",
        "v1 or shadow or v2",
        "Unknown option, or an option without its value: -X\n"
      ]
      for (const [index, message] of messages.entries()) {
        assert.include(message, expected[index] ?? "?")
        assert.notInclude(message, "canary")
      }
      const { code, stderr, stdout } = yield* start(process.execPath, [program, "token"])
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
    "is 4 when the token endpoint is away, or answers that it is busy",
    Effect.gen(function*() {
      yield* failTokenRequests(Fault.Answer({ status: 503 }))
      const messages = yield* together(
        failed(4, ["token"], { CREDIT_DATA_AUTH_V2_URL: "http://127.0.0.1:1" }),
        failed(4, ["call", "/data-access/a"])
      )
      // the message of the log would be a second one
      for (const message of messages) assert.match(message, /^The token endpoint [^\n]+\n$/)
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

  test(
    "is 130 after Ctrl-C in the wizard",
    Effect.gen(function*() {
      const { code } = yield* onTerminal(["token", "--wizard"], { keys: { after: "--auth", text: "\u0003" } })
      assert.strictEqual(code, 130)
    })
  )
})

describe("the output of credit-data", () => {
  const escape = String.fromCharCode(27)

  test(
    "has no colours in a pipe, and none with NO_COLOR",
    Effect.gen(function*() {
      const args = [["--help"], ["token", "--help"], ["compare"], ["token", "--nonsense"]]
      for (const { stderr, stdout } of yield* runAll(args)) assert.notInclude(stdout + stderr, escape)
      const [plain, colored, help] = yield* together(
        onTerminal(["compare"], { variables: { NO_COLOR: "1" } }),
        onTerminal(["compare"]),
        onTerminal(["token", "--help"])
      )
      assert.notInclude(plain.stdout, escape)
      assert.include(colored.stdout, escape)
      // white is invisible on a light terminal
      assert.include(help.stdout, `${escape}[0;1m`)
      assert.notInclude(help.stdout, "37")
    })
  )

  test(
    "has a spinner on a terminal while it waits, which leaves nothing behind",
    Effect.gen(function*() {
      yield* failTokenRequests(Fault.Delay({ duration: "1500 millis" }))
      const [shown, plain, ci] = yield* together(
        onTerminal(["token"]),
        onTerminal(["token"], { variables: { NO_COLOR: "1" } }),
        onTerminal(["token"], { variables: { CI: "true" } })
      )
      assert.match(shown.stdout, new RegExp(`^\\r⠋\\r⠙[^]*\\r${escape}\\[Ktoken `))
      for (const { stdout } of [plain, ci]) assert.match(stdout, /^token /)
    })
  )

  test(
    "is help that fits into 120 columns and names the program",
    Effect.gen(function*() {
      const names = ["token", "compare", "call", "exec", "status", "simulator", "doctor"]
      const [none, help, number, ...helps] = yield* together(
        run([]),
        run(["--help"]),
        run(["--version"]),
        ...names.map((name) => run([name, "--help"]))
      )
      assert.strictEqual(none.code, 0)
      assert.strictEqual(help.stdout, none.stdout)
      for (const line of none.stdout.split("\n")) assert.isAtMost(line.length, 120)
      for (const [index, name] of names.entries()) {
        assert.include(none.stdout, `  ${name} `)
        assert.match(helps[index]?.stdout ?? "", new RegExp(`^\\s*\\$ credit-data ${name}`, "m"))
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
      const [call, failed, doctor, parser] = yield* together(
        closed("call /data-access/a"),
        closed("call --fail /nothing"),
        closed("doctor", { CREDIT_DATA_CLIENT_SECRET: "another secret" }),
        closed("token --help")
      )
      // the command keeps its exit code
      assert.deepStrictEqual([call.stdout, call.stderr], ["0\n", ""])
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
        ...["token", "doctor", "compare --json", "call /nothing", "token --help"].map((args) =>
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
