/** A test that does not apply on Effect 4. */
interface Exception {
  readonly file: string
  readonly test: string
  readonly reason: string
}

/** The tests that are skipped on Effect 4. None of them is about secrets, deadlines, token requests or clocks. */
export const exceptions: ReadonlyArray<Exception> = [
  {
    file: "packages/core/test/config.test.ts",
    test: "the error names both variables when both are wrong",
    reason:
      "Config.all reports the first fault only. Variables.read, and with it every layerConfig, reports all of them."
  },
  {
    file: "packages/core/test/variables.test.ts",
    test: "Variables.read reports the wrong variable of an alternative",
    reason: "Config.orElse keeps the error of the alternative only."
  },
  {
    file: "packages/core/test/rotation.test.ts",
    test: "a rotated secret is read by the ConfigProvider with which the endpoint was built",
    reason: "ConfigProvider.fromEnv copies process.env when it is made."
  },
  {
    file: "packages/core/test/variables.test.ts",
    test: "Variables.read prints the name that a nested provider gives to a variable",
    reason: "A Config has no access to the name that ConfigProvider.nested gives to its variable."
  },
  {
    file: "packages/http-client/test/response.test.ts",
    test: "keeps its status in the error of the program's client, even if a finalizer of that client dies",
    reason: "The defect of a finalizer replaces the failure."
  }
]
