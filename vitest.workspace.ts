import { existsSync, readdirSync } from "node:fs"
import { defineConfig } from "vitest/config"

/** The folders that have tests. */
const roots = ["packages", "tests"]
  .flatMap((room) => readdirSync(room).map((name) => `${room}/${name}`))
  .concat("examples")
  .filter((root) => existsSync(`${root}/test`))

export default defineConfig({
  test: {
    projects: [
      ...roots.map((root) => ({
        test: { name: root.replace(/^.*\//, ""), root, include: ["test/**/*.test.ts"], testTimeout: 30_000 }
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
