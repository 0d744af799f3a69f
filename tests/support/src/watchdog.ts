import { ChildProcess } from "node:child_process"
import type { Reporter, Vitest } from "vitest/node"

/** Longer than any test may take: its timeout ends a test that waits. */
const limitMillis = 50_000

/** What keeps this process alive. Node has no other list of the processes that were started here. */
const handles = (): ReadonlyArray<unknown> => Reflect.get(process, "_getActiveHandles").call(process)

/**
 * Ends a run in which nothing has happened for too long, and names the files that were running. A timeout of a test cannot end a test that
 * never waits, such as an endless loop.
 */
export class Watchdog implements Reporter {
  #vitest: Vitest | undefined
  #timer: NodeJS.Timeout | undefined

  #progress() {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      const running = this.#vitest?.state.getTestModules().filter((module) => module.state() === "pending") ?? []
      console.error(
        `Nothing has happened for ${limitMillis / 1_000} s, in ${running.map(({ moduleId }) => moduleId).join(" or ")}`
      )
      for (const handle of handles()) if (handle instanceof ChildProcess) handle.kill("SIGKILL")
      process.exit(1)
    }, limitMillis).unref()
  }

  onInit(vitest: Vitest) {
    this.#vitest = vitest
    this.#progress()
  }

  onTestModuleQueued() {
    this.#progress()
  }

  onTestCaseReady() {
    this.#progress()
  }

  onTestCaseResult() {
    this.#progress()
  }

  onTestRunEnd() {
    clearTimeout(this.#timer)
  }
}
