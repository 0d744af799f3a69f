import { AdminApi } from "@credit-data/simulator"
import { Standalone } from "@credit-data/simulator/Internal"
import { run, script, start } from "@credit-data/test-support/childProcess"
import { freePorts } from "@credit-data/test-support/freePorts"
import { Command, FileSystem, Path } from "@effect/platform"
import { NodeContext, NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Option, Redacted } from "effect"
import { createServer } from "node:net"
import { fileURLToPath } from "node:url"
import { parseEnv } from "node:util"
import { parse } from "../src/internal/standalone/arguments.ts"
import { send, sendText } from "./support/http.ts"

const bin = fileURLToPath(new URL("../src/bin.ts", import.meta.url))

const exported = (printed: string) =>
  Object.fromEntries(
    [...printed.matchAll(/^ {2}export (\w+)='(.*)'$/gm)].map(([, name = "", value = ""]) => [name, value])
  )

/** A token request with the variables that the command printed. */
const requestToken = (variables: Record<string, string>) =>
  send(`${variables["CREDIT_DATA_AUTH_V2_URL"]}/oauth2/token`, {
    method: "POST",
    body: new URLSearchParams({
      client_id: variables["CREDIT_DATA_CLIENT_ID"] ?? "",
      client_secret: variables["CREDIT_DATA_CLIENT_SECRET"] ?? "",
      audience: variables["CREDIT_DATA_AUDIENCE"] ?? "",
      scope: variables["CREDIT_DATA_SCOPES"] ?? "",
      grant_type: "client_credentials"
    })
  })

describe("the command of the simulator", () => {
  it.live("starts the servers, prints the variables to export, and exits at once on SIGINT", () =>
    Effect.gen(function*() {
      const port = yield* freePorts(4)
      const { child, printed } = yield* start(script(bin).pipe(Command.env({ SIMULATOR_PORT: String(port) })))
      const variables = exported(yield* printed("--header \"Authorization: Bearer $TOKEN\""))
      assert.strictEqual(variables["CREDIT_DATA_BASE_URL"], `http://127.0.0.1:${port}`)
      assert.strictEqual((yield* requestToken(variables)).status, 200)
      assert.isUndefined(variables["SIMULATOR_URL"])
      yield* child.kill("SIGINT")
      assert.isFalse(yield* child.isRunning)
    }).pipe(Effect.scoped, Effect.timeout("25 seconds")))

  it.live("has a console that another process controls, a log of requests, and fixtures", () =>
    Effect.gen(function*() {
      const [fileSystem, path] = [yield* FileSystem.FileSystem, yield* Path.Path]
      const folder = yield* fileSystem.makeTempDirectoryScoped()
      yield* fileSystem.makeDirectory(path.join(folder, "data-access"))
      yield* fileSystem.writeFileString(path.join(folder, "data-access/{id}.json"), "{\"mine\":true}")
      const port = yield* freePorts(4)
      const options = [
        "--port",
        String(port),
        "--console",
        "--log",
        "--fixtures",
        folder,
        "--token-lifetime",
        "1m"
      ]
      const { end, child, printed } = yield* start(script(bin, ...options))
      const instructions = yield* printed("export SIMULATOR_KEY")
      const variables = exported(instructions)
      const [url, key] = [variables["SIMULATOR_URL"] ?? "", variables["SIMULATOR_KEY"] ?? ""]
      assert.strictEqual(url, `http://127.0.0.1:${port + 3}`)
      assert.include(instructions, `  ${url}/#key=${key}\n`)

      const admin = yield* AdminApi.client({ url, key: Redacted.make(key) })
      yield* admin.control.addFault({
        payload: { target: "TokenRequests", fault: { _tag: "Response", status: 503 }, times: 1 }
      })
      assert.strictEqual(
        (yield* sendText(`${variables["CREDIT_DATA_AUTH_V2_URL"]}/oauth2/token?code=1&scope=s`)).status,
        503
      )
      const { body } = yield* requestToken(variables)
      assert.strictEqual(body["expires_in"], 60)
      const called = yield* send(`${variables["CREDIT_DATA_BASE_URL"]}/data-access/42`, {
        headers: { authorization: `Bearer ${body["access_token"]}` }
      })
      assert.deepStrictEqual(called.body, { mine: true })

      const requests = yield* admin.read.requests({})
      assert.deepStrictEqual(requests.map(({ fault, status }) => [status, fault]), [[503, "Response"], [200, null], [
        200,
        null
      ]])
      const refused = yield* AdminApi.client({ url, key: Redacted.make("other") })
      assert.strictEqual((yield* Effect.flip(refused.control.reset({})))._tag, "InvalidKey")
      const untyped = yield* send(`${url}/api/reset`, { method: "POST" })
      assert.deepStrictEqual([untyped.status, untyped.body["_tag"]], [401, "InvalidKey"])
      const missing = yield* Effect.flip(admin.control.revokeToken({ path: { id: 9 } }))
      assert.strictEqual(missing._tag, "NotFound")
      yield* admin.control.advanceClock({ payload: { seconds: 60 } })
      const late = yield* Effect.exit(admin.control.revokeTokens({}))
      assert.strictEqual(late._tag, "Success")

      yield* printed("/data-access/42")
      yield* child.kill("SIGTERM")
      const log = (yield* end).stdout.split("\n").filter((line) => /^\d\d:/.test(line))
      assert.match(
        log[0] ?? "",
        /^[\d:.]{12} {2}V2 {3}GET {4}\/oauth2\/token\?code=\*\*\*&scope=s +503 {2}\d+ ms {2}fault: Response$/
      )
      assert.match(log[1] ?? "", /^[\d:.]{12} {2}V2 {3}POST {3}\/oauth2\/token +200 {2}\d+ ms$/)
      assert.match(log[2] ?? "", /^[\d:.]{12} {2}API {2}GET {4}\/data-access\/42 +200 {2}\d+ ms$/)
      assert.notInclude(log.join("\n"), String(body["access_token"]))
    }).pipe(Effect.scoped, Effect.provide([NodeContext.layer, NodeHttpClient.layer]), Effect.timeout("25 seconds")))
})

