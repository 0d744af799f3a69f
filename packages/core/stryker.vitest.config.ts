import { defineConfig } from "vitest/config"

/** The tests of core alone; those of the model take long and are calibrated by themselves. */
export default defineConfig({
  test: { root: "packages/core", include: ["test/**/*.test.ts"], testTimeout: 30_000 }
})
