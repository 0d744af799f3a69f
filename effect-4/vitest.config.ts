import { existsSync, readdirSync } from "node:fs"
import { defineConfig } from "vitest/config"

const roots = ["packages", "tests"]
  .flatMap((room) => readdirSync(`generated/${room}`).map((name) => `generated/${room}/${name}`))
  .filter((root) => existsSync(`${root}/test`))

export default defineConfig({
  test: {
    // by default, one core would be left for a watch mode
    maxWorkers: "100%",
    projects: roots.map((root) => ({
      test: { name: root.replace(/^.*\//, ""), root, include: ["test/**/*.test.ts"], testTimeout: 30_000 }
    }))
  }
})
