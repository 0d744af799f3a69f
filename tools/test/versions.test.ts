import { assert, describe, it } from "@effect/vitest"
import { manifest } from "../../effect-4/packages.ts"
import { odd, withLibraries, withOddMajor } from "../src/versions.ts"

describe("the versions of the two lines", () => {
  it("have an odd major version for Effect 3, even after a breaking change", () => {
    const rows = [
      ["0.0.0", "0.0.0"],
      ["1.0.0", "1.0.0"],
      ["1.12.3", "1.12.3"],
      ["2.0.0", "3.0.0"],
      ["4.0.0-next.2", "5.0.0-next.2"],
      ["10.0.0", "11.0.0"]
    ] as const
    for (const [version, expected] of rows) assert.strictEqual(odd(version), expected)
  })

  it("are changed in a changelog's headings and dependencies, and not in the text of its entries", () => {
    const changelog = (version: string) =>
      [
        "# @credit-data/fleet",
        "",
        `## ${version}`,
        "",
        "### Major Changes",
        "",
        "- 0a1b2c3: Needs Redis 12.0.0, or 2.0.0 of the engine. See `@credit-data/old@2.0.0`.",
        "  ## 2.0.0 of something else",
        "",
        "### Patch Changes",
        "",
        "- Updated dependencies [0a1b2c3]",
        `  - @credit-data/core@${version}`,
        "",
        "## 1.2.0-0",
        ""
      ].join("\n")
    assert.strictEqual(withOddMajor(changelog("2.0.0"), "2.0.0"), changelog("3.0.0"))
    assert.strictEqual(withOddMajor(changelog("2.0.0"), "2x0.0"), changelog("2.0.0"))
  })

  it("have an entry in the command's changelog, even if only libraries have changed", () => {
    const entry = "- Contains this version of the libraries, whose `CHANGELOG.md` list the changes."
    const before = "# @credit-data/cli\n\n## 1.0.0\n\n### Major Changes\n\n- 0a1b2c3: First.\n"
    const of = (newest: string) => before.replace("## 1.0.0", `## 1.1.0\n\n${newest}## 1.0.0`)
    assert.strictEqual(withLibraries(of("")), of(`${entry}\n\n`))
    assert.strictEqual(
      withLibraries("# @credit-data/cli\n\n## 1.0.0\n"),
      `# @credit-data/cli\n\n## 1.0.0\n\n${entry}\n\n`
    )
    const changed = of("### Patch Changes\n\n- 4d5e6f7: Another.\n\n")
    assert.strictEqual(withLibraries(changed), changed)
    assert.strictEqual(withLibraries(before), before)
  })

  it("have the next even major version for Effect 4, so no version belongs to both", () => {
    const released = ["1.0.0", "2.0.0", "4.0.0"].map(odd)
    const onEffect4 = released.map((version) => manifest({ name: "a", version }).version)
    assert.deepStrictEqual(released, ["1.0.0", "3.0.0", "5.0.0"])
    assert.deepStrictEqual(onEffect4, ["2.0.0", "4.0.0", "6.0.0"])
  })
})
