import { configDefaults, defineConfig } from "vitest/config"
import { missingPrograms } from "./tests/support/src/programs.ts"

const everyTest = ["{packages,tests}/*/test/**/*.test.ts", "examples/test/**/*.test.ts"]

/** The tests of each mode, as globs. `test` is what `pnpm test` runs. */
const modes = {
  test: { include: everyTest, exclude: ["**/*.{system,nightly}.test.ts"] },
  /** With real servers, a browser and many processes. */
  system: { include: everyTest.map((glob) => glob.replace(".test.ts", ".system.test.ts")), exclude: [] },
  /** Searches of many minutes. */
  nightly: { include: everyTest.map((glob) => glob.replace(".test.ts", ".nightly.test.ts")), exclude: [] },
  /** The documents and generated files of this repository. */
  documents: { include: ["tools/test/**/*.test.ts"], exclude: [] }
}

const isMode = (mode: string): mode is keyof typeof modes => mode in modes

/** The tests that need signals, modes of files, or a shell as POSIX has them. */
const notOnWindows = [
  "packages/cli/test/**",
  "packages/fleet/test/files.test.ts",
  "packages/simulator/test/command.test.ts",
  "tests/integration/test/processes.test.ts"
]

export default defineConfig(({ mode: given }) => {
  // other programs read this file in their own modes
  const mode = isMode(given) ? given : "test"
  const missing = mode === "system" ? missingPrograms() : []
  if (missing.length > 0) {
    console.error(`Programs are missing: ${missing.join(", ")}.`)
    process.exit(1)
  }
  const { exclude, include } = modes[mode]
  return {
    test: {
      // by default, one core would be left for a watch mode
      maxWorkers: "100%",
      minWorkers: 1,
      // Files share the modules that they import, because loading Effect for each file takes longer than its tests. Tests with a
      // browser use the `layer` of @effect/vitest, which changes `it` for the files after them.
      isolate: mode === "system",
      projects: [
        {
          test: {
            name: mode,
            include,
            exclude: [...configDefaults.exclude, ...exclude, ...(process.platform === "win32" ? notOnWindows : [])],
            testTimeout: 30_000
          }
        },
        ...(mode === "test"
          ? [{
            test: {
              name: "types",
              include: [],
              typecheck: {
                enabled: true,
                only: true,
                include: ["tests/*/test/**/*.test-d.ts"],
                tsconfig: "tsconfig.json"
              }
            }
          }]
          : [])
      ]
    }
  }
})
