import { Lang, parse, type SgNode, type SgRoot } from "@ast-grep/napi"
import { imports, members, patterns, removed } from "../rules.ts"

/** Counts how often a rule has matched: one that never matches is stale. */
export type Counts = Map<string, number>

const edit = (source: string, edits: (root: SgNode) => ReadonlyArray<ReturnType<SgNode["replace"]>>): string => {
  const root: SgRoot = parse(Lang.TypeScript, source)
  const made = edits(root.root())
  return made.length === 0 ? source : root.root().commitEdits([...made])
}

const count = (counts: Counts, rule: string) => counts.set(rule, (counts.get(rule) ?? 0) + 1)

/** `Effect.catchAll` becomes `Effect.catch`, in types and in values. */
const renameMembers = (source: string, counts: Counts): string =>
  edit(
    source,
    (root) =>
      root.findAll({ rule: { any: [{ kind: "member_expression" }, { kind: "nested_type_identifier" }] } }).flatMap(
        (node) => {
          const from = node.text()
          const to = members[from]
          if (to === undefined) return []
          count(counts, from)
          return [node.replace(to)]
        }
      )
  )

/** Replaces a pattern wherever it matches, also within what a metavariable has caught; never what the rule itself wrote. */
const replacePattern = (source: string, pattern: string, template: string, counts: Counts): string =>
  edit(source, (root) => {
    let end = 0
    return root.findAll(pattern).flatMap((match) => {
      const range = match.range()
      // within a match before it, and replaced there
      if (range.start.index < end) return []
      end = range.end.index
      count(counts, pattern)
      const caught = (text: string) => replacePattern(text, pattern, template, counts)
      return [
        match.replace(
          template.replace(/\$\$\$([A-Z]+)|\$([A-Z]+)/g, (_, many: string | undefined, one: string | undefined) => {
            if (one !== undefined) return caught(match.getMatch(one)?.text() ?? "")
            const nodes = match.getMultipleMatches(many ?? "")
            const [first, last] = [nodes[0], nodes.at(-1)]
            return first === undefined || last === undefined
              ? ""
              : caught(source.slice(first.range().start.index, last.range().end.index))
          })
        )
      ]
    })
  })

const importOf = (names: ReadonlyArray<string>, from: string): string =>
  names.every((name) => name.startsWith("type "))
    ? `import type { ${names.map((name) => name.slice("type ".length)).join(", ")} } from "${from}"`
    : `import { ${names.join(", ")} } from "${from}"`

/** Where a module of Effect 3 is in Effect 4. */
const movedModule = (from: string): string =>
  from.replace("@effect/platform/HttpApi", "effect/http-api/HttpApi").replace("@effect/platform/", "effect/http/")

