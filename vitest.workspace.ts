import { missingPackages } from "./tests/support/src/programs.ts"
import { existsSync, readdirSync } from "node:fs"
import { defineConfig } from "vitest/config"

/** The folders that have tests. */
const roots = ["packages", "tests"]
  .flatMap((room) => readdirSync(room).map((name) => `${room}/${name}`))
  .concat("examples")
  .filter((root) => existsSync(`${root}/test`))

const missing = missingPackages()
if (missing.length > 0) {
  console.warn(`Tests with real servers are skipped. To run them, install the Debian packages: ${missing.join(" ")}`)
}

export default defineConfig({
  test: {
    // by default, one core would be left for a watch mode
    maxWorkers: "100%",
    minWorkers: 1,
    projects: [
      ...roots.map((root) => ({
        test: { name: root.replace(/^packages\//, ""), root, include: ["test/**/*.test.ts"], testTimeout: 30_000 }
      })),
      {
        test: {
          name: "types",
          root: "tests/integration",
          include: [],
          typecheck: { enabled: true, only: true, include: ["test/**/*.test-d.ts"], tsconfig: "../../tsconfig.json" }
        }
      }
    ]
  }
})
