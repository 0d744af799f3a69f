import { assert, beforeAll, describe, it } from "@effect/vitest"
import { fileURLToPath } from "node:url"
import { startVitest } from "vitest/node"
import { promises } from "../src/plantedBugs.ts"

const root = fileURLToPath(new URL("../../..", import.meta.url))
const table = `${root}tests/integration/src/plantedBugs.ts`
const bugs = Object.entries(promises).flatMap(([promise, bugs]) =>
  bugs.map((bug, index) => ({ ...bug, index, promise }))
)

/** Puts a module in the place of another one, of which it changes one function. The changed module loads it as it is. */
const planting = ({ changed, index, module, promise }: typeof bugs[number]) => {
  const path = `${root}packages/${module}.ts`
  return {
    name: "plant-a-bug",
    enforce: "pre" as const,
    load: (id: string) =>
      id !== path ? undefined : `
        import * as original from "${path}?original"
        import { promises } from "${table}"
        export * from "${path}?original"
        export const ${changed} = promises[${JSON.stringify(promise)}][${index}].change(original.${changed})
      `
  }
}

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
      projects: bugs.map((bug) => ({
        plugins: [planting(bug)],
        test: {
          name: bug.fault,
          include: bug.foundBy.map(fileOf),
          testTimeout: 10_000,
          env: { PLANTED_BUG: bug.fault }
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
  }, 1_200_000)

  for (const { fault, foundBy, promise } of bugs) {
    it(`${promise}: ${fault}`, () => {
      for (const test of foundBy) {
        const found = reports.get(fault)?.filter(({ name }) => test.endsWith(`: ${name}`)) ?? []
        assert.isNotEmpty(found, `there is a test "${test}"`)
        const messages = found.flatMap(({ message }) => message ?? [])
        assert.isNotEmpty(messages, `"${test}" fails`)
        assert.notMatch(messages.join("\n"), /timed out/i, `"${test}" fails at once`)
      }
    })
  }
})
