import { cpSync, mkdirSync, readdirSync, readFileSync, realpathSync, renameSync, writeFileSync } from "node:fs"
import { basename, dirname, join, resolve } from "node:path"

/** What was written, or why nothing was. */
export type Outcome =
  | { readonly _tag: "Created" }
  | { readonly _tag: "NodeTooOld"; readonly needed: string }
  | { readonly _tag: "NotEmpty" }
  | { readonly _tag: "Failed"; readonly code: string }

const isOlder = (version: string, needed: string): boolean => {
  const [major = 0, minor = 0] = version.split(".").map(Number)
  const [neededMajor = 0, neededMinor = 0] = needed.split(".").map(Number)
  return major < neededMajor || major === neededMajor && minor < neededMinor
}

/** A name that npm accepts. */
const packageName = (folder: string): string =>
  basename(folder).toLowerCase().replaceAll(/[^a-z0-9]+/g, "-").replaceAll(/^-|-$/g, "").slice(0, 200) || "my-service"

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : String(error)

/** Creates a folder and its parents. Below /proc, the recursive creation of Node never ends. */
const makeFolder = (folder: string): void => {
  try {
    mkdirSync(folder)
  } catch (error) {
    const code = codeOf(error)
    if (code === "EEXIST") return
    if (code !== "ENOENT" || dirname(folder) === folder) throw error
    makeFolder(dirname(folder))
    mkdirSync(folder)
  }
}

/** Copies a template into a folder that is new, empty, or a repository of git without files. */
export const create = (template: string, folder: string): Outcome => {
  const target = resolve(folder)
  const manifest: { readonly engines: { readonly node: string } } = JSON.parse(
    readFileSync(join(template, "package.json"), "utf8")
  )
  const needed = manifest.engines.node.replace(">=", "")
  if (isOlder(process.versions.node, needed)) return { _tag: "NodeTooOld", needed }
  try {
    makeFolder(target)
    if (readdirSync(target).some((name) => name !== ".git")) return { _tag: "NotEmpty" }
    // a link cannot be copied over
    cpSync(template, realpathSync(target), { recursive: true })
    // npm leaves out files of this name when it packs
    renameSync(join(target, "gitignore"), join(target, ".gitignore"))
    const named = { ...manifest, name: packageName(target) }
    writeFileSync(join(target, "package.json"), `${JSON.stringify(named, undefined, 2)}\n`)
    return { _tag: "Created" }
  } catch (error) {
    return { _tag: "Failed", code: codeOf(error) }
  }
}
