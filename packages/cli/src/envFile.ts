import { readFileSync, statSync } from "node:fs"
import { parseEnv } from "node:util"
import { codeOf } from "./errorCode.ts"

const readableByOthers = 0o044

/** The variables that came from a file, and its path. */
const read: { file?: string; readonly names: Set<string> } = { names: new Set() }

/** Where the value of a variable comes from: the path of the file of `--env-file`, or the environment. */
export const sourceOf = (variable: string): string | undefined =>
  read.names.has(variable) ? read.file : process.env[variable] === undefined ? undefined : "the environment"

/** Sets the variables of a file, unless the environment has them. Returns what is wrong with the file. */
export const readEnvFile = ({ options }: { readonly options: { readonly "env-file"?: string | undefined } }):
  | string
  | undefined =>
{
  const file = options["env-file"]
  if (file === undefined) return undefined
  try {
    // a byte order mark would become a part of the first name
    const values = parseEnv(readFileSync(file, "utf8").replace(/^\uFEFF/, ""))
    if ((statSync(file).mode & readableByOthers) !== 0) {
      process.stderr.write(`warning: other users of this machine can read ${file}. Run chmod 600 on it.\n`)
    }
    read.file = file
    for (const [name, value] of Object.entries(values)) {
      if (process.env[name] !== undefined || value === undefined) continue
      process.env[name] = value
      read.names.add(name)
    }
    return undefined
  } catch (error) {
    return `The file of --env-file cannot be read: ${file} (${codeOf(error)}).`
  }
}
