import { defineConfig } from "vitest/config"

const everyTest = "generated/{examples,packages/*,tests/*}/test/**/*.test.ts"

const overTransports = "generated/tests/integration/test/**/*.transports.test.ts"

/** The tests of each mode, as in the workspace of Effect 3. */
const modes = {
  test: { include: [everyTest], exclude: ["**/*.system.test.ts"] },
  system: { include: [everyTest.replace(".test.ts", ".system.test.ts"), overTransports], exclude: [] },
  /** The part of `system` in which Effect 4 differs: it has transports of its own. */
  transports: { include: [overTransports], exclude: [] }
}

const isMode = (mode: string): mode is keyof typeof modes => mode in modes

export default defineConfig(({ mode: given }) => {
  const mode = isMode(given) ? given : "test"
  return {
    test: {
      // by default, one core would be left for a watch mode
      maxWorkers: "100%",
      isolate: false,
      testTimeout: 45_000,
      ...(mode !== "test" && { env: { TRANSPORTS: mode === "transports" ? "others" : "every" } }),
      include: modes[mode].include,
      exclude: ["**/*.nightly.test.ts", ...modes[mode].exclude]
    }
  }
})
