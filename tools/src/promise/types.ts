import { Lang, parse } from "@ast-grep/napi"
import { readFileSync } from "node:fs"
import { join } from "node:path"

/** Why the public types cannot be one file. */
export class NotPlain extends Error {
  constructor(module: string, reason: string) {
    super(`packages/promise/src/${module}.ts: ${reason} The published types are one file, and name only Node's.`)
  }
}

const sibling = /^\.\/([A-Z]\w*)\.(?:ts|js)$/

/**
 * The declarations of the modules that `index.d.ts` exports, as one file. It may use types of Node. Throws if a module uses another package or
 * an internal module, or gives an import another name.
 */
export const rollUp = (folder: string): string => {
  const read = (module: string) => readFileSync(join(folder, `${module}.d.ts`), "utf8")
  const references = new Set<string>()
  const ofNode = new Set<string>()
  const modules = Array.from(
    read("index").matchAll(/^export .*$/gm),
    ([line]) => {
      const module = sibling.exec(/^export \* from "(.+)";$/.exec(line)?.[1] ?? "")?.[1]
      if (module === undefined) throw new NotPlain("index", `"${line}" is not the export of a module beside it.`)
      return module
    }
  )
  const texts = modules.map((module) => {
    const root = parse(Lang.TypeScript, read(module)).root()
    const edits = root.findAll({
      rule: {
        any: [{ kind: "import_statement" }, { kind: "export_statement", has: { field: "source", pattern: "$S" } }]
      }
    }).map((statement) => {
      const source = statement.field("source")?.text().slice(1, -1) ?? ""
      const imported = sibling.exec(source)?.[1]
      if (/^import type \{ \w+(, \w+)* \} from "node:/.test(statement.text())) {
        // the program may not list @types/node
        references.add("/// <reference types=\"node\" />")
        ofNode.add(statement.text())
        return statement.replace("")
      }
      if (imported === undefined || !modules.includes(imported) || statement.kind() !== "import_statement") {
        throw new NotPlain(module, `It imports or exports from "${source}".`)
      }
      if (/\*| as /.test(statement.text())) throw new NotPlain(module, `It renames what it imports from "${source}".`)
      return statement.replace("")
    })
    // a text about a module has no place in a file of all
    const [first, second] = root.children().filter((node) => !node.text().startsWith("///"))
    if (first?.kind() === "comment" && /^(comment|import_statement)$/.test(String(second?.kind()))) {
      edits.push(first.replace(""))
    }
    const inline = /\bimport\(.*?\)/.exec(read(module))?.[0]
    if (inline !== undefined) throw new NotPlain(module, `A type is ${inline}.`)
    return root.commitEdits(edits).split("\n").filter((line) => {
      if (line.startsWith("/// ")) references.add(line)
      return !line.startsWith("/// ") && line !== "export {};"
    }).join("\n").trim()
  })
  // what is not exported stays so
  return [...references, ...ofNode, ...texts, "export {}", ""].join("\n")
}