describe("the file with the variables", () => {
  const folder = Effect.flatMap(FileSystem.FileSystem, (fileSystem) => fileSystem.makeTempDirectoryScoped())

  it.live("has the variables, and only its owner can read it", () =>
    Effect.gen(function*() {
      const [fileSystem, path] = [yield* FileSystem.FileSystem, yield* Path.Path]
      const file = path.join(yield* folder, ".env")
      const port = yield* freePorts(4)
      const { child, printed } = yield* start(
        script(bin, "--port", String(port), "--console", "--write-env", file)
      )
      const text = yield* printed("In a shell")
      const variables: Record<string, string> = JSON.parse(
        JSON.stringify(parseEnv(yield* fileSystem.readFileString(file)))
      )
      // only the next steps are printed
      assert.include(text, `${variables["SIMULATOR_URL"]}/#key=${variables["SIMULATOR_KEY"]}`)
      assert.include(text, `credit-data doctor --env-file ${file}`)
      assert.notInclude(text, variables["CREDIT_DATA_CLIENT_SECRET"] ?? "?")
      const sourced = yield* run(
        Command.make("sh", "-c", ". \"$0\"; printf %s \"$CREDIT_DATA_SCOPES $SIMULATOR_URL\"", file)
      )
      assert.strictEqual(sourced.stdout, `${variables["CREDIT_DATA_SCOPES"]} ${variables["SIMULATOR_URL"]}`)
      assert.strictEqual((yield* fileSystem.stat(file)).mode & 0o777, 0o600)
      assert.strictEqual((yield* requestToken(variables)).status, 200)
      yield* child.kill("SIGINT")
    }).pipe(Effect.scoped, Effect.provide(NodeContext.layer), Effect.timeout("25 seconds")))

  it.live("is not written over a file, through a link, or into a missing folder", () =>
    Effect.gen(function*() {
      const [fileSystem, path] = [yield* FileSystem.FileSystem, yield* Path.Path]
      const parent = yield* folder
      const [file, link, missing] = [path.join(parent, "a"), path.join(parent, "b"), path.join(parent, "c/d")]
      yield* fileSystem.writeFileString(file, "mine")
      yield* fileSystem.symlink(path.join(parent, "elsewhere"), link)
      const port = yield* freePorts(3)
      const message = (writeEnv: string) =>
        Effect.map(Effect.flip(Standalone.run({ port, writeEnv })), (error) => error.message)
      const refusal = (name: string) =>
        `--write-env: ${name} already exists, and the simulator overwrites no file. Remove it, or choose another file.`
      assert.strictEqual(yield* message(file), refusal(file))
      assert.strictEqual(yield* fileSystem.readFileString(file), "mine")
      assert.match(yield* message(link), /^--write-env: .*\/b (already exists|cannot be written)/)
      assert.isFalse(yield* fileSystem.exists(path.join(parent, "elsewhere")))
      assert.strictEqual(
        yield* message(missing),
        `--write-env: ${missing} cannot be written. Check that its folder exists and is writable.`
      )
    }).pipe(Effect.scoped, Effect.provide(NodeContext.layer)))
})

