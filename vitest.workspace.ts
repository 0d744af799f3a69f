import { availableParallelism } from "node:os"
import { fileURLToPath } from "node:url"
import { configDefaults, defineConfig } from "vitest/config"
import { missingPrograms } from "./tests/support/src/programs.ts"
import { Watchdog } from "./tests/support/src/watchdog.ts"

const everyTest = "{packages,tests}/*/test/**/*.test.ts"

/** The tests that use `searches` of the test support. */
const sampled = [
  "packages/core/test/fuzz.test.ts",
  "packages/http-client/test/{call,target}.test.ts",
  "packages/fleet/test/model/protocol.model.test.ts",
  "tests/integration/test/{framing.transports,oneSupply,oneToken,races}.test.ts"
]

/** The tests of each mode, as globs. `test` is what `pnpm test` runs. */
const modes = {
  // one example in a child process stands for all of them
  test: { include: [everyTest, "examples/test/main.test.ts"], exclude: ["**/*.{alone,system,nightly}.test.ts"] },
  /** With real servers and a browser. */
  system: {
    include: [everyTest, "examples/test/**/*.test.ts"].map((glob) => glob.replace(".test.ts", ".system.test.ts")),
    exclude: []
  },
  /** With real servers or many processes in real time, so nothing may run beside them. */
  alone: { include: [everyTest.replace(".test.ts", ".alone.test.ts")], exclude: [] },
  /** The first tier's tests over sockets again, over undici and `fetch`. */
  transports: { include: ["tests/integration/test/**/*.transports.test.ts"], exclude: [] },
  /** Searches of many minutes, and all cases of those that are sampled in `test`. */
  nightly: { include: [everyTest.replace(".test.ts", ".nightly.test.ts"), ...sampled], exclude: [] },
  /** The documents, the examples and the generated files of this repository. */
  documents: { include: ["{tools,examples}/test/**/*.test.ts"], exclude: ["**/*.system.test.ts"] }
}

const isMode = (mode: string): mode is keyof typeof modes => mode in modes

/** The tests that need signals, modes of files, or a shell as POSIX has them. */
const notOnWindows = [
  "packages/cli/test/**",
  "packages/create-credit-data/test/**",
  "packages/fleet/test/files.test.ts",
  "packages/simulator/test/command.test.ts",
  "tests/integration/test/processes.transports.test.ts"
]

export default defineConfig(({ mode: given }) => {
  // other programs read this file in their own modes
  const mode = isMode(given) ? given : "test"
  const missing = mode === "system" || mode === "alone" ? missingPrograms() : []
  if (missing.length > 0) {
    console.error(`Programs are missing: ${missing.join(", ")}.`)
    process.exit(1)
  }
  const { exclude, include } = modes[mode]
  return {
    test: {
      // by default, one core would be left for a watch mode; tests with real servers mostly wait
      maxWorkers: mode === "system" ? Math.ceil(1.5 * availableParallelism()) : "100%",
      minWorkers: 1,
      // what a test prints is shown if it fails
      silent: "passed-only",
      // Files share the modules that they import, because loading Effect for each file takes longer than its tests. Tests with a
      // browser use the `layer` of @effect/vitest, which changes `it` for the files after them.
      isolate: mode === "alone" || mode === "system",
      fileParallelism: mode !== "alone",
      projects: [{
        // beside the reporters of the command line. A test with real servers, and a search of the night, may take longer than it allows.
        plugins: mode !== "test" ? [] : [{
          name: "watchdog",
          // before the reporters that print what it makes shorter
          configureVitest: ({ vitest }) => void vitest.config.reporters.unshift(new Watchdog())
        }],
        test: {
          name: mode,
          include,
          exclude: [...configDefaults.exclude, ...exclude, ...(process.platform === "win32" ? notOnWindows : [])],
          ...(mode !== "test" &&
            {
              env: {
                SEARCHES: "complete",
                TRANSPORTS: mode === "transports" ? "fetch,undici" : "fetch,node:http,undici"
              }
            }),
          globalSetup: fileURLToPath(new URL("tests/support/src/runFolder.ts", import.meta.url)),
          setupFiles: fileURLToPath(new URL("tests/support/src/endWithParent.ts", import.meta.url)),
          testTimeout: 45_000
        }
      }]
    }
  }
})
