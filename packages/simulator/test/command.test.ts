import { run, script, start } from "@credit-data/test-support/childProcess"
import { freePorts } from "@credit-data/test-support/freePorts"
import { FileSystem, Path } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Option } from "effect"
import { createServer } from "node:net"
import { hostname } from "node:os"
import { fileURLToPath } from "node:url"
import { parseEnv } from "node:util"
import { parse } from "../src/internal/standalone/arguments.ts"
import * as Standalone from "../src/internal/standalone/standalone.ts"
import { exported } from "./support/exported.ts"
import { send, sendText } from "./support/http.ts"

const bin = fileURLToPath(new URL("../src/bin.ts", import.meta.url))

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

/** A call with a new token. */
const call = Effect.fnUntraced(function*(variables: Record<string, string>, path: string) {
  const { body: token } = yield* requestToken(variables)
  const headers = { authorization: `Bearer ${token["access_token"]}` }
  const { body, status } = yield* send(`${variables["CREDIT_DATA_BASE_URL"]}${path}`, { headers })
  return { body, status, token }
})

/** Starts a command on free ports, and returns its first port, its variables and what it printed until this text. */
const startOnFreePorts = Effect.fnUntraced(function*(
  command: Parameters<typeof start>[0],
  env: Record<string, string>,
  part: string
) {
  const port = yield* freePorts(4)
  const process = yield* start(command, { env: { SIMULATOR_PORT: String(port), ...env } })
  const text = yield* process.printed(part)
  return { ...process, port, text, variables: exported(text) }
})

const temporaryFolder = Effect.flatMap(FileSystem.FileSystem, (fileSystem) => fileSystem.makeTempDirectoryScoped())

const inTime = Effect.timeout("25 seconds")

describe("the command of the simulator", () => {
  it.scopedLive("starts the servers, prints the variables to export, and exits at once on SIGINT", () =>
    Effect.gen(function*() {
      const { kill, port, variables } = yield* startOnFreePorts(script(bin), {}, "/data-access/consumers/42")
      assert.strictEqual(variables["CREDIT_DATA_BASE_URL"], `http://127.0.0.1:${port}`)
      assert.strictEqual((yield* requestToken(variables)).status, 200)
      assert.isUndefined(variables["SIMULATOR_URL"])
      yield* kill("SIGINT")
    }).pipe(inTime))

  it.scopedLive("listens on another address with --host, prints the name of this machine and warns", () =>
    Effect.gen(function*() {
      const command = script(bin, "--console", "--host", "0.0.0.0")
      const { kill, port, variables } = yield* startOnFreePorts(command, { SIMULATOR_KEY: "k" }, "export SIMULATOR_KEY")
      assert.strictEqual(variables["CREDIT_DATA_BASE_URL"], `http://${hostname()}:${port}`)
      assert.strictEqual(variables["SIMULATOR_URL"], `http://${hostname()}:${port + 3}`)
      assert.strictEqual((yield* call(variables, "/data-access/42")).status, 200)
      const state = (headers: Record<string, string>) =>
        Effect.map(send(`${variables["SIMULATOR_URL"]}/api/v1/state`, { headers }), ({ status }) => status)
      assert.deepStrictEqual(yield* Effect.all([state({}), state({ "x-api-key": "k" })]), [401, 200])
      assert.strictEqual(
        (yield* kill("SIGTERM")).stderr,
        "Warning: other machines can use the simulator, because it listens on 0.0.0.0. Send it no real secret. " +
          "The console and the admin API need the key for every request.\n"
      )
    }).pipe(inTime))

  it.scopedLive("has a console that another process controls, a log of requests, and fixtures", () =>
    Effect.gen(function*() {
      const [fileSystem, path] = [yield* FileSystem.FileSystem, yield* Path.Path]
      const folder = yield* temporaryFolder
      yield* fileSystem.makeDirectory(path.join(folder, "data-access"))
      yield* fileSystem.writeFileString(path.join(folder, "data-access/{id}.json"), "{\"mine\":true}")
      const command = script(bin, "--console", "--log", "--fixtures", folder, "--token-lifetime", "1m")
      const { kill, port, printed, text, variables } = yield* startOnFreePorts(command, {}, "export SIMULATOR_KEY")
      const [url, key] = [variables["SIMULATOR_URL"] ?? "", variables["SIMULATOR_KEY"] ?? ""]
      assert.strictEqual(url, `http://127.0.0.1:${port + 3}`)
      assert.include(text, `  ${url}/#key=${key}\n`)

      yield* sendText(`${url}/api/v1/faults`, {
        method: "POST",
        headers: { "x-api-key": key, "content-type": "application/json" },
        body: JSON.stringify({ target: "TokenRequests", fault: { _tag: "Response", status: 503 }, times: 1 })
      })
      const failed = yield* sendText(`${variables["CREDIT_DATA_AUTH_V2_URL"]}/oauth2/token?code=1&scope=s`)
      assert.strictEqual(failed.status, 503)
      const { body, token } = yield* call(variables, "/data-access/42")
      assert.strictEqual(token["expires_in"], 60)
      assert.deepStrictEqual(body, { mine: true })

      yield* printed("/data-access/42")
      const log = (yield* kill("SIGTERM")).stdout.split("\n").filter((line) => /^\d\d:/.test(line))
      const lines = [
        /^[\d:.]{12} {2}V2 {3}GET {4}\/oauth2\/token\?code=\*\*\*&scope=s +503 {2}\d+ ms {2}fault: Response$/,
        /^[\d:.]{12} {2}V2 {3}POST {3}\/oauth2\/token +200 {2}\d+ ms$/,
        /^[\d:.]{12} {2}API {2}GET {4}\/data-access\/42 +200 {2}\d+ ms$/
      ]
      for (const [index, line] of lines.entries()) assert.match(log[index] ?? "", line)
      assert.notInclude(log.join("\n"), String(token["access_token"]))
    }).pipe(Effect.provide(NodeContext.layer), inTime))
})

