import { spawnSync } from "node:child_process"
import { closeSync, fstatSync, openSync, readFileSync } from "node:fs"
import { parseEnv } from "node:util"
import { codeOf } from "./text.ts"

// Reads the variables that do not come from the environment, before anything else runs.

const readableByOthers = 0o044
const writableByOthers = 0o022
const root = 0

/** Node reads these variables before this program runs. */
const ofNode = ["NODE_OPTIONS", "NODE_EXTRA_CA_CERTS"]

/** Where each variable comes from that does not come from the environment. */
const sources = new Map<string, string>()

/** Where the value of a variable comes from, or `undefined` if it is not set. */
export const sourceOf = (variable: string): string | undefined =>
  sources.get(variable) ?? (process.env[variable] === undefined ? undefined : "the environment")

const warn = (text: string): void => {
  process.stderr.write(`warning: ${text}\n`)
}

/** The text of a file, or `undefined` if it belongs to another user. Examines the file that it reads, and no other by its path. */
const textOf = (file: string): string | undefined => {
  const descriptor = openSync(file, "r")
  try {
    const stats = fstatSync(descriptor)
    if (stats.uid !== root && stats.uid !== (process.getuid?.() ?? root)) return undefined
    const isWritable = (stats.mode & writableByOthers) !== 0
    // a pipe is no file that others could open
    if (stats.isFile() && (stats.mode & (writableByOthers | readableByOthers)) !== 0) {
      warn(`other users of this machine can ${isWritable ? "change" : "read"} ${file}. Run chmod 600 on it.`)
    }
    return readFileSync(descriptor, "utf8")
  } finally {
    closeSync(descriptor)
  }
}

/** Sets the variables of a file, unless the environment has them. Returns what is wrong with the file. */
const readFile = (file: string): string | undefined => {
  try {
    const text = textOf(file)
    if (text === undefined) {
      return `The --variables file belongs to another user: ${file}. Copy it to a file that belongs to you.`
    }
    // a byte order mark would become a part of the first name
    for (const [name, value] of Object.entries(parseEnv(text.replace(/^\uFEFF/, "")))) {
      if (process.env[name] !== undefined || value === undefined) continue
      process.env[name] = value
      sources.set(name, file)
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

const timeLimit = 5_000

/** Runs a command that prints the client secret. What it prints is never shown, on standard error neither. */
const runSecretCommand = (command: string): string | undefined => {
  const { error, signal, status, stdout } = spawnSync(command, {
    shell: true,
    encoding: "utf8",
    stdio: ["inherit", "pipe", "ignore"],
    timeout: timeLimit
  })
  const reason = codeOf(error) === "ETIMEDOUT"
    ? `did not finish within ${timeLimit / 1_000} seconds`
    : error !== undefined
    ? `could not be run (${codeOf(error)})`
    : signal !== null
    ? `was ended by ${signal}`
    : status === 0
    ? undefined
    : `exited with ${status}`
  if (reason !== undefined) return `The command of --secret-command ${reason}. Run it on its own to see its output.`
  process.env["CREDIT_DATA_CLIENT_SECRET"] = stdout
  sources.set("CREDIT_DATA_CLIENT_SECRET", "--secret-command")
  return undefined
}

/** Reads the variables that these options name. Returns what is wrong. */
export const readVariables = (
  options: { readonly variables?: string | undefined; readonly "secret-command"?: string | undefined }
): string | undefined => {
  const { "secret-command": command, variables: file } = options
  return (file === undefined ? undefined : readFile(file)) ??
    (command === undefined ? undefined : runSecretCommand(command))
}
