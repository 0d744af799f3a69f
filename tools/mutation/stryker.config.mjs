// `PACKAGE=core npx -y pnpm@10.34.9 run mutation` changes one expression of that package's sources at a time and runs the package's tests.

const name = process.env["PACKAGE"]

export default {
  plugins: ["@stryker-mutator/vitest-runner"],
  testRunner: "vitest",
  vitest: { configFile: "tools/mutation/vitest.config.ts" },
  // the contract of stores is a list of tests: stores that break it show that it can fail
  mutate: [`packages/${name}/src/**/*.ts`, "!**/StoreContract.ts"],
  ignoreStatic: true,
  // a copy of the package alone would load the other packages' own copies of core
  inPlace: true,
  // otherwise it rewrites every file of the repository and its tsconfig, which TypeScript 7 cannot do
  disableTypeChecks: false,
  tsconfigFile: "none.json",
  incremental: true,
  incrementalFile: `reports/mutation/${name}.json`,
  htmlReporter: { fileName: `reports/mutation/${name}.html` },
  reporters: ["clear-text", "html", "progress-append-only"],
  clearTextReporter: { logTests: false },
  thresholds: { high: 95, low: 90, break: 90 }
}
