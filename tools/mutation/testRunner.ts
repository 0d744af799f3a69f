// Runs the tests of a package for Stryker, in a process that stays: Effect, the package and its tests are loaded once, and not for each
// mutant. So a mutant may leave something behind that makes a later one fail. Therefore a test that fails with a mutant runs again without it:
// if it still fails, Stryker starts another process and repeats the mutant.

import { INSTRUMENTER_CONSTANTS, type InstrumenterContext } from "@stryker-mutator/api/core"
import type { Logger } from "@stryker-mutator/api/logging"
import { commonTokens, declareClassPlugin, PluginKind, tokens } from "@stryker-mutator/api/plugin"
import {
  determineHitLimitReached,
  type DryRunResult,
  DryRunStatus,
  type MutantRunOptions,
  type MutantRunResult,
  type TestResult,
  type TestRunner,
  TestStatus,
  toMutantRunResult
} from "@stryker-mutator/api/test-runner"
import { collectTests, getFn, type Suite, type Test } from "@vitest/runner"
import { globalValue } from "effect/GlobalValue"
import { relative } from "node:path"
import { pathToFileURL } from "node:url"
import { isSlow, longestWait, testFiles, testTimeout } from "./tests.ts"

const mutants: InstrumenterContext = Object.assign(globalThis, { [INSTRUMENTER_CONSTANTS.NAMESPACE]: {} })[
  INSTRUMENTER_CONSTANTS.NAMESPACE
]

// what the module `vitest` reads when it is loaded
Object.assign(globalThis, { __vitest_worker__: { environment: { name: "node" }, config: { fakeTimers: {} } } })

const nameOf = ({ name, suite }: Test | Suite): string =>
  (suite === undefined ? name : `${nameOf(suite)} ${name}`).trim()

const testsOf = (suite: Suite): ReadonlyArray<Test> =>
  suite.tasks.flatMap((task) => task.type === "suite" ? testsOf(task) : [task])

/** What the test that is running has to do at its end. */
const atTheEnd: Array<() => unknown> = []

/** All tests of the package. Tests with hooks would need more than this. */
const load = async (): Promise<ReadonlyMap<string, Test>> => {
  const suites = await collectTests([...testFiles()], {
    config: {
      root: process.cwd(),
      setupFiles: [],
      passWithNoTests: false,
      allowOnly: false,
      sequence: { seed: 1, hooks: "stack", setupFiles: "list" },
      maxConcurrency: 1,
      testTimeout,
      hookTimeout: testTimeout,
      retry: 0,
      includeTaskLocation: false
    },
    importFile: (file) => import(pathToFileURL(file).href),
    extendTaskContext: (context) =>
      Object.assign(context, { onTestFinished: (handler: () => unknown) => void atTheEnd.push(handler) })
  })
  for (const { name, result } of suites) {
    if (result?.state === "fail") throw new Error(`${name}: ${result.errors?.[0]?.message}`)
  }
  const tests = new Map<string, Test>()
  for (const test of suites.flatMap(testsOf)) {
    const id = `${relative("", test.file.filepath)}#${nameOf(test)}`
    if (!isSlow(nameOf(test))) tests.set(tests.has(id) ? `${id} (${tests.size})` : id, test)
  }
  return tests
}

/** Runs a test, which fails when the process has done nothing for a while: what it waits for will not happen, and its timeout is long. */
const runOrStall = async (test: Test): Promise<void> => {
  let [idle, before] = [0, process.cpuUsage()]
  let timer: NodeJS.Timeout | undefined
  const stall = new Promise<never>((_, reject) => {
    timer = setInterval(() => {
      const { system, user } = process.cpuUsage(before)
      idle = system + user < 1_000 ? idle + 1 : 0
      if (idle === longestWait / 250) reject(new Error("The test waits, and nothing happens."))
      before = process.cpuUsage()
    }, 250)
  })
  // as in a process that has built no supply yet
  globalValue<Map<string, number>>("@credit-data/core/builtSupplies", () => new Map()).clear()
  try {
    await Promise.race([getFn(test)(), stall])
  } finally {
    clearInterval(timer)
    for (const handler of atTheEnd.splice(0)) await handler()
  }
}

class InProcess implements TestRunner {
  static readonly inject = tokens(commonTokens.logger)
  private readonly log: Logger
  private tests: ReadonlyMap<string, Test> = new Map()
  /** The tests that have failed with mutants. The next mutant is in the same place, and fails the same tests. */
  private readonly killers = new Set<string>()
  /** How long each test took last, in milliseconds. */
  private readonly times = new Map<string, number>()

  constructor(log: Logger) {
    this.log = log
  }

  readonly capabilities = () => ({ reloadEnvironment: false })

  readonly init = async (): Promise<void> => {
    this.tests = await load()
  }

  private readonly run = async (id: string): Promise<TestResult> => {
    const test = this.tests.get(id)
    if (test === undefined) throw new Error(`There is no test ${id}`)
    const start = performance.now()
    const failure = await runOrStall(test).then(() => undefined, String)
    const timeSpentMs = performance.now() - start
    this.times.set(id, timeSpentMs)
    const result = { id, name: nameOf(test), timeSpentMs }
    return failure === undefined
      ? { ...result, status: TestStatus.Success }
      : { ...result, status: TestStatus.Failed, failureMessage: failure }
  }

  readonly dryRun = async (): Promise<DryRunResult> => {
    const tests: Array<TestResult> = []
    for (const id of this.tests.keys()) {
      mutants.currentTestId = id
      tests.push(await this.run(id))
    }
    delete mutants.currentTestId
    return {
      status: DryRunStatus.Complete,
      tests,
      mutantCoverage: mutants.mutantCoverage ?? { static: {}, perTest: {} }
    }
  }

  readonly mutantRun = async (
    { activeMutant, hitLimit, testFilter = [] }: MutantRunOptions
  ): Promise<MutantRunResult> => {
    const covering = new Set(testFilter)
    const likely = [...this.killers].toReversed().filter((id) => covering.has(id))
    const fastFirst = testFilter.toSorted((a, b) => (this.times.get(a) ?? 0) - (this.times.get(b) ?? 0))
    const tests: Array<TestResult> = []
    Object.assign(mutants, { activeMutant: activeMutant.id, hitCount: 0, hitLimit })
    for (const id of new Set([...likely, ...fastFirst])) {
      const result = await this.run(id)
      tests.push(result)
      if (result.status === TestStatus.Failed) break
    }
    Object.assign(mutants, { activeMutant: undefined, hitLimit: undefined })
    const timeout = determineHitLimitReached(mutants.hitCount, hitLimit)
    const failed = tests.find(({ status }) => status === TestStatus.Failed)
    if (failed !== undefined) {
      this.killers.delete(failed.id)
      this.killers.add(failed.id)
      if ((await this.run(failed.id)).status === TestStatus.Failed) {
        this.log.warn(`${failed.id} fails without the mutant too. Another process repeats the mutant.`)
        throw new Error("The mutant has left something behind.")
      }
    }
    return toMutantRunResult(timeout ?? { status: DryRunStatus.Complete, tests })
  }
}

export const strykerPlugins = [declareClassPlugin(PluginKind.TestRunner, "in-process", InProcess)]
