import { listenForSockets } from "@credit-data/test-support/listen"
import { describe, it } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../../../", import.meta.url))
const vitest = join(dirname(createRequire(import.meta.url).resolve("vitest/package.json")), "vitest.mjs")

/** A server to which the worker connects, so that its start and its end are seen. */
const makeWatcher = Effect.gen(function*() {
  const started = yield* Deferred.make<void>()
  const ended = yield* Deferred.make<void>()
  const port = yield* listenForSockets((socket) => {
    Deferred.unsafeDone(started, Effect.void)
    socket.on("close", () => Deferred.unsafeDone(ended, Effect.void)).resume()
  })
  return { port, started: Deferred.await(started), ended: Deferred.await(ended) }
})

/** A run with one test that connects to the port and never ends. */
const startRun = (port: number) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const folder = mkdtempSync(`${root}tests/.killed-`)
      const test =
        `import { it } from "vitest"\nimport { connect } from "node:net"\nit("waits", () => new Promise(() => {
        connect(${port}, "127.0.0.1")
      }), 60_000)\n`
      writeFileSync(`${folder}/waits.test.ts`, test)
      const config =
        `export default { test: { include: ["${folder}/*.test.ts"], setupFiles: "${root}tests/support/src/endWithParent.ts" } }`
      writeFileSync(`${folder}/vitest.config.ts`, config)
      const child = spawn(process.execPath, [vitest, "run", "--config", `${folder}/vitest.config.ts`], { cwd: root })
      return { child, folder }
    }),
    ({ child, folder }) =>
      Effect.sync(() => {
        child.kill("SIGKILL")
        rmSync(folder, { recursive: true })
      })
  )

describe("a test run that is killed", () => {
  it.scopedLive("leaves no worker that runs for ever", () =>
    Effect.gen(function*() {
      const { ended, port, started } = yield* makeWatcher
      const { child } = yield* startRun(port)
      yield* Effect.timeout(started, "60 seconds")
      child.kill("SIGKILL")
      yield* Effect.timeout(ended, "30 seconds")
    }), 100_000)
})
