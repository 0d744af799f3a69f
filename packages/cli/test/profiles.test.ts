import { Simulator } from "@credit-data/simulator"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Layer, Schedule } from "effect"
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { parseProfiles } from "../src/profiles.ts"
import * as PrintedJson from "./support/printedJson.ts"
import { decoded, secret, test, together, token, tokenRequests } from "./support/command.ts"
import { ofAnotherUser, program, run, runWith, start, startProgram, temporaryFolder } from "./support/program.ts"

/** The lines of the simulator's variables, without the secret. */
const linesOf = (variables: Readonly<Record<string, string>>): string =>
  Object.entries(variables).filter(([name]) => name !== "CREDIT_DATA_CLIENT_SECRET")
    .map(([name, value]) => `${name}="${value}"`).join("\n")

const secretCommand = `secret-command=printf '%s\\n' ${secret}`

/** A profile that uses the simulator. */
const sandbox = Effect.map(Simulator.variables, (variables) => `[sandbox]\n${linesOf(variables)}\n${secretCommand}\n`)

/** A configuration folder with this file of profiles. */
const configured = Effect.fnUntraced(function*(text: string) {
  const folder = mkdtempSync(join(yield* temporaryFolder, "config-"))
  mkdirSync(join(folder, "credit-data"))
  const file = join(folder, "credit-data", "profiles.ini")
  writeFileSync(file, text, { mode: 0o600 })
  return { file, variables: { XDG_CONFIG_HOME: folder } }
})

/** Runs the program in a process of its own. */
const startWith = (variables: Record<string, string>, args: ReadonlyArray<string>, input = "") =>
  startProgram(args, { variables, input })

/** What the program prints on standard error when it refuses the profiles. */
const refusal = Effect.fnUntraced(function*(
  variables: Record<string, string>,
  args: ReadonlyArray<string>,
  runs: typeof runWith = runWith
) {
  const { code, stderr, stdout } = yield* runs(variables, args)
  assert.deepStrictEqual([code, stdout], [2, ""], stderr)
  assert.match(stderr, /^[^\n]+\n$/)
  return stderr.trimEnd()
})

