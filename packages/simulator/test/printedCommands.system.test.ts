import { run, script, start } from "@credit-data/test-support/childProcess"
import { freePorts } from "@credit-data/test-support/freePorts"
import { FileSystem, Path } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { fileURLToPath } from "node:url"
import { exported } from "./support/exported.ts"

const bin = fileURLToPath(new URL("../src/bin.ts", import.meta.url))

describe("the command of the simulator", () => {
  it.live("prints a token request and a call for a shell, which put no secret into the arguments of a process", () =>
    Effect.gen(function*() {
      const [fileSystem, path] = [yield* FileSystem.FileSystem, yield* Path.Path]
      const folder = yield* fileSystem.makeTempDirectoryScoped()
      const args = path.join(folder, "arguments")
      // records its arguments, and is curl otherwise
      const recorder = `#!/bin/sh\nprintf '%s\\n' "$@" >> '${args}'\nPATH='${process.env["PATH"]}' exec curl "$@"\n`
      yield* fileSystem.writeFileString(path.join(folder, "curl"), recorder, { mode: 0o755 })
      const port = yield* freePorts(3)
      const { kill, printed } = yield* start(script(bin, "--port", String(port)))
      const instructions = yield* printed("/data-access/consumers/42")
      const [, ...blocks] = instructions.split("\n\n").filter((block) => block.startsWith("  "))
      const { stderr, stdout } = yield* run(
        ["sh", "-c", blocks.join("\n")],
        { env: { ...exported(instructions), PATH: `${folder}:${process.env["PATH"]}` } }
      )
      assert.strictEqual(stdout, `{"group":"Data Access","method":"GET","path":"/data-access/consumers/42"}`)
      assert.strictEqual(stderr, "")
      const recorded = yield* fileSystem.readFileString(args)
      assert.include(recorded, "client_id=simulated-client")
      assert.notMatch(recorded, /simulated-secret|simulated\.V2/)
      yield* kill("SIGINT")
    }).pipe(Effect.scoped, Effect.provide(NodeContext.layer), Effect.timeout("25 seconds")))
})
