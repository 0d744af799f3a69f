import { defineConfig } from "vitest/config"

const project = (name: string, root: string) => ({
  test: { name, root, include: ["test/**/*.test.ts"], testTimeout: 30_000 }
})

export default defineConfig({
  test: {
    projects: [
      ...["core", "auth-v1", "auth-v2", "http-client", "simulator", "integration"].map((name) =>
        project(name, `packages/${name}`)
      ),
      project("examples", "examples"),
      {
        test: {
          name: "types",
          root: "packages/integration",
          include: [],
          typecheck: { enabled: true, only: true, include: ["test/**/*.test-d.ts"], tsconfig: "../../tsconfig.json" }
        }
      }
    ]
  }
})