/** Where each name is imported from in Effect 4, recomputed from the names that a file uses. */
const reimport = (source: string): string => {
  const root = parse(Lang.TypeScript, source).root()
  const declarations = root.findAll({ rule: { kind: "import_statement" } })
    .filter((node) => /from "(effect|@effect\/[\w-]+)(\/\w+)?"/.test(node.text()))
  const first = declarations[0]
  if (first === undefined) return source
  const isBarrel = declarations.some((node) => /from "(effect|@effect\/platform)"/.test(node.text()))
  const named = declarations.flatMap((node) => {
    const [, isType, names = "", from = ""] = /^import (type )?\{([\s\S]*)\} from "([^"]+)"/.exec(node.text()) ?? []
    return names.split(",").map((name) => name.trim()).filter((name) => name !== "").map((name) => {
      const [, own, imported = "", local = imported] = /^(type )?(\w+)(?: as (\w+))?$/.exec(name) ?? []
      return { isType: isType !== undefined || own !== undefined, imported, local, from }
    })
  })
  const body = root.children().filter((node) => !declarations.some((other) => other.id() === node.id()))
  const values = new Set<string>()
  const types = new Set<string>()
  for (
    const node of body.flatMap((child) =>
      child.findAll({ rule: { any: [{ kind: "identifier" }, { kind: "type_identifier" }] } })
    )
  ) {
    const parent = node.parent()?.kind()
    const isType = parent === "nested_type_identifier" || node.kind() === "type_identifier" ||
      node.inside({ rule: { kind: "type_query" } })
    if (isType) types.add(node.text())
    else values.add(node.text())
  }
  const used = (name: string) => values.has(name) || types.has(name)
  const keyword = (name: string) => values.has(name) ? "import" : "import type"
  const lines = new Set<string>()
  const barrels = new Map<string, Set<string>>()
  // a name of ours is not one of Effect's
  const own = new Set(
    root.findAll({ rule: { kind: "import_statement" } }).flatMap((node) =>
      /from "\./.test(node.text()) ? /\* as (\w+)/.exec(node.text())?.[1] ?? [] : []
    )
  )
  const aliases = new Map(
    declarations.flatMap((node) => {
      const [, local = "", from = ""] = /import (?:type )?\* as (\w+) from "([^"]+)"/.exec(node.text()) ?? []
      return local === "" ? [] : [[local, from] as const]
    }).concat(
      named.filter(({ from, imported }) => /^(effect|@effect\/platform)$/.test(from) && /^[A-Z]/.test(imported)).map((
        { from, imported, local }
      ) => [local, `${from}/${imported}`] as const)
    )
  )
  const moduleOf = (local: string) => {
    const from = aliases.get(local)
    const name = from?.split("/").at(-1) ?? local
    return imports[name] ?? (from === undefined ? undefined : movedModule(from))
  }
  for (const name of new Set([...values, ...types])) {
    const isKnown = !own.has(name) && aliases.has(name) || !own.has(name) &&
        (name in imports && /^[A-Z]/.test(name) && new RegExp(`\\b${name}\\.`).test(source))
    const module = isKnown ? moduleOf(name) : undefined
    if (module === undefined || removed.has(module)) continue
    const exported = module.split("/").at(-1) ?? name
    if (isBarrel && module.includes("/") && !module.startsWith("@effect/platform-node/")) {
      const barrel = module.replace(/\/\w+$/, "")
      const set = barrels.get(barrel) ?? new Set()
      set.add(`${values.has(name) ? "" : "type "}${exported === name ? name : `${exported} as ${name}`}`)
      barrels.set(barrel, set)
    } else lines.add(`${keyword(name)} * as ${name} from "${module}"`)
  }
  for (const { from, imported, isType, local } of named) {
    if (aliases.has(local) || !used(local)) continue
    const to = imports[`${from}#${imported}`] ?? movedModule(from)
    const set = barrels.get(to) ?? new Set()
    set.add(`${isType ? "type " : ""}${imported === local ? local : `${imported} as ${local}`}`)
    barrels.set(to, set)
  }
  for (const [barrel, names] of barrels) lines.add(importOf([...names].toSorted(), barrel))
  let result = ""
  let at = 0
  for (const node of declarations) {
    result += source.slice(at, node.range().start.index)
    if (node.id() === first.id()) result += [...lines].toSorted().join("\n")
    at = node.range().end.index
    if (node.id() !== first.id() && source[at] === "\n") at++
  }
  return result + source.slice(at)
}

const rewriteCode = (source: string, counts: Counts): string => {
  let current = renameMembers(source, counts)
  for (const [pattern, template] of patterns) current = replacePattern(current, pattern, template, counts)
  return reimport(current)
}

/** The TypeScript examples of a text, each of its lines behind the same prefix: none in Markdown, ` * ` in a docstring. */
const exampleOf = (language: string) => new RegExp(`^([ *]*)\`\`\`${language}\\n([\\s\\S]*?)\\n\\1\`\`\`$`, "gm")

/** What a text shows as examples. */
export const examplesIn = (text: string, language = "ts"): ReadonlyArray<string> =>
  [...text.matchAll(exampleOf(language))].map(([, prefix = "", code = ""]) =>
    code.split("\n").map((line) => line.slice(prefix.length)).join("\n")
  )

/** A text with examples, in Markdown or in docstrings, as one with examples for Effect 4. */
export const rewriteExamples = (text: string, counts: Counts): string =>
  text.replaceAll(exampleOf("ts"), (_, prefix: string, code: string) => {
    const plain = code.split("\n").map((line) => line.slice(prefix.length)).join("\n")
    const lines = rewriteCode(plain, counts).split("\n").map((line) => `${prefix}${line}`.trimEnd())
    return [`${prefix}\`\`\`ts`, ...lines, `${prefix}\`\`\``].join("\n")
  })

/** An Effect 3 source as one for Effect 4. */
export const rewrite = (source: string, counts: Counts): string => rewriteExamples(rewriteCode(source, counts), counts)

/** The rules of which each has to match somewhere. */
export const ruleNames: ReadonlyArray<string> = [...Object.keys(members), ...patterns.map(([pattern]) => pattern)]