describe.concurrent("a profile", () => {
  test(
    "has the variables of every command that reads them, with the secret that its secret-command prints",
    Effect.gen(function*() {
      const { file, variables } = yield* configured(`\uFEFF# mine\r\n${(yield* sandbox).replaceAll("\n", "\r\n")}`)
      const profile = ["--profile", "sandbox"]
      const [printed, call, exec, compare, doctor, named] = yield* together(
        runWith(variables, ["token", ...profile]),
        runWith(variables, ["call", ...profile, "/data-access/a"]),
        startWith({ ...variables, CREDIT_DATA_PROFILE: "sandbox" }, ["exec", "--", "env"]),
        runWith(variables, ["compare", ...profile, "--probe", "/data-access/a"]),
        runWith(variables, ["doctor", "--json", ...profile]),
        runWith({ ...variables, CREDIT_DATA_PROFILE: "sandbox" }, ["token"])
      )
      for (const { code, stderr, stdout } of [printed, named]) {
        assert.deepStrictEqual([code, stderr], [0, ""])
        assert.match(stdout, token)
      }
      assert.deepStrictEqual([call.code, call.stderr], [0, ""])
      assert.strictEqual(compare.code, 0)
      // a program that is started by `exec` has the variables, so the name would be a second source of them
      assert.match(exec.stdout, /^CREDIT_DATA_CLIENT_ID=simulated-client$/m)
      assert.notMatch(exec.stdout, /CREDIT_DATA_PROFILE|CREDIT_DATA_CLIENT_SECRET/)
      assert.notInclude(exec.stdout, secret)
      const [configuration] = decoded(PrintedJson.Doctor, doctor.stdout).steps
      assert.match(configuration?.detail ?? "", /^profile sandbox: simulator, client simulated-client, /)
      assert.include(configuration?.notes.join("\n"), `from profile sandbox in ${file}: CREDIT_DATA_ENVIRONMENT, `)
      assert.include(
        configuration?.notes.join("\n"),
        "from the secret-command of profile sandbox: CREDIT_DATA_CLIENT_SECRET"
      )
    }).pipe(Effect.scoped)
  )

  test(
    "replaces all variables of the environment if an option names it, and is refused beside them if a variable names it",
    Effect.gen(function*() {
      const { CREDIT_DATA_CLIENT_ID: _, ...others } = yield* Simulator.variables
      const text = `${yield* sandbox}[incomplete]\n${linesOf(others)}\n${secretCommand}\n`
      const { file, variables } = yield* configured(text)
      const another = {
        ...variables,
        CREDIT_DATA_AUTH_V2_URL: "http://127.0.0.1:1",
        CREDIT_DATA_AUTH: "v1",
        CREDIT_DATA_CLIENT_ID: "another-client",
        CREDIT_DATA_CLIENT_SECRET: "canary-0123456789abcdefghijklmnopqrstuvw"
      }
      const [explicit, overruled, incomplete, doctor] = yield* together(
        runWith(another, ["token", "--profile", "sandbox"]),
        runWith({ ...another, CREDIT_DATA_PROFILE: "incomplete" }, ["token", "--profile=sandbox"]),
        runWith(another, ["token", "--profile", "incomplete"]),
        runWith({ ...another, CREDIT_DATA_CLIENTID: "canary" }, ["doctor", "--profile", "incomplete"])
      )
      for (const { code, stderr, stdout } of [explicit, overruled]) {
        assert.deepStrictEqual([code, stderr], [0, ""])
        assert.match(stdout, token)
      }
      assert.strictEqual(incomplete.code, 2)
      assert.include(incomplete.stderr, "- CREDIT_DATA_CLIENT_ID")
      assert.include(incomplete.stderr, `\nThe variables come only from profile incomplete in ${file}.\n`)
      assert.match(doctor.stdout, /^failed {3}configuration .* profile incomplete: CREDIT_DATA_CLIENT_ID is missing$/m)
      assert.notMatch(doctor.stdout, /another-client|canary|Instead/)
      const refused = yield* refusal({ ...another, CREDIT_DATA_PROFILE: "sandbox" }, ["token"])
      assert.strictEqual(
        refused,
        "CREDIT_DATA_PROFILE cannot be combined with CREDIT_DATA_AUTH, CREDIT_DATA_AUTH_V2_URL, CREDIT_DATA_CLIENT_ID and " +
          "CREDIT_DATA_CLIENT_SECRET, because a profile has its own variables. Unset CREDIT_DATA_PROFILE, or use --profile " +
          "NAME, which ignores the variables of the environment."
      )
      const empty = yield* runWith({ ...yield* Simulator.variables, CREDIT_DATA_PROFILE: "" }, ["token"])
      assert.deepStrictEqual([empty.code, empty.stderr], [0, ""])
    }).pipe(Effect.scoped)
  )

  test(
    "is never combined with another source of variables",
    Effect.gen(function*() {
      const { file, variables } = yield* configured(yield* sandbox)
      const messages = yield* together(
        refusal(variables, ["token", "--profile", "sandbox", "--variables", file]),
        refusal(variables, ["status", "--profile", "sandbox", "--secret-command", "echo canary"]),
        refusal({ ...variables, CREDIT_DATA_PROFILE: "sandbox" }, ["call", "/a", "--variables", file])
      )
      const expected = [
        "--profile and --variables",
        "--profile and --secret-command",
        "CREDIT_DATA_PROFILE and --variables"
      ]
      assert.deepStrictEqual(
        messages,
        expected.map((given) =>
          `${given} cannot be combined, because a profile has its own variables and its own secret-command.`
        )
      )
    }).pipe(Effect.scoped)
  )

  test(
    "that the file lacks is reported with a similar name, and without what was given",
    Effect.gen(function*() {
      const { file, variables } = yield* configured(`${yield* sandbox}[production]\n${secretCommand}\n`)
      const folder = yield* temporaryFolder
      const absent = join(folder, "credit-data", "profiles.ini")
      const [similar, other, empty, variable, none] = yield* together(
        refusal(variables, ["token", "--profile", "sandbx"]),
        refusal(variables, ["token", "--profile", "canary"]),
        refusal(variables, ["token", "--profile="]),
        refusal({ ...variables, CREDIT_DATA_PROFILE: "canary" }, ["token"]),
        refusal({ XDG_CONFIG_HOME: folder }, ["token", "--profile", "canary"])
      )
      const profiles = "Its profiles: sandbox and production."
      assert.strictEqual(similar, `--profile names no profile in ${file}. Did you mean sandbox? ${profiles}`)
      for (const message of [other, empty]) {
        assert.strictEqual(message, `--profile names no profile in ${file}. ${profiles}`)
      }
      assert.strictEqual(variable, `CREDIT_DATA_PROFILE names no profile in ${file}. ${profiles}`)
      assert.match(none, /^There are no profiles in .*\. How to write this file: https:/)
      assert.include(none, absent)
    }).pipe(Effect.scoped)
  )
})

