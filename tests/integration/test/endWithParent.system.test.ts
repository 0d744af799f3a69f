import { assert, describe, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../../../", import.meta.url))

/** A run with one test that writes the id of its worker and never ends. */
const startRun = Effect.acquireRelease(
  Effect.sync(() => {
    const folder = mkdtempSync(`${root}tests/.killed-`)
    const test = `import { it } from "vitest"\nit("waits", () => new Promise((end) => {
      console.log("worker " + process.pid)
      setInterval(() => {}, 1_000)
    }), 60_000)\n`
    writeFileSync(`${folder}/waits.test.ts`, test)
    const config =
      `export default { test: { include: ["${folder}/*.test.ts"], setupFiles: "${root}tests/support/src/endWithParent.ts" } }`
    writeFileSync(`${folder}/vitest.config.ts`, config)
    const vitest = `${root}node_modules/vitest/vitest.mjs`
    const child = spawn(process.execPath, [vitest, "run", "--config", `${folder}/vitest.config.ts`], { cwd: root })
    return { child, folder }
  }),
  ({ child, folder }) =>
    Effect.sync(() => {
      child.kill("SIGKILL")
      rmSync(folder, { recursive: true })
    })
)

const workerOf = (child: ChildProcess) =>
  Effect.async<number>((resume) => {
    child.stdout?.on("data", (text: Buffer) => {
      const [, id] = /worker (\d+)/.exec(String(text)) ?? []
      if (id !== undefined) resume(Effect.succeed(Number(id)))
    })
  })

const isRunning = (id: number) => Effect.isSuccess(Effect.try(() => process.kill(id, 0)))

describe("a test run that is killed", () => {
  it.scopedLive("leaves no worker that runs for ever", () =>
    Effect.gen(function*() {
      const { child } = yield* startRun
      const worker = yield* workerOf(child).pipe(Effect.timeout("30 seconds"))
      assert.isTrue(yield* isRunning(worker))
      child.kill("SIGKILL")
      const isGone = Effect.repeat(isRunning(worker), {
        until: (running) => !running,
        schedule: Schedule.spaced("100 millis")
      })
      yield* Effect.timeout(isGone, "10 seconds")
    }), 60_000)
})
