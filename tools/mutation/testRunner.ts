// Runs the tests of a package for Stryker, in a process that stays: Effect and the package are loaded once, and not for each mutant, which
// takes five times as long. So a mutant may leave something behind that makes a later one fail. Therefore each test that fails with a
// mutant runs again without it: if it still fails, Stryker starts another process and repeats the mutant.

import { INSTRUMENTER_CONSTANTS, type InstrumenterContext } from "@stryker-mutator/api/core"
import { declareClassPlugin, PluginKind } from "@stryker-mutator/api/plugin"
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
import { type Suite, startTests, type Test } from "@vitest/runner"
import { relative } from "node:path"
import { pathToFileURL } from "node:url"
import { isSlow, testFiles, testTimeout } from "./tests.ts"

const mutants: InstrumenterContext = Object.assign(globalThis, { [INSTRUMENTER_CONSTANTS.NAMESPACE]: {} })[
  INSTRUMENTER_CONSTANTS.NAMESPACE
]

// what the module `vitest` reads when it is loaded
Object.assign(globalThis, { __vitest_worker__: { environment: { name: "node" }, config: { fakeTimers: {} } } })

const nameOf = ({ name, suite }: Test | Suite): string =>
  (suite === undefined ? name : `${nameOf(suite)} ${name}`).trim()

const idOf = (test: Test): string => `${relative("", test.file.filepath)}#${nameOf(test)}`

const testsOf = (suite: Suite): ReadonlyArray<Test> =>
  suite.tasks.flatMap((task) => task.type === "suite" ? testsOf(task) : [task])

const resultOf = (test: Test): TestResult => {
  const common = {
    id: idOf(test),
    name: nameOf(test),
    timeSpentMs: test.result?.duration ?? 0,
    fileName: test.file.filepath
  }
  return test.result?.state === "fail"
    ? { ...common, status: TestStatus.Failed, failureMessage: test.result.errors?.[0]?.message ?? "unknown" }
    : { ...common, status: TestStatus.Success }
}

let runs = 0

/** Runs tests one after the other, until one fails. */
const run = async (
  files: ReadonlyArray<string>,
  isSelected: (id: string) => boolean,
  before: (id: string) => void = () => {}
): Promise<ReadonlyArray<TestResult>> => {
  let hasFailed = false
  runs++
  const suites = await startTests([...files], {
    config: {
      root: process.cwd(),
      setupFiles: [],
      passWithNoTests: true,
      allowOnly: false,
      sequence: { seed: 1, hooks: "stack", setupFiles: "list" },
      maxConcurrency: 1,
      testTimeout,
      hookTimeout: testTimeout,
      retry: 0,
      includeTaskLocation: false
    },
    // a module that has been loaded would not define its tests again
    importFile: (file) => import(`${pathToFileURL(file)}?run=${runs}`),
    onCollected: (suites) => {
      for (const suite of suites) {
        if (suite.result?.state === "fail") throw new Error(`${suite.name}: ${suite.result.errors?.[0]?.message}`)
        for (const test of testsOf(suite)) if (isSlow(nameOf(test)) || !isSelected(idOf(test))) test.mode = "skip"
      }
    },
    onBeforeRunTask: (test) => {
      if (hasFailed) test.mode = "skip"
      else before(idOf(test))
    },
    onAfterRunTask: (test) => {
      hasFailed ||= test.result?.state === "fail"
    }
  })
  return suites.flatMap(testsOf).filter(({ mode, result }) => mode === "run" && result !== undefined).map(resultOf)
}

class InProcess implements TestRunner {
  readonly capabilities = () => ({ reloadEnvironment: false })

  readonly dryRun = async (): Promise<DryRunResult> => {
    const tests = await run(testFiles(), () => true, (id) => {
      mutants.currentTestId = id
    })
    delete mutants.currentTestId
    const mutantCoverage = mutants.mutantCoverage ?? { static: {}, perTest: {} }
    return { status: DryRunStatus.Complete, tests: [...tests], mutantCoverage }
  }

  readonly mutantRun = async (
    { activeMutant, hitLimit, testFilter = [] }: MutantRunOptions
  ): Promise<MutantRunResult> => {
    const files = new Set(testFilter.map((id) => id.slice(0, id.indexOf("#"))))
    Object.assign(mutants, { activeMutant: activeMutant.id, hitCount: 0, hitLimit })
    const tests = await run([...files], (id) => testFilter.includes(id))
    Object.assign(mutants, { activeMutant: undefined, hitLimit: undefined })
    const timeout = determineHitLimitReached(mutants.hitCount, hitLimit)
    const failed = tests.find(({ status }) => status === TestStatus.Failed)
    if (failed?.fileName !== undefined) {
      const [again] = await run([failed.fileName], (id) => id === failed.id)
      if (again?.status !== TestStatus.Success) throw new Error(`${failed.id} fails without the mutant too`)
    }
    return toMutantRunResult(timeout ?? { status: DryRunStatus.Complete, tests: [...tests] })
  }
}

export const strykerPlugins = [declareClassPlugin(PluginKind.TestRunner, "in-process", InProcess)]