describe.concurrent("the secret-command of a profile", () => {
  test(
    "is the rest of its line, which a shell runs with the profile's variables",
    Effect.gen(function*() {
      const variables = linesOf(yield* Simulator.variables)
      const line =
        `secret-command = test "$CREDIT_DATA_CLIENT_ID" = 'simulated-client' && echo "a#note" >&2 && echo ${secret}`
      const configuration = yield* configured(`[sandbox]\n${line} # the simulator's\n${variables}\n`)
      const { code, stderr, stdout } = yield* runWith(configuration.variables, ["token", "--profile", "sandbox"])
      assert.deepStrictEqual([code, stderr], [0, "a#note\n"])
      assert.match(stdout, token)
    }).pipe(Effect.scoped)
  )

  test(
    "reads nothing that is meant for the command",
    Effect.gen(function*() {
      const line = `secret-command=cat >&2; echo ${secret}`
      const { variables } = yield* configured(`[sandbox]\n${linesOf(yield* Simulator.variables)}\n${line}\n`)
      const echo = yield* startWith(variables, ["exec", "--profile", "sandbox", "--", "cat"], "input")
      assert.deepStrictEqual(echo, { code: 0, stdout: "input", stderr: "" })
    }).pipe(Effect.scoped)
  )

  test(
    "that fails is reported with the profile and the exit code, and never with what it printed",
    Effect.gen(function*() {
      const commands = [
        ["exit", "echo canary; exit 3", "exited with 3"],
        ["missing", "/nowhere/program", "exited with 127"],
        ["empty", "echo", "printed nothing"],
        ["killed", "echo canary; kill -9 $$", "was ended by SIGKILL"],
        ["endless", "while :; do echo canary; done", "printed more than 64 KiB"]
      ] as const
      const { variables } = yield* configured(
        commands.map(([name, command]) => `[${name}]\nsecret-command=${command}\n`).join("")
      )
      const outcomes = yield* together(
        ...commands.map(([name]) => runWith(variables, ["token", "--profile", name]))
      )
      for (const [index, { code, stderr, stdout }] of outcomes.entries()) {
        const [name = "", , reason = ""] = commands[index] ?? []
        assert.deepStrictEqual([code, stdout], [2, ""])
        const message = `The secret-command of profile ${name} ${reason}. Run it on its own to see its output.\n`
        assert.isTrue(stderr.endsWith(message), stderr)
        assert.notInclude(stderr, "canary")
      }
    }).pipe(Effect.scoped)
  )
})

