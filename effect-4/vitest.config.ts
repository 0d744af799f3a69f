import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"

const everyTest = "generated/{examples,packages/*,tests/*}/test/**/*.test.ts"

/** The tests of each mode, as in the workspace of Effect 3. */
const modes = {
  test: { include: [everyTest], exclude: ["**/*.{alone,system}.test.ts"] },
  /** With the tests over every transport, because Effect 4 has its own transports. */
  system: {
    include: ["alone", "system", "transports"].map((tier) => everyTest.replace(".test.ts", `.${tier}.test.ts`)),
    exclude: []
  }
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
      globalSetup: fileURLToPath(new URL("generated/tests/support/src/runFolder.ts", import.meta.url)),
      setupFiles: fileURLToPath(new URL("generated/tests/support/src/endWithParent.ts", import.meta.url)),
      ...(mode !== "test" && { env: { SEARCHES: "complete", TRANSPORTS: "fetch,node:http,undici" } }),
      include: modes[mode].include,
      exclude: ["**/*.nightly.test.ts", ...modes[mode].exclude]
    }
  }
})
