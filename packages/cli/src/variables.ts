import { closeSync, fstatSync, openSync, readFileSync } from "node:fs"
import { parseEnv } from "node:util"
import { secretOf } from "./secretCommand.ts"
import { codeOf, visible } from "./text.ts"

// Reads the variables that do not come from the environment, before anything else runs.

const readableByOthers = 0o044
const writableByOthers = 0o022
const root = 0

/** Node reads these variables before this program runs. */
const ofNode = ["NODE_OPTIONS", "NODE_EXTRA_CA_CERTS"]

export const secretVariable = "CREDIT_DATA_CLIENT_SECRET"

/** The variables of a client, without its secret. */
export const clientVariables: ReadonlyArray<string> =
  `CREDIT_DATA_AUTH CREDIT_DATA_ENVIRONMENT CREDIT_DATA_AUDIENCE CREDIT_DATA_BASE_URL CREDIT_DATA_AUTH_V1_URL CREDIT_DATA_AUTH_V2_URL
  CREDIT_DATA_SCOPES CREDIT_DATA_CLIENT_ID`.split(/\s+/)

/** Where each variable comes from that does not come from the environment. */
const sources = new Map<string, string>()

/** Where the value of a variable comes from, or `undefined` if it is not set. */
export const sourceOf = (variable: string): string | undefined =>
  sources.get(variable) ?? (process.env[variable] === undefined ? undefined : "the environment")

export const setVariable = (name: string, value: string, source: string): void => {
  process.env[name] = value
  sources.set(name, source)
}

/** The profile whose variables are used, with what to say when one of them is missing. */
export const used: { profile?: { readonly name: string; readonly hint: string } } = {}

/** One process can run several commands, one after the other. */
export const forgetSources = (): void => {
  sources.clear()
  delete used.profile
}

const warn = (text: string): void => {
  process.stderr.write(`warning: ${visible(text)}\n`)
}

/** What other users can do with a file. On Windows, the mode does not show it. */
type Access = "nothing" | "read" | "change"

const accessOf = (mode: number): Access =>
  process.platform === "win32"
    ? "nothing"
    : (mode & writableByOthers) !== 0
    ? "change"
    : (mode & readableByOthers) !== 0
    ? "read"
    : "nothing"

/** The text of a file, or `undefined` if it belongs to another user. Examines the file that it reads, and no other by its path. */
export const readOwn = (file: string): { readonly text: string; readonly others: Access } | undefined => {
  const descriptor = openSync(file, "r")
  try {
    const stats = fstatSync(descriptor)
    if (stats.uid !== root && stats.uid !== (process.getuid?.() ?? root)) return undefined
    // a pipe is no file that others could open
    return { others: stats.isFile() ? accessOf(stats.mode) : "nothing", text: readFileSync(descriptor, "utf8") }
  } finally {
    closeSync(descriptor)
  }
}

/** Sets the variables of a file, unless the environment has them. Returns what is wrong with the file. */
const readFile = (file: string): string | undefined => {
  try {
    const own = readOwn(file)
    if (own === undefined) {
      return `The --variables file belongs to another user: ${file}. Copy it to a file that belongs to you.`
    }
    const { others, text } = own
    if (others !== "nothing") warn(`other users of this machine can ${others} ${file}. Run chmod 600 on it.`)
    // a byte order mark would become a part of the first name
    for (const [name, value] of Object.entries(parseEnv(text.replace(/^\uFEFF/, "")))) {
      if (process.env[name] !== undefined || value === undefined) continue
      setVariable(name, value, file)
      if (!ofNode.includes(name)) continue
      warn(
        `${name} in ${file} has no effect on credit-data, because Node reads it when it starts. Set it in the environment.`
      )
    }
    return undefined
  } catch (error) {
    return `Cannot read the --variables file: ${file} (${codeOf(error)}).`
  }
}

/** Sets the client secret to what a command prints. Returns what is wrong. */
export const readSecret = async (
  command: string,
  origin: Parameters<typeof secretOf>[1] & { readonly source: string }
): Promise<string | undefined> => {
  const outcome = await secretOf(command, origin)
  if ("problem" in outcome) return outcome.problem
  setVariable(secretVariable, outcome.secret, origin.source)
  return undefined
}

/** Reads the variables that these options name. Returns what is wrong. */
export const readVariables = async (
  options: { readonly variables?: string | undefined; readonly "secret-command"?: string | undefined }
): Promise<string | undefined> => {
  const { "secret-command": command, variables: file } = options
  const problem = file === undefined ? undefined : readFile(file)
  if (problem !== undefined || command === undefined) return problem
  return await readSecret(command, {
    subject: "The command of --secret-command",
    source: "--secret-command",
    stdin: "inherit"
  })
}
