const name = process.env["MUTATED_PACKAGE"]
const results = `packages/${name}/.stryker`

export default {
  testRunner: "vitest",
  vitest: { configFile: "tools/mutation/vitest.config.ts" },
  plugins: ["@stryker-mutator/vitest-runner"],
  // the contract of stores is a list of tests: the stores that break it show that they can fail
  mutate: [`packages/${name}/src/**/*.ts`, `!packages/${name}/src/{index,StoreContract}.ts`],
  inPlace: true,
  tsconfigFile: "none.json",
  concurrency: 2,
  timeoutMS: 5_000,
  incremental: true,
  incrementalFile: `${results}/incremental.json`,
  tempDirName: `${results}/temp`,
  htmlReporter: { fileName: `${results}/mutation.html` },
  reporters: ["clear-text", "html", "progress-append-only"],
  clearTextReporter: { allowColor: false, reportTests: false },
  ignoreStatic: true,
  thresholds: { high: 95, low: 90, break: 90 }
}
