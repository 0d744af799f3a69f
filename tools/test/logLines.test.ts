import { Lang, parse, type SgNode } from "@ast-grep/napi"
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

const trees = sources.map((source) => parse(Lang.TypeScript, source).root())

const allOf = (kind: string, within: ReadonlyArray<SgNode> = trees): ReadonlyArray<SgNode> =>
  within.flatMap((tree) => tree.findAll({ rule: { kind } }))

/** The expressions that a name stands for: a const, or an argument of the callers of a function. */
const meaningsOf = (name: string, at: SgNode): ReadonlyArray<SgNode> => {
  for (const outer of at.ancestors()) {
    const constant = allOf("variable_declarator", [outer]).find((each) => each.field("name")?.text() === name)
    if (constant !== undefined) return [constant.field("value") ?? []].flat()
    const parameters = outer.kind() === "arrow_function" ? outer.field("parameters")?.children() ?? [] : []
    const index = parameters.filter((each) => each.isNamed()).findIndex((each) =>
      each.field("pattern")?.text() === name
    )
    const caller = outer.parent()?.field("name")?.text()
    if (index < 0 || caller === undefined) continue
    return allOf("call_expression", at.ancestors().slice(-1))
      .filter((call) => call.field("function")?.text() === caller)
      .flatMap((call) => call.field("arguments")?.children().filter((each) => each.isNamed())[index] ?? [])
  }
  return []
}

/** The literals with which the text of an expression begins. */
const beginningsOf = (expression: SgNode | null | undefined): ReadonlyArray<string> => {
  switch (expression?.kind()) {
    case "string":
    case "template_string": {
      const text = textOf(expression.text())
      const first = expression.children().find((each) => each.kind() === "template_substitution")
      const known = beginningsOf(first?.child(1))
      return known.length === 0 ? [text] : known.map((each) => text.replace("…", each))
    }
    case "binary_expression":
      return beginningsOf(expression.field("left"))
    case "ternary_expression":
      return [...beginningsOf(expression.field("consequence")), ...beginningsOf(expression.field("alternative"))]
    case "arrow_function":
      return beginningsOf(expression.field("body"))
    case "call_expression":
      return beginningsOf(expression.field("function"))
    case "identifier":
      return meaningsOf(expression.text(), expression).flatMap(beginningsOf)
    default:
      return []
  }
}

/** What a module gives to another one in a property with this name. */
const valuesOf = (name: string): ReadonlyArray<SgNode> =>
  allOf("pair").filter((each) => each.field("key")?.text() === name).flatMap((each) => each.field("value") ?? [])

/** The log lines in the code: their levels, and how their texts begin. */
const inCode = allOf("call_expression").flatMap((call) => {
  const callee = call.field("function")?.text() ?? ""
  // a condition can choose the level
  if (!/^\((.|\n)*\)$|^[\w.]+$/.test(callee) || !/\bEffect\.log[A-Z]/.test(callee)) return []
  const text = call.field("arguments")?.child(1)
  const found = beginningsOf(text)
  return [{
    call: call.text(),
    levels: [...callee.matchAll(/Effect\.log(\w+)/g)].map(([, level = ""]) => levels[level] ?? ""),
    texts: found.length > 0 ? found : valuesOf(text?.text() ?? "").flatMap(beginningsOf)
  }]
})

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
    for (const { call, levels, texts } of inCode) {
      assert.isNotEmpty(texts, call)
      for (const text of texts) {
        const row = documented.find(({ beginning }) => begins(text, beginning))
        assert.include(levels, row?.level, text)
      }
    }
    const uses = allOf("member_expression").filter((each) => /^Effect\.log[A-Z]\w+$/.test(each.text()))
    assert.strictEqual(inCode.flatMap(({ levels }) => levels).length, uses.length)
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
