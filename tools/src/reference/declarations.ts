import { Lang, parse, type SgNode } from "@ast-grep/napi"
import { readdirSync, readFileSync } from "node:fs"
import { root } from "./files.ts"

// Reads what the sources declare: names, types and docstrings. It reads no body of a function.

/** A member of an interface, a class, the fields of a Schema, or the options of a function. */
export interface Member {
  readonly name: string
  readonly doc: string
  readonly type: string
  readonly isOptional: boolean
  /** The names of the parameters, if it is a function. */
  readonly parameters: ReadonlyArray<string> | undefined
}

interface Declaration {
  readonly doc: string
  readonly isExported: boolean
  /** What stands after the tag `@limit` of the docstring, or nothing. */
  readonly limit: string | undefined
  readonly nodes: ReadonlyArray<SgNode>
}

/** The text of a docstring in one line, up to its first tag. Items of a list begin with `\n- `. */
const textOf = (comment: SgNode | null): string =>
  comment?.kind() !== "comment" || !comment.text().startsWith("/**") ? "" : comment.text()
    .replaceAll(/^\/\*\*|\*\/$/g, "")
    .replaceAll(/^ *\* ?/gm, "")
    .split(/^ *@/m)[0]
    ?.replaceAll(/\n(?!- )/g, " ")
    .replaceAll(/ {2,}/g, " ")
    .trim() ?? ""

const nameOf = (node: SgNode): string => {
  const declared = node.kind() === "lexical_declaration" ? node.child(1) : node
  return declared?.field("name")?.text() ?? declared?.field("key")?.text() ?? ""
}

/** The declarations of a module. A type and a value can have the same name. */
const declarationsIn = (text: string): ReadonlyMap<string, Declaration> => {
  const declarations = new Map<string, Declaration>()
  for (const statement of parse(Lang.TypeScript, text).root().children()) {
    const isExported = statement.kind() === "export_statement"
    const node = isExported ? statement.field("declaration") : statement
    if (node === null) continue
    const name = nameOf(node)
    const { doc = "", nodes = [] } = declarations.get(name) ?? {}
    const comment = statement.prev()
    const [, limit] = /@limit (\w+)/.exec(comment?.kind() === "comment" ? comment.text() : "") ?? []
    declarations.set(name, { doc: textOf(comment) || doc, isExported, limit, nodes: [...nodes, node] })
  }
  return declarations
}

const modules = new Map<string, ReadonlyMap<string, Declaration>>()

const declarationsOf = (module: string): ReadonlyMap<string, Declaration> => {
  const known = modules.get(module)
  if (known !== undefined) return known
  const declarations = declarationsIn(readFileSync(root(`packages/${module.replace("/", "/src/")}.ts`), "utf8"))
  modules.set(module, declarations)
  return declarations
}

/** A declaration of a public module, such as `core/TokenError.ServerError`. */
const declarationOf = (path: string): Declaration => {
  const [module = "", name = ""] = path.split(".")
  const declaration = declarationsOf(module).get(name)
  if (declaration === undefined) {
    throw new Error(
      `A table needs ${path}, but ${module} does not declare ${name}. Correct the name in tools/src/reference.`
    )
  }
  return declaration
}

/** What a declaration's docstring says. */
export const docOf = (path: string): string => {
  const { doc } = declarationOf(path)
  if (doc === "") throw new Error(`A table needs the docstring of ${path}. Write one.`)
  return doc
}

const memberKinds = ["property_signature", "pair", "method_definition", "public_field_definition"]

const isWithin = (node: SgNode, kinds: ReadonlyArray<string>): boolean =>
  node.ancestors().some((ancestor) => kinds.includes(String(ancestor.kind())))

