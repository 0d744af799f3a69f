import { ChildProcess, fork } from "node:child_process"
import { subscribe } from "node:diagnostics_channel"
import { fileURLToPath } from "node:url"
import type { Reporter, TestCase, TestModule, Vitest } from "vitest/node"

/** A timeout of a test cannot end a test that never waits, such as an endless loop. */
const limitOf = (test: TestCase, limitMillis: number): number =>
  Math.max(limitMillis, 5_000 + Number(Reflect.get(test, "task")?.timeout ?? 0))

/**
 * Vitest 3 searches a stack without frames with an expression that takes minutes for 400 characters of JSON. An Effect that fails with
 * anything but an Error has such a stack.
 */
const dropStackWithoutFrames = (errors: ReadonlyArray<{ stack?: string | undefined }> = []) => {
  for (const error of errors) if (!/^\s*at .*(?:\S:\d+|\(native\))/m.test(error.stack ?? "")) error.stack = ""
}

/**
 * Ends a run in which nothing has happened for too long, and names the test, or the files that were running. Another process does it, because
 * this process can be the busy one.
 */
export class Watchdog implements Reporter {
  readonly #limitMillis: number
  #vitest: Vitest | undefined
  #process: ChildProcess | undefined
  readonly #children = new Set<ChildProcess>()

  constructor({ limitMillis = 50_000 }: { readonly limitMillis?: number } = {}) {
    this.#limitMillis = limitMillis
  }

  #send(
    event: { readonly key?: string; readonly name?: string; readonly limit?: number; readonly failure?: string } = {}
  ) {
    const modules = this.#vitest?.state.getTestModules() ?? []
    this.#process?.send({
      ...event,
      running: modules.filter((module) => /queued|pending/.test(module.state())).map(({ moduleId }) => moduleId),
      run: process.pid,
      workers: Array.from(this.#children, ({ pid }) => pid)
    })
  }

  onInit(vitest: Vitest) {
    this.#vitest = vitest
    if (vitest.config.watch) return
    const program = fileURLToPath(new URL("watchdogProcess.mjs", import.meta.url))
    this.#process = fork(program, [String(this.#limitMillis)], { execArgv: [] })
    this.#process.unref()
    subscribe("child_process", (message) => {
      const child: unknown = Reflect.get(Object(message), "process")
      if (child instanceof ChildProcess) this.#children.add(child.once("exit", () => this.#children.delete(child)))
    })
    this.#process.channel?.unref()
    this.#send()
  }

  onTestModuleQueued() {
    this.#send()
  }

  onTestCaseReady(test: TestCase) {
    // on a busy machine, the result can come before this event
    if (test.result().state !== "pending") return
    this.#send({
      key: test.id,
      name: `${test.module.moduleId}: ${test.fullName}`,
      limit: limitOf(test, this.#limitMillis)
    })
  }

  onTestCaseResult(test: TestCase) {
    const { errors, state } = test.result()
    dropStackWithoutFrames(errors)
    this.#send({ key: test.id, ...(state === "failed" && { failure: `${test.module.moduleId}: ${test.fullName}` }) })
  }

  onTestModuleEnd(module: TestModule) {
    dropStackWithoutFrames(module.errors())
    for (const suite of module.children.allSuites()) dropStackWithoutFrames(suite.errors())
    this.#send()
  }
}
