import { Lang, parse } from "@ast-grep/napi"
import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { files } from "../src/telemetry/files.ts"

const levels: Readonly<Record<string, string>> = { Debug: "DEBUG", Info: "INFO", Warning: "WARN", Error: "ERROR" }

/** What a literal begins with. What is interpolated is "…". */
const textOf = (literal: string): string => literal.slice(1, -1).replaceAll(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, "…")

const root = new URL("../../", import.meta.url)
const packages = ["core", "auth-v1", "auth-v2", "http-client", "fleet", "migration", "store-redis", "telemetry"]

const sources = packages.flatMap((name) =>
  readdirSync(new URL(`packages/${name}/src`, root), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => readFileSync(new URL(`packages/${name}/src/${file}`, root), "utf8"))
)

/** The log lines in the code whose text stands in the call: the level, and the first literal. */
const inCode = sources.flatMap((source) =>
  parse(Lang.TypeScript, source).root().findAll({ rule: { kind: "call_expression" } }).flatMap((call) => {
    const [, level = ""] =
      /^(?:(?:Effect|SafeLog)\.)?log(Debug|Info|Warning|Error)$/.exec(call.child(0)?.text() ?? "") ?? []
    const literal = call.child(1)?.find({
      rule: { any: [{ kind: "template_string" }, { kind: "string" }] }
    })
    if (level === "" || literal == null) return []
    const text = textOf(literal.text())
    // its beginning stands elsewhere
    return text.startsWith("…") ? [] : [{ level: levels[level] ?? "", text }]
  })
)

const documented = (readFileSync(files.telemetry, "utf8").split("\n## Logs\n")[1]?.split("\n## ")[0] ?? "")
  .split("\n")
  .flatMap((line) => {
    const [, level = "", beginning = ""] = /^\| (DEBUG|INFO|WARN|ERROR) +\| `([^`]+)`/.exec(line) ?? []
    return level === "" ? [] : [{ level, beginning }]
  })

/** Whether a text begins like that, whatever stands for "…". */
const begins = (text: string, beginning: string): boolean => {
  let at = 0
  return beginning.split("…").every((part, index) => {
    const found = text.indexOf(part, at)
    at = found + part.length
    return index === 0 ? found === 0 : found >= 0
  })
}

describe("the list of log lines", () => {
  it("has every line of the code, with its level", () => {
    assert.isAbove(inCode.length, 12)
    for (const { level, text } of inCode) {
      const row = documented.find(({ beginning }) => begins(text, beginning))
      assert.strictEqual(row?.level, level, text)
    }
  })

  it("has no line that the code does not write", () => {
    const code = sources.map((source) => source.replaceAll(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, "…")).join("\n")
    for (const { beginning } of documented) {
      // a text that is put together begins alike
      const [first = ""] = beginning.split("…")
      assert.include(code, first.trim().split(" ").slice(0, 4).join(" "), beginning)
    }
  })

  it("has no word more than once for the same fact", () => {
    assert.lengthOf(new Set(documented.map(({ beginning }) => beginning)), documented.length)
  })
})
