// Prints the lines of code of each package, without comments and blank lines. With a revision as its argument, it counts that one.

import { Lang, parse } from "@ast-grep/napi"
import { execFileSync } from "node:child_process"
import { fileURLToPath } from "node:url"

const lines = execFileSync(
  "git",
  ["grep", "--null", "", ...process.argv.slice(2), "--", "packages/*/src/*ts", ":!*.generated.ts"],
  { cwd: fileURLToPath(new URL("../../", import.meta.url)), encoding: "utf8", maxBuffer: 64 * 1024 * 1024 }
)

const texts = new Map<string, string>()
for (const [, file = "", line = ""] of lines.matchAll(/^(?:[^:\0]*:)?([^\0]*)\0(.*)$/gm)) {
  texts.set(file, `${texts.get(file) ?? ""}${line}\n`)
}

const codeLines = (text: string): number => {
  const tree = parse(Lang.TypeScript, text).root()
  const edits = tree.findAll({ rule: { kind: "comment" } }).map((comment) => comment.replace(""))
  return tree.commitEdits(edits).split("\n").filter((line) => line.trim() !== "").length
}

const counts = new Map<string, number>()
for (const [file, text] of texts) {
  const [, name = ""] = file.split("/")
  counts.set(name, (counts.get(name) ?? 0) + codeLines(text))
}
counts.set("all", [...counts.values()].reduce((sum, count) => sum + count, 0))
for (const [name, count] of counts) console.log(`${String(count).padStart(6)}  ${name}`)
