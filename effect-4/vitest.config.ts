import { defineConfig } from "vitest/config"

const everyTest = "{test,generated/{examples,packages/*,tests/*}/test}/**/*.test.ts"

/** The tests of each mode, as in the workspace of Effect 3. */
const modes = {
  test: { include: [everyTest], exclude: ["**/*.{system,nightly}.test.ts"] },
  system: { include: [everyTest.replace(".test.ts", ".system.test.ts")], exclude: [] }
}

export default defineConfig(({ mode }) => ({
  test: {
    // by default, one core would be left for a watch mode
    maxWorkers: "100%",
    isolate: false,
    testTimeout: 30_000,
    ...modes[mode === "system" ? mode : "test"]
  }
}))