/** The members of a declaration, without those of types and objects inside of a member. */
export const membersOf = (path: string): ReadonlyArray<Member> =>
  declarationOf(path).nodes.flatMap((declaration) =>
    declaration.findAll({ rule: { any: memberKinds.map((kind) => ({ kind })) } })
      .filter((node) => !isWithin(node, [...memberKinds, "statement_block"]))
      .map((node) => ({
        name: nameOf(node),
        doc: textOf(node.prev()),
        type: ["type", "return_type", "value"].map((field) =>
          node.field(field)?.text()
        ).find((text) => text !== undefined)
          ?.replace(/^: /, "").replaceAll(/\s+/g, " ") ?? "",
        isOptional: node.text().split(":")[0]?.endsWith("?") ?? false,
        parameters: node.field("type")?.children().find((type) => type.kind() === "function_type")?.field("parameters")
          ?.children().filter((parameter) => parameter.isNamed()).map((parameter) =>
            `${parameter.field("pattern")?.text()}${parameter.kind() === "optional_parameter" ? "?" : ""}`
          )
      }))
  )

/** The members of what a module declares and does not export. */
export const privateMembers = (module: string): ReadonlyArray<Member> =>
  [...declarationsOf(module)].flatMap(([name, { isExported }]) => isExported ? [] : membersOf(`${module}.${name}`))

/** The modules that a package does not publish, such as `core/internal/supply`. */
const internalModules = (folder: string) =>
  readdirSync(root(`packages/${folder}/src/internal`)).filter((file) => file.endsWith(".ts")).toSorted()
    .map((file) => `${folder}/internal/${file.slice(0, -3)}`)

/** What the docstrings of a package's internal exports with this name say, in whichever files they are. */
export const docsOfInternal = (folder: string, name: string): ReadonlyArray<string> =>
  internalModules(folder).flatMap((module) => {
    const { doc = "", isExported = false } = declarationsOf(module).get(name) ?? {}
    return isExported ? [doc] : []
  })

/** The constants of a package whose docstring has the tag `@limit`, with its unit. */
export const limitsOf = (folder: string) =>
  internalModules(folder).map((module) => ({
    file: root(`packages/${module.replace("/", "/src/")}.ts`),
    limits: [...declarationsOf(module)].flatMap(([name, { doc, limit }]) =>
      limit === undefined ? [] : [{ name, doc, unit: limit }]
    )
  })).filter(({ limits }) => limits.length > 0)

/** The values of a type of several, with the docstring's item about each: `- \`Value\`: text`. */
export const valuesOf = (path: string): ReadonlyArray<readonly [value: string, text: string]> => {
  const { doc, nodes } = declarationOf(path)
  const items = [...doc.matchAll(/^- `(\w+)`: (.*)$/gm)].map(([, value = "", text = ""]) => [value, text] as const)
  const members = membersOf(path).filter(({ name }) => name !== "_tag").map(({ name }) => name)
  const literals = nodes.flatMap((node) => node.findAll({ rule: { kind: "string_fragment" } })).map((node) =>
    node.text()
  )
  const values = nodes.some((node) => node.text().includes("TaggedEnum")) ? members : literals
  const described = items.map(([value]) => value)
  // the table has the order of the docstring
  if (described.toSorted().join() !== values.toSorted().join()) {
    throw new Error(
      `The docstring of ${path} describes ${described.join(", ")}, but its values are ${
        values.join(", ")
      }. Describe each.`
    )
  }
  return items
}

const publicModules = readdirSync(root("packages")).flatMap((folder) =>
  readdirSync(root(`packages/${folder}/src`))
    .filter((file) => /^[A-Z]\w*\.ts$/.test(file) && file !== "Internal.ts")
    .map((file) => `${folder}/${file.slice(0, -3)}`)
)

/** The public modules that declare this. */
export const modulesWith = (name: string): ReadonlyArray<string> =>
  publicModules.filter((module) => declarationsOf(module).has(name))

/** The public declarations that have options: types with such a name, and layers and constructors with options in their signature. */
export const declarationsWithOptions = (): ReadonlyArray<string> =>
  publicModules.flatMap((module) =>
    [...declarationsOf(module)].flatMap(([name, { isExported }]) => {
      const mayHave = isExported && /(Settings|Options|Definition)$|^(layer|make)/.test(name)
      return mayHave && membersOf(`${module}.${name}`).some(({ doc }) => doc !== "") ? [`${module}.${name}`] : []
    })
  )