describe("the file with the variables", () => {
  it.scopedLive("has the variables, and only its owner can read it", () =>
    Effect.gen(function*() {
      const [fileSystem, path] = [yield* FileSystem.FileSystem, yield* Path.Path]
      const file = path.join(yield* temporaryFolder, ".env")
      const command = script(bin, "--console", "--write-env", file)
      const { kill, text } = yield* startOnFreePorts(command, {}, "In a shell")
      const variables: Record<string, string> = JSON.parse(
        JSON.stringify(parseEnv(yield* fileSystem.readFileString(file)))
      )
      // only the next steps are printed
      assert.include(text, `${variables["SIMULATOR_URL"]}/#key=${variables["SIMULATOR_KEY"]}`)
      assert.include(text, `credit-data doctor --variables ${file}`)
      assert.notInclude(text, variables["CREDIT_DATA_CLIENT_SECRET"] ?? "?")
      const sourced = yield* run(
        ["sh", "-c", ". \"$0\"; printf %s \"$CREDIT_DATA_SCOPES $SIMULATOR_URL\"", file]
      )
      assert.strictEqual(sourced.stdout, `${variables["CREDIT_DATA_SCOPES"]} ${variables["SIMULATOR_URL"]}`)
      // `docker run --env-file` keeps quotes as part of a value, and a shell needs them around a space
      const quoted = (yield* fileSystem.readFileString(file)).split("\n").filter((line) => line.includes("'"))
      assert.deepStrictEqual(quoted, [`CREDIT_DATA_SCOPES='${variables["CREDIT_DATA_SCOPES"]}'`])
      assert.strictEqual((yield* fileSystem.stat(file)).mode & 0o777, 0o600)
      assert.strictEqual((yield* requestToken(variables)).status, 200)
      yield* kill("SIGINT")
    }).pipe(Effect.provide(NodeContext.layer), inTime))

  it.scopedLive("is not written over a file, through a link, or into a missing folder", () =>
    Effect.gen(function*() {
      const [fileSystem, path] = [yield* FileSystem.FileSystem, yield* Path.Path]
      const parent = yield* temporaryFolder
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
    }).pipe(Effect.provide(NodeContext.layer)))
})

describe("what the command of the simulator prints", () => {
  it.live("is the help with every option, on request", () =>
    Effect.map(run(script(bin, "--help")), ({ exitCode, stdout }) => {
      assert.match(stdout, /^An imitation .*\n\nUsage: credit-data-simulator \[options\]/)
      for (const option of ["port", "host", "token-lifetime", "console", "log", "fixtures", "write-env", "help"]) {
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
        host: undefined,
        log: undefined,
        fixtures: "f",
        writeEnv: ".env"
      })
      assert.isTrue(Option.isNone(yield* parse(["-h", "--console"])))
    }))

  for (const given of ["canary", "--port"]) {
    it.effect(`are refused without their values: ${given}`, () =>
      Effect.map(
        Effect.flip(parse([given])),
        (error) => assert.strictEqual(error.message, "The arguments are not valid. See --help.")
      ))
  }

  const refusal = (options: Standalone.Options, environment: Record<string, string> = {}) =>
    Standalone.run(options).pipe(
      Effect.flip,
      Effect.map((error) => error.message),
      Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(environment))))
    )

  const port = "--port: expected a port from 1 to 65533"
  const lifetime = "--token-lifetime: expected a time such as 90s, 10m or 24h"
  const host = "--host: expected an address or a name of this machine"
  const otherHost = "--host: this machine does not have the address"
  const useless: ReadonlyArray<readonly [message: string, options: Standalone.Options]> = [
    [port, { port: Number("canary") }],
    [port, { port: 65_534 }],
    [port, { port: 0 }],
    ["The port is too high: 65533 leaves no room for the other ports", { port: 65_533, console: true }],
    [lifetime, { tokenLifetime: "canary" }],
    [lifetime, { tokenLifetime: "0s" }],
    [host, { host: "http://canary" }],
    [host, { host: "" }],
    [otherHost, { host: "192.0.2.1" }],
    [otherHost, { host: "simulator.invalid" }],
    ["/nowhere: There is no such folder, or it cannot be read", { fixtures: "/nowhere" }]
  ]
  for (const [message, options] of useless) {
    it.effect(`are refused when the program cannot use them: ${JSON.stringify(options)}`, () =>
      Effect.map(refusal(options), (text) => assert.strictEqual(text, message)))
  }

  it.effect("are refused when the variable with the port has no port, or the variable with the key has no key", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* refusal({}, { SIMULATOR_PORT: "canary" }), port.replace("--port", "SIMULATOR_PORT"))
      assert.strictEqual(
        yield* refusal({}, { SIMULATOR_KEY: "it's a canary" }),
        "SIMULATOR_KEY: expected up to 200 letters, digits, _ and -"
      )
    }))

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
          "Choose another starting port with --port."
      )
    }).pipe(Effect.scoped))
})
