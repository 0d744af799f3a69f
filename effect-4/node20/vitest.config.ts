import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/**
 * The tests of the packages that `@credit-data/promise` brings for Effect 4, on Node 20. The vitest of the Effect 4 workspace does not start there, so
 * the one of the Effect 3 workspace runs them.
 */
export default defineConfig({
  root: here(".."),
  resolve: { alias: [{ find: /^vitest$/, replacement: here("vitest.mjs") }] },
  test: {
    isolate: false,
    testTimeout: 45_000,
    globalSetup: here("../generated/tests/support/src/runFolder.ts"),
    setupFiles: here("../generated/tests/support/src/endWithParent.ts"),
    // it imports vitest
    server: { deps: { inline: ["@effect/vitest"] } },
    include: ["generated/packages/{core,auth-*,http-client}/test/**/*.test.ts"],
    exclude: ["**/node_modules/**", "**/*.{alone,system,nightly}.test.ts"]
  }
})
