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
    declarations.set(name, { doc: textOf(statement.prev()) || doc, isExported, nodes: [...nodes, node] })
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
  if (declaration === undefined) throw new Error(`${module} has no ${name}`)
  return declaration
}

/** What a declaration's docstring says. */
export const docOf = (path: string): string => {
  const { doc } = declarationOf(path)
  if (doc === "") throw new Error(`${path} has no docstring`)
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

/** The values of a type of several, with the docstring's item about each: `- \`Value\`: text`. */
export const valuesOf = (path: string): ReadonlyArray<readonly [value: string, text: string]> => {
  const { doc, nodes } = declarationOf(path)
  const items = [...doc.matchAll(/^- `(\w+)`: (.*)$/gm)].map(([, value = "", text = ""]) => [value, text] as const)
  const members = membersOf(path).filter(({ name }) => name !== "_tag").map(({ name }) => name)
  const literals = nodes.flatMap((node) => node.findAll({ rule: { kind: "string_fragment" } })).map((node) =>
    node.text()
  )
  const values = nodes.some((node) => node.text().includes("TaggedEnum")) ? members : literals
  const described = items.map(([value]) => value).join(", ")
  if (described !== values.join(", ")) {
    throw new Error(
      `the docstring of ${path} describes ${described}, but its values are ${values.join(", ")}`
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