describe("what the command of the simulator prints", () => {
  it.live("is the help with every option, on request", () =>
    Effect.map(run(script(bin, "--help")), ({ exitCode, stdout }) => {
      assert.match(stdout, /^An imitation .*\n\nUsage: credit-data-simulator \[options\]/)
      for (const option of ["port", "token-lifetime", "console", "log", "fixtures", "write-env", "help"]) {
        assert.include(stdout, `  --${option} `)
      }
      assert.strictEqual(exitCode, 0)
    }))

  it.live("is one line on standard error for a wrong option, without its value", () =>
    Effect.map(run(script(bin, "--prt=canary")), ({ exitCode, stderr, stdout }) => {
      assert.strictEqual(stderr, "Unknown option '--prt'. See --help.\n")
      assert.strictEqual(stdout, "")
      assert.strictEqual(exitCode, 1)
    }))
})

describe("the settings of the simulator's command", () => {
  it.effect("come from its options", () =>
    Effect.gen(function*() {
      const options = Option.getOrThrow(
        yield* parse(["--port", "8000", "--token-lifetime=90s", "--console", "--fixtures", "f", "--write-env=.env"])
      )
      assert.deepStrictEqual(options, {
        port: 8000,
        tokenLifetime: "90s",
        console: true,
        log: undefined,
        fixtures: "f",
        writeEnv: ".env"
      })
      assert.isTrue(Option.isNone(yield* parse(["-h", "--console"])))
    }))

  const wrong: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
    ["Unknown option '--prt'. See --help.", ["--prt=canary"]],
    ["The arguments are not valid. See --help.", ["canary"]],
    ["The arguments are not valid. See --help.", ["--port"]]
  ]
  for (const [message, given] of wrong) {
    it.effect(`are refused without their values: ${given.join(" ")}`, () =>
      Effect.map(Effect.flip(parse(given)), (error) => assert.strictEqual(error.message, message)))
  }

  const refusal = (options: Standalone.Options, environment: Record<string, string> = {}) =>
    Standalone.run(options).pipe(
      Effect.flip,
      Effect.map((error) => error.message),
      Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(environment))))
    )

  const useless: ReadonlyArray<readonly [string, Standalone.Options]> = [
    ["--port: expected a port from 1 to 65533", { port: Number("canary") }],
    ["--port: expected a port from 1 to 65533", { port: 65_534 }],
    ["--port: expected a port from 1 to 65533", { port: 0 }],
    ["The port is too high: 65533 leaves no room for the other ports", { port: 65_533, console: true }],
    ["--token-lifetime: expected a time such as 90s, 10m or 24h", { tokenLifetime: "canary" }],
    ["--token-lifetime: expected a time such as 90s, 10m or 24h", { tokenLifetime: "0s" }],
    ["SIMULATOR_KEY: expected up to 200 letters, digits, _ and -", { key: Redacted.make("it's a canary") }],
    ["/nowhere: There is no such file or folder, or it cannot be read", { fixtures: "/nowhere" }]
  ]
  for (const [message, options] of useless) {
    it.effect(`are refused when the program cannot use them: ${JSON.stringify(options)}`, () =>
      Effect.map(refusal(options), (text) => assert.strictEqual(text, message)))
  }

  it.effect("are refused when the variable with the port has no port", () =>
    Effect.map(
      refusal({}, { SIMULATOR_PORT: "canary" }),
      (text) => assert.strictEqual(text, "SIMULATOR_PORT: expected a port from 1 to 65533")
    ))

  it.live("are refused when one of the ports is taken", () =>
    Effect.gen(function*() {
      const port = yield* freePorts(4)
      yield* Effect.acquireRelease(
        Effect.async<ReturnType<typeof createServer>>((resume) => {
          const server = createServer().listen(port + 3, "127.0.0.1", () => resume(Effect.succeed(server)))
        }),
        (server) => Effect.sync(() => server.close())
      )
      assert.strictEqual(
        yield* refusal({ port, console: true }),
        `One of the ports ${port} to ${port + 3} is taken or not permitted. ` +
          "Choose the first of as many free ports with --port."
      )
    }).pipe(Effect.scoped))
})
