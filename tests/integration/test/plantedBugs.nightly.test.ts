import { assert, beforeAll, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { startVitest } from "vitest/node"
import { type Bug, promises } from "../src/plantedBugs.ts"

const root = fileURLToPath(new URL("../../..", import.meta.url))
const bugs = Object.entries(promises).flatMap(([promise, bugs]) => bugs.map((bug) => ({ ...bug, promise })))

/** Changes the text of one module. */
const planting = ({ file, from, to }: Bug) => ({
  name: "plant-a-bug",
  enforce: "pre" as const,
  transform: (code: string, id: string) => id === `${root}${file}` ? code.replace(from, () => to) : undefined
})

const fileOf = (test: string) => {
  const [file = ""] = test.split(": ")
  return `${file.startsWith("integration/") ? "tests" : "packages"}/${file}.test.ts`
}

describe("a planted bug is found by tests whose names say what it breaks", () => {
  /** What the tests reported in spite of each bug, by its fault: nothing if they passed. */
  const reports = new Map<string, Array<{ readonly name: string; readonly message: string | undefined }>>()

  beforeAll(async () => {
    const vitest = await startVitest("test", [], {
      config: false,
      root,
      watch: false,
      reporters: [{}],
      maxWorkers: "100%",
      projects: bugs.map((bug) => ({
        plugins: [planting(bug)],
        test: {
          name: bug.fault,
          include: bug.foundBy.map(fileOf),
          setupFiles: fileURLToPath(new URL("../src/namedTests.ts", import.meta.url)),
          env: { NAMED_TESTS: bug.foundBy.join("\n") },
          testTimeout: 10_000
        }
      }))
    })
    for (const { children, project } of vitest.state.getTestModules()) {
      const seen = reports.get(project.name) ?? []
      reports.set(project.name, seen)
      for (const test of children.allTests()) {
        seen.push({ name: test.name, message: test.result().errors?.map(({ message }) => message).join("\n") })
      }
    }
    await vitest.close()
  }, 2_400_000)

  for (const { fault, file, foundBy, from, promise } of bugs) {
    it(`${promise}: ${fault}`, () => {
      assert.lengthOf(readFileSync(`${root}${file}`, "utf8").split(from), 2, `${file} has "${from}" once`)
      for (const test of foundBy) {
        const found = reports.get(fault)?.filter(({ name }) => test.endsWith(`: ${name}`)) ?? []
        assert.isNotEmpty(found, `there is a test "${test}"`)
        const messages = found.flatMap(({ message }) => message ?? [])
        assert.isNotEmpty(messages, `"${test}" fails`)
        assert.notMatch(messages.join("\n"), /timed out/i, `"${test}" fails at once`)
        assert.notMatch(messages.join("\n"), /is not defined/, `"${test}" fails because of what the bug does`)
      }
    })
  }
})
