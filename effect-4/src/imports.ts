import { Lang, parse, type SgNode } from "@ast-grep/napi"
import { imports } from "../rules.ts"

// The imports of a file are not translated one by one. They are computed again from the names that the translated file uses.

/** A module as a whole: `import * as local from "module"`, or its name out of a barrel. */
interface Module {
  readonly local: string
  readonly module: string
}

/** A single name: `import { imported as local } from "from"`. */
interface Name {
  readonly local: string
  readonly imported: string
  readonly from: string
  readonly isType: boolean
}

const isBarrel = (from: string): boolean => ["effect", "@effect/platform", "@effect/opentelemetry"].includes(from)

const modulesOf = (declaration: string): ReadonlyArray<Module> => {
  const [, local, module] = /import (?:type )?\* as (\w+) from "([^"]+)"/.exec(declaration) ?? []
  return local === undefined || module === undefined ? [] : [{ local, module }]
}

const namesOf = (declaration: string): ReadonlyArray<Name> => {
  const [, type, names = "", from = ""] = /^import (type )?\{([\s\S]*)\} from "([^"]+)"/.exec(declaration) ?? []
  return names.split(",").map((name) => name.trim()).filter((name) => name !== "").map((name) => {
    const [, ownType, imported = "", local = imported] = /^(type )?(\w+)(?: as (\w+))?$/.exec(name) ?? []
    return { local, imported, from, isType: type !== undefined || ownType !== undefined }
  })
}

/** The names that code uses as values, and those that it uses as types. */
const usedIn = (code: ReadonlyArray<SgNode>) => {
  const values = new Set<string>()
  const types = new Set<string>()
  const identifiers = { rule: { any: [{ kind: "identifier" }, { kind: "type_identifier" }] } }
  for (const node of code.flatMap((child) => child.findAll(identifiers))) {
    // the second name of `Config.ConfigError` is no name of the file
    if (node.kind() === "type_identifier" && node.parent()?.kind() === "nested_type_identifier") continue
    const isType = node.kind() === "type_identifier" || node.parent()?.kind() === "nested_type_identifier" ||
      node.inside({ rule: { kind: "type_query" } })
    if (isType) types.add(node.text())
    else values.add(node.text())
  }
  return { values, types }
}

/** Where a module of Effect 3 is in Effect 4. */
const moved = (module: string): string =>
  imports[module.split("/").at(-1) ?? ""] ??
    module
      .replace("@effect/platform/HttpApi", "effect/http-api/HttpApi")
      .replace("@effect/platform/OpenApi", "effect/http-api/OpenApi")
      .replace(/^@effect\/platform\/(FileSystem|Path)$/, "effect/$1")
      .replace("@effect/platform/Error", "effect/PlatformError")
      .replace("@effect/platform/", "effect/http/")

const as = (imported: string, local: string): string => imported === local ? local : `${imported} as ${local}`

const declarationOf = (from: string, names: ReadonlyArray<string>): string =>
  names.every((name) => name.startsWith("type "))
    ? `import type { ${names.map((name) => name.slice("type ".length)).join(", ")} } from "${from}"`
    : `import { ${names.join(", ")} } from "${from}"`

/** The imports of a file for Effect 4: from barrels if the file had them, and else module by module. */
const importsOf = (
  modules: ReadonlyArray<Module>,
  names: ReadonlyArray<Name>,
  { types, values }: ReturnType<typeof usedIn>,
  fromBarrels: boolean
): ReadonlyArray<string> => {
  const lines = new Set<string>()
  const byBarrel = new Map<string, Set<string>>()
  const add = (barrel: string, name: string) => byBarrel.set(barrel, (byBarrel.get(barrel) ?? new Set()).add(name))
  for (const { local, module } of modules) {
    if (!(values.has(local) || types.has(local))) continue
    const [, barrel, exported = ""] = /^(.+)\/(\w+)$/.exec(module) ?? []
    if (fromBarrels && barrel !== undefined && barrel !== "@effect/platform-node") {
      add(barrel, `${values.has(local) ? "" : "type "}${as(exported, local)}`)
    } else lines.add(`${values.has(local) ? "import" : "import type"} * as ${local} from "${module}"`)
  }
  for (const { from, imported, isType, local } of names) {
    if (values.has(local) || types.has(local)) add(moved(from), `${isType ? "type " : ""}${as(imported, local)}`)
  }
  for (const [barrel, all] of byBarrel) lines.add(declarationOf(barrel, [...all].toSorted()))
  return [...lines].toSorted()
}

/** Imports what a translated file uses. */
export const reimport = (original: string, source: string): string => {
  const root = parse(Lang.TypeScript, source).root()
  const all = root.findAll({ rule: { kind: "import_statement" } })
  const declarations = all.filter((node) => /from "(effect|@effect\/[\w-]+)(\/\w+)?"/.test(node.text()))
  const [first] = declarations
  if (first === undefined) return source
  const isOurs = (node: SgNode) => !declarations.some((other) => other.id() === node.id())
  const used = usedIn(root.children().filter(isOurs))
  const names = declarations.flatMap((node) => namesOf(node.text()))
  const inBarrels = names.filter(({ from, imported }) => isBarrel(from) && /^[A-Z]/.test(imported))

  const modules = new Map(
    [
      ...declarations.flatMap((node) => modulesOf(node.text())),
      ...inBarrels.map(({ from, imported, local }) => ({ local, module: `${from}/${imported}` }))
    ].map(({ local, module }) => [local, moved(module)])
  )
  // what a rule has written may use a module that the file did not import before
  const before = usedIn(parse(Lang.TypeScript, original).root().children())
  for (const name of [...used.values, ...used.types]) {
    if (!/^[A-Z]/.test(name) || name in globalThis || before.values.has(name) || before.types.has(name)) continue
    if (new RegExp(`\\b${name}\\.`).test(source)) modules.set(name, imports[name] ?? `effect/${name}`)
  }

  const lines = importsOf(
    [...modules].map(([local, module]) => ({ local, module })),
    names.filter((name) => !inBarrels.includes(name)),
    used,
    names.some(({ from }) => isBarrel(from))
  )
  let result = ""
  let at = 0
  for (const node of declarations) {
    result += source.slice(at, node.range().start.index)
    if (node.id() === first.id()) result += lines.join("\n")
    at = node.range().end.index
    if (node.id() !== first.id() && source[at] === "\n") at++
  }
  return result + source.slice(at)
}
