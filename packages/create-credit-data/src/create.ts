import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { basename, join, resolve } from "node:path"

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

/** Copies a template into a folder that is new or empty. */
export const create = (template: string, folder: string): Outcome => {
  const target = resolve(folder)
  const manifest: { readonly engines: { readonly node: string } } = JSON.parse(
    readFileSync(join(template, "package.json"), "utf8")
  )
  const needed = manifest.engines.node.replace(">=", "")
  if (isOlder(process.versions.node, needed)) return { _tag: "NodeTooOld", needed }
  try {
    mkdirSync(target, { recursive: true })
    if (readdirSync(target).length > 0) return { _tag: "NotEmpty" }
    cpSync(template, target, { recursive: true })
    // npm leaves out files of this name when it packs
    renameSync(join(target, "gitignore"), join(target, ".gitignore"))
    const named = { ...manifest, name: packageName(target) }
    writeFileSync(join(target, "package.json"), `${JSON.stringify(named, undefined, 2)}\n`)
    return { _tag: "Created" }
  } catch (error) {
    return { _tag: "Failed", code: codeOf(error) }
  }
}
