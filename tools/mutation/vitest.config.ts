import { configDefaults, defineConfig } from "vitest/config"

/** The tests of the package whose sources are mutated. */
export default defineConfig({
  test: {
    include: [`packages/${process.env["PACKAGE"]}/test/**/*.test.ts`],
    exclude: [...configDefaults.exclude, "**/*.{alone,nightly}.test.ts"],
    globalSetup: "tests/support/src/runFolder.ts",
    setupFiles: "tests/support/src/endWithParent.ts",
    isolate: false,
    testTimeout: 45_000
  }
})
