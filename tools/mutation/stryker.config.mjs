const name = process.env["MUTATED_PACKAGE"]
const results = `packages/${name}/.stryker`

export default {
  testRunner: "in-process",
  plugins: ["./tools/mutation/testRunner.ts"],
  mutate: process.env["MUTATED_FILES"]?.split(","),
  inPlace: true,
  // otherwise it writes all files of the repository
  disableTypeChecks: false,
  tsconfigFile: "none.json",
  concurrency: 2,
  timeoutMS: 5_000,
  tempDirName: `${results}/temp`,
  jsonReporter: { fileName: `${results}/mutation.json` },
  reporters: ["json", "progress-append-only"],
  ignoreStatic: true
}