describe("the file of the profiles", () => {
  const command = "secret-command=true"

  /** A file, and what is wrong with it, after the name of the file. */
  const wrong: ReadonlyArray<readonly [text: string, message: RegExp]> = [
    [
      `CREDIT_DATA_CLIENT_ID=canary\n[a]\n${command}`,
      /^:1: Expected the \[NAME\] of a profile before its variables\.$/
    ],
    [`[a]\n${command}\ncanary`, /^:3: Expected \[NAME\], VARIABLE=VALUE, or a comment that begins with #\.$/],
    [`[a]\n${command}\n; canary`, /^:3: Expected \[NAME\], VARIABLE=VALUE, or a comment/],
    [`[a]\n${command}\nCREDIT_DATA_SCOPES=canary\u0000`, /^:3: Expected \[NAME\], VARIABLE=VALUE, or a comment/],
    [`[profile canary]\n${command}`, /^:1: The name of a profile consists of letters, digits, /],
    [`[a]\n${command}\n\n[b]\n${command}\n[a]`, /^:6: The profile in line 1 has the same name\. Rename one of them\.$/],
    [`[a]\nCREDIT_DATA_SCOPES=canary\nCREDIT_DATA_SCOPES=b`, /^:3: CREDIT_DATA_SCOPES is in line 2 too\. Remove one/],
    [`[a]\n${command}\nCREDIT_DATA_SCOPES="canary`, /^:3: A quotation mark is not closed\.$/],
    [`[a]\nCREDIT_DATA_CLIENT_SECRET=canary`, /^:2: A secret must not be in this file\. .* secret-command=op read /],
    [`[a]\nPASSWORD=canary`, /^:2: A secret must not be in this file\./],
    [`[a]\nCREDIT_DATA_CLIENTID=canary`, /^:2: A profile has no such variable\. Did you mean CREDIT_DATA_CLIENT_ID\?$/],
    [`[a]\nsecret_command=canary`, /^:2: A profile has no such variable\. Did you mean secret-command\?$/],
    [`[a]\ncanary=b`, /^:2: A profile has no such variable\. Expected CREDIT_DATA_AUTH, .* and secret-command\.$/],
    [`[a]\n${command}\n[b]\n`, /^:3: The profile b has no secret-command\. Add a command that prints/]
  ]

  it.each(wrong)("that is wrong is reported with the line, and without what is in it: %j", (text, message) => {
    const problem = parseProfiles(text, "profiles.ini")
    assert(typeof problem === "string")
    assert.match(problem.replace(/^profiles\.ini/, ""), message)
    assert.notInclude(problem, "canary")
  })

  test(
    "that is wrong sends nothing, and is reported by each command",
    Effect.gen(function*() {
      const { file, variables } = yield* configured(`${yield* sandbox}[b]\n`)
      const [used, listed] = yield* together(
        refusal(variables, ["token", "--profile", "sandbox"]),
        refusal(variables, ["profiles"])
      )
      assert.isTrue(used.startsWith(`${file}:10: The profile b has no secret-command.`), used)
      assert.strictEqual(listed, used)
      assert.strictEqual(yield* tokenRequests, 0)
    }).pipe(Effect.scoped)
  )

  test(
    "is refused when other users can change it or own it, because it names commands",
    Effect.gen(function*() {
      const { file, variables } = yield* configured(yield* sandbox)
      const args = ["token", "--profile", "sandbox"]
      chmodSync(file, 0o644)
      assert.strictEqual((yield* runWith(variables, args)).stderr, "")
      chmodSync(file, 0o620)
      assert.strictEqual(
        yield* refusal(variables, args),
        `Other users of this machine can change ${file}, and thereby run commands as you. Run chmod 600 on it.`
      )
      chmodSync(file, 0o600)
      assert.strictEqual(
        yield* refusal({ ...variables, NODE_OPTIONS: `--import=${ofAnotherUser}` }, args, startWith),
        `The file of the profiles belongs to another user, who could run commands as you: ${file}. Replace it with your own.`
      )
      const folder = yield* temporaryFolder
      mkdirSync(join(folder, "credit-data", "profiles.ini"), { recursive: true })
      assert.strictEqual(
        yield* refusal({ XDG_CONFIG_HOME: folder }, args),
        `Cannot read the profiles: ${join(folder, "credit-data", "profiles.ini")} (EISDIR).`
      )
    }).pipe(Effect.scoped)
  )

  test(
    "is in the user's configuration folder",
    Effect.gen(function*() {
      const { file, variables } = yield* configured(yield* sandbox)
      const home = yield* temporaryFolder
      const folder = variables.XDG_CONFIG_HOME
      mkdirSync(join(home, ".config", "credit-data"), { recursive: true })
      writeFileSync(join(home, ".config", "credit-data", "profiles.ini"), `[at-home]\n${secretCommand}\n`, {
        mode: 0o600
      })
      const imported = (code: string) => `--import=data:text/javascript,${encodeURIComponent(code)}`
      const onWindows = imported("Object.defineProperty(process, 'platform', { value: 'win32' })")
      const homeless = imported(
        "import os from 'node:os'; import { syncBuiltinESMExports } from 'node:module';" +
          "os.homedir = () => { throw new Error('a canary') }; syncBuiltinESMExports()"
      )
      const names = (environment: Record<string, string>) =>
        Effect.map(startWith({ HOME: home, ...environment }, ["profiles", "--names"]), ({ stdout }) => stdout)
      const [atHome, relative, ofWindows, withoutAppData, apart] = yield* together(
        names({}),
        names({ XDG_CONFIG_HOME: "relative" }),
        names({ NODE_OPTIONS: onWindows, APPDATA: folder }),
        names({ NODE_OPTIONS: onWindows }),
        names({ NODE_OPTIONS: homeless, ...variables })
      )
      for (const printed of [atHome, relative, withoutAppData]) assert.strictEqual(printed, "at-home\n", file)
      for (const printed of [ofWindows, apart]) assert.strictEqual(printed, "sandbox\n")
      for (const environment of [{ NODE_OPTIONS: homeless }, { HOME: "" }, { HOME: "home" }]) {
        assert.strictEqual(
          yield* refusal(environment, ["profiles"], startWith),
          "This user has no home folder for the profiles. Set XDG_CONFIG_HOME to the path of a folder."
        )
      }
    }).pipe(Effect.scoped)
  )
})

describe.concurrent("credit-data profiles", () => {
  test(
    "lists names, client ids and hosts, and runs no secret-command",
    Effect.gen(function*() {
      const folder = yield* temporaryFolder
      const text = `\
[sandbox]
CREDIT_DATA_CLIENT_ID=acme
CREDIT_DATA_BASE_URL=https://user:canary@api.sandbox.example/v1
CREDIT_DATA_AUTH_V1_URL=https://v1.sandbox.example
CREDIT_DATA_AUTH_V2_URL=https://auth.sandbox.example:8443
secret-command=touch ${join(folder, "canary")}
[empty]
CREDIT_DATA_BASE_URL=canary
secret-command=touch ${join(folder, "canary")}
`
      const { file, variables } = yield* configured(text)
      const environment = { ...variables, CREDIT_DATA_PROFILE: "unknown" }
      const [plain, names, json, both] = yield* together(
        runWith(environment, ["profiles"]),
        runWith(environment, ["profiles", "--names"]),
        runWith(environment, ["profiles", "--json"]),
        refusal(environment, ["profiles", "--json", "--names"])
      )
      assert.deepStrictEqual(plain, {
        code: 0,
        stderr: "",
        stdout: `\
profile  client  API                  Auth V1             Auth V2
sandbox  acme    api.sandbox.example  v1.sandbox.example  auth.sandbox.example:8443
empty
`
      })
      assert.strictEqual(names.stdout, "sandbox\nempty\n")
      assert.deepStrictEqual(decoded(PrintedJson.Profiles, json.stdout), {
        version: 1,
        file,
        profiles: [
          {
            name: "sandbox",
            clientId: "acme",
            hosts: { api: "api.sandbox.example", authV1: "v1.sandbox.example", authV2: "auth.sandbox.example:8443" }
          },
          { name: "empty", clientId: null, hosts: { api: null, authV1: null, authV2: null } }
        ]
      })
      assert.match(both, /^--json and --names cannot be combined\./)
      assert.deepStrictEqual(readdirSync(folder), [])
    }).pipe(Effect.scoped)
  )

  test(
    "prints an empty list when there is no file, and where it would be",
    Effect.gen(function*() {
      const folder = yield* temporaryFolder
      const [plain, json] = yield* together(
        run(["profiles"], { XDG_CONFIG_HOME: folder }),
        run(["profiles", "--json"], { XDG_CONFIG_HOME: folder })
      )
      assert.deepStrictEqual([plain.code, plain.stdout], [0, ""])
      assert.include(plain.stderr, `There are no profiles in ${join(folder, "credit-data", "profiles.ini")}.`)
      assert.deepStrictEqual(decoded(PrintedJson.Profiles, json.stdout).profiles, [])
      assert.strictEqual(json.stderr, "")
    }).pipe(Effect.scoped)
  )
})

// alone, because a busy machine makes the cache's time limit pass
describe("the cached token of a profile", () => {
  test(
    "is never used for another profile",
    Effect.gen(function*() {
      const first = yield* Simulator.variables
      const second = yield* Effect.provide(Simulator.variables, yield* Layer.build(Layer.fresh(Simulator.layer())))
      const sections = [
        ["first", linesOf(first)],
        ["narrow", linesOf({ ...first, CREDIT_DATA_SCOPES: "data-access:all" })],
        ["second", linesOf(second)]
      ].map(([name, lines]) => `[${name}]\n${lines}\n${secretCommand}\n`)
      const { variables } = yield* configured(sections.join(""))
      const all = { ...variables, XDG_CACHE_HOME: yield* temporaryFolder }
      const printed = Effect.forEach(
        ["first", "narrow", "second"],
        (name) =>
          Effect.map(
            runWith(all, ["token", "--cache", "--json", "--profile", name]),
            ({ stdout }) => decoded(PrintedJson.Token, stdout)
          )
      )
      const [fresh, cached] = [yield* printed, yield* printed]
      assert.strictEqual(new Set(fresh.map(({ accessToken }) => accessToken)).size, 3)
      assert.deepStrictEqual(fresh.map(({ accessToken }) => accessToken), cached.map(({ accessToken }) => accessToken))
      assert.deepStrictEqual(cached[1]?.scopes, ["data-access:all"])
      assert.strictEqual(yield* tokenRequests, 2)
      const status = yield* runWith(all, ["status", "--json", "--profile", "narrow"])
      assert.deepStrictEqual(decoded(PrintedJson.Status, status.stdout).scopes, ["data-access:all"])
    }).pipe(Effect.scoped)
  )
})

const variablesWithout = Effect.map(Simulator.variables, (all) => {
  const { CREDIT_DATA_CLIENT_SECRET: _, ...variables } = all
  return variables
})

/** Runs the program without the variable of the secret. */
const runWithout = (args: ReadonlyArray<string>) =>
  Effect.flatMap(variablesWithout, (variables) => runWith(variables, args))

/** The same in a process of its own. */
const startWithout = (args: ReadonlyArray<string>, input = "", others: Record<string, string> = {}) =>
  Effect.flatMap(variablesWithout, (variables) => startProgram(args, { variables: { ...variables, ...others }, input }))

/** Lets 30 seconds pass in one. */
const inAHurry = {
  NODE_OPTIONS: `--import=data:text/javascript,${
    encodeURIComponent(`
      const { setTimeout } = globalThis
      globalThis.setTimeout = (run, millis) => setTimeout(run, millis === 30_000 ? 1_000 : millis)
    `)
  }`
}

describe.concurrent("--secret-command", () => {
  test(
    "reads the secret from a command, from a pipe, or from a file of variables that is a pipe",
    Effect.gen(function*() {
      const lines = Object.entries(yield* Simulator.variables).map(([name, value]) => `${name}="${value}"`).join("\\n")
      const substitution = `${process.execPath} ${program} token --variables <(printf '${lines}')`
      const [command, pipe, file, doctor] = yield* together(
        runWithout(["token", "--secret-command", `echo ${secret}`]),
        startWithout(["token", "--secret-command=cat"], `${secret}\n`),
        start("bash", ["-c", substitution]),
        runWithout(["doctor", "--json", "--secret-command", `echo ${secret}`])
      )
      for (const { code, stderr, stdout } of [command, pipe, file]) {
        assert.deepStrictEqual([code, stderr], [0, ""])
        assert.match(stdout, token)
      }
      assert.include(
        decoded(PrintedJson.Doctor, doctor.stdout).steps[0]?.notes.join("\n"),
        "from --secret-command: CREDIT_DATA_CLIENT_SECRET"
      )
    })
  )

  test(
    "passes on what the command prints on standard error, shows nothing else of it, and ends it after 30 seconds",
    Effect.gen(function*() {
      const shown = "echo canary; echo shown >&2; "
      const [failed, [time, slow]] = yield* together(
        runWithout(["token", "--secret-command", `${shown}exit 3`]),
        Effect.timed(startWithout(["token", "--secret-command", `${shown}echo $$ >&2; exec sleep 60`], "", inAHurry))
      )
      for (const { code, stderr, stdout } of [failed, slow]) {
        assert.deepStrictEqual([code, stdout], [2, ""], stderr)
        assert.notInclude(stderr, "canary")
      }
      const message = (reason: string) =>
        `The command of --secret-command ${reason}. Run it on its own to see its output.\n`
      assert.strictEqual(failed.stderr, `shown\n${message("exited with 3")}`)
      const [first, pid, ...rest] = slow.stderr.split("\n")
      assert.deepStrictEqual([first, rest.join("\n")], ["shown", message("did not finish within 30 seconds")])
      assert.isBelow(Duration.toMillis(time), 30_000)
      assert.strictEqual(yield* tokenRequests, 0)
      // a signal takes a moment to end a process
      yield* Effect.try(() => process.kill(Number(pid), 0)).pipe(
        Effect.flip,
        Effect.retry({ times: 100, schedule: Schedule.spaced("50 millis") })
      )
    })
  )

  test(
    "does not wait for a process that the command leaves in the background",
    Effect.gen(function*() {
      const left = yield* startWithout(["token", "--secret-command", `sleep 60 & echo $! >&2; echo ${secret}`])
      assert.strictEqual(left.code, 0, left.stderr)
      process.kill(Number(left.stderr))
      assert.match(left.stdout, token)
    })
  )
})
