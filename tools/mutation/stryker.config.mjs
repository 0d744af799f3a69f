const name = process.env["MUTATED_PACKAGE"]
const results = `packages/${name}/.stryker`

export default {
  testRunner: "vitest",
  vitest: { configFile: "tools/mutation/vitest.config.ts" },
  plugins: ["@stryker-mutator/vitest-runner"],
  mutate: process.env["MUTATED_FILES"]?.split(","),
  inPlace: true,
  tsconfigFile: "none.json",
  concurrency: 2,
  timeoutMS: 5_000,
  tempDirName: `${results}/temp`,
  jsonReporter: { fileName: `${results}/mutation.json` },
  reporters: ["json", "progress-append-only"],
  ignoreStatic: true
}
