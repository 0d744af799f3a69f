import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../../../", import.meta.url))
const vitest = join(dirname(createRequire(import.meta.url).resolve("vitest/package.json")), "vitest.mjs")

/** What a run of one test prints until it ends. */
const outputOf = Effect.fnUntraced(function*(body: string) {
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(`${root}tests/.watched-`)),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
  )
  writeFileSync(`${folder}/one.test.ts`, `import { it } from "vitest"\nit("goes wrong", () => {${body}})\n`)
  writeFileSync(
    `${folder}/vitest.config.ts`,
    `import { Watchdog } from "../support/src/watchdog.ts"
    const configureVitest = ({ vitest }) => void vitest.config.reporters.unshift(new Watchdog({ limitMillis: 30_000 }))
    export default { plugins: [{ name: "watchdog", configureVitest }], test: { include: ["${folder}/*.test.ts"], testTimeout: 100 } }`
  )
  return yield* Effect.async<string>((resume) => {
    const child = spawn(process.execPath, [vitest, "run", "--config", `${folder}/vitest.config.ts`], { cwd: root })
    let output = ""
    const add = (chunk: Buffer) => {
      output += chunk.toString()
    }
    child.stdout.on("data", add)
    child.stderr.on("data", add)
    // when no process of the run holds them any longer
    child.on("close", () => resume(Effect.succeed(output)))
    return Effect.sync(() => child.kill("SIGKILL"))
  })
})

describe("a test that goes wrong", () => {
  it.scopedLive("is named when it never waits, and its run ends", () =>
    Effect.gen(function*() {
      const output = yield* outputOf("for (;;);")
      assert.match(output, /Nothing has happened for 30 s in .*one\.test\.ts/)
    }), 150_000)

  it.scopedLive("is printed when its failure has a long text and no frames", () =>
    Effect.gen(function*() {
      const failure = `const error = new Error(JSON.stringify(Array.from({ length: 100 }, (_, field) => ({ field }))))
        error.stack = "Error: " + error.message
        throw error`
      const output = yield* outputOf(failure)
      assert.match(output, /1 failed/)
      assert.notMatch(output, /Nothing has happened/)
    }), 150_000)
})
