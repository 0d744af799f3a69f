import { isatty } from "node:tty"
import { parseEnv } from "node:util"
import { didYouMean, plain } from "./similarNames.ts"
import { codeOf } from "./text.ts"
import { profilesFile } from "./userFolders.ts"
import { clientVariables, readOwn, readSecret, secretVariable, setVariable, used } from "./variables.ts"

// Profiles: named sets of variables in one file. Loaded only if a profile is named, or if the profiles are listed.

const commandKey = "secret-command"

const keys = [...clientVariables, commandKey]

const example = "secret-command=op read op://Work/credit-data/secret"

const list = (words: ReadonlyArray<string>): string =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`

const page = "https://github.com/credit-data/credit-data/blob/main/docs/command-line.md#profiles"

/** The messages. None repeats what was given, or a value of the file. The names of profiles are checked before a message shows them. */
export const messages = {
  noHome: () => "This user has no home folder for the profiles. Set XDG_CONFIG_HOME to the path of a folder.",
  none: (file: string) => `There are no profiles in ${file}. How to write this file: ${page}`,
  unreadable: (file: string, code: string) => `Cannot read the profiles: ${file} (${code}).`,
  ofAnotherUser: (file: string) =>
    `The file of the profiles belongs to another user, who could run commands as you: ${file}. Replace it with your own.`,
  changeable: (file: string) =>
    `Other users of this machine can change ${file}, and thereby run commands as you. Run chmod 600 on it.`,
  unknown: (given: string, file: string, name: string, names: ReadonlyArray<string>) =>
    `${given} names no profile in ${file}.${didYouMean(name, names)} Its profiles: ${list(names)}.`,
  besideOption: (given: string, option: string) =>
    `${given} and ${option} cannot be combined, because a profile has its own variables and its own secret-command.`,
  besideVariables: (names: ReadonlyArray<string>) =>
    `CREDIT_DATA_PROFILE cannot be combined with ${list(names)}, because a profile has its own variables. Unset ` +
    "CREDIT_DATA_PROFILE, or use --profile NAME, which ignores the variables of the environment.",
  incomplete: (name: string, file: string) => `The variables come only from profile ${name} in ${file}.`,
  syntax: () => "Expected [NAME], VARIABLE=VALUE, or a comment that begins with #.",
  profileName: () =>
    "The name of a profile consists of letters, digits, dots, hyphens and underscores, and begins with a letter or a digit.",
  sameProfile: (line: number) => `The profile in line ${line} has the same name. Rename one of them.`,
  noProfile: () => "Expected the [NAME] of a profile before its variables.",
  secret: () =>
    `A secret must not be in this file. Remove this line, and name a command that prints the client secret, such as ${example}`,
  unknownKey: (name: string) =>
    `A profile has no such variable.${didYouMean(name, keys) || ` Expected ${list(keys)}.`}`,
  sameKey: (name: string, line: number) => `${name} is in line ${line} too. Remove one of the lines.`,
  openQuotes: () => "A quotation mark is not closed.",
  noCommand: (name: string) =>
    `The profile ${name} has no secret-command. Add a command that prints the client secret, such as ${example}`
}

/** What is wrong with the profiles, or with the choice of one. */
class Wrong extends Error {}

/** Returns what `use` returns, or what is wrong. */
const checked = <A>(use: () => A): A | string => {
  try {
    return use()
  } catch (error) {
    if (error instanceof Wrong) return error.message
    throw error
  }
}

export interface Profile {
  readonly name: string
  readonly variables: ReadonlyMap<string, string>
  readonly secretCommand: string
}

/** What the lines of a profile have so far. */
interface Draft {
  readonly name: string
  readonly line: number
  readonly values: Map<string, { readonly value: string; readonly line: number }>
}

const checkKey = (key: string): void => {
  if (keys.includes(key)) return
  const meant = keys.find((name) => plain(name) === plain(key))
  throw new Wrong(
    meant === undefined && /secret|password|token/i.test(key) ? messages.secret() : messages.unknownKey(meant ?? key)
  )
}

/** The value on a line. The command belongs to the shell, which has its own rules for quotation marks and comments. */
const valueOf = (key: string, line: string, rest: string): string => {
  if (key === commandKey) return rest.trim()
  const value = parseEnv(line)[key]
  if (value === undefined || /^["'`]/.test(value)) throw new Wrong(messages.openQuotes())
  return value
}

/** Adds what is in a line. Throws what is wrong with it. */
const readLine = (drafts: Array<Draft>, text: string, line: number): void => {
  if (/^\s*(#|$)/.test(text)) return
  if (/[^\P{Cc}\t]/u.test(text)) throw new Wrong(messages.syntax())
  const [, name] = /^\s*\[([^\]]*)\]\s*(?:#.*)?$/.exec(text) ?? []
  if (name !== undefined) {
    if (!/^[a-z\d][\w.-]*$/i.test(name)) throw new Wrong(messages.profileName())
    const same = drafts.find((draft) => draft.name === name)
    if (same !== undefined) throw new Wrong(messages.sameProfile(same.line))
    drafts.push({ name, line, values: new Map() })
    return
  }
  const [, key, rest = ""] = /^\s*(?:export\s+)?([\w-]+)\s*=(.*)$/.exec(text) ?? []
  if (key === undefined) throw new Wrong(messages.syntax())
  const values = drafts.at(-1)?.values
  if (values === undefined) throw new Wrong(messages.noProfile())
  checkKey(key)
  const same = values.get(key)
  if (same !== undefined) throw new Wrong(messages.sameKey(key, same.line))
  values.set(key, { value: valueOf(key, text, rest), line })
}

const profileOf = ({ name, values }: Draft): Profile => {
  const secretCommand = values.get(commandKey)?.value ?? ""
  if (secretCommand === "") throw new Wrong(messages.noCommand(name))
  const variables = clientVariables.flatMap((key) => {
    const value = values.get(key)?.value
    return value === undefined ? [] : [[key, value] as const]
  })
  return { name, variables: new Map(variables), secretCommand }
}

/** The profiles in a text. Throws what is wrong with it. */
const profilesIn = (text: string, file: string): ReadonlyArray<Profile> => {
  const at = <A>(line: number, evaluate: () => A): A => {
    try {
      return evaluate()
    } catch (error) {
      throw error instanceof Wrong ? new Wrong(`${file}:${line}: ${error.message}`) : error
    }
  }
  const drafts: Array<Draft> = []
  // a byte order mark would become a part of the first line
  for (const [index, line] of text.replace(/^\uFEFF/, "").split(/\r?\n/).entries()) {
    at(index + 1, () => readLine(drafts, line, index + 1))
  }
  return drafts.map((draft) => at(draft.line, () => profileOf(draft)))
}

/** The profiles in a text, or what is wrong with it, after the file and the line. */
export const parseProfiles = (text: string, file: string): ReadonlyArray<Profile> | string =>
  checked(() => profilesIn(text, file))

/** The file of the profiles, which need not exist, and what is in it. */
export interface Read {
  readonly file: string
  readonly profiles: ReadonlyArray<Profile>
}

const location = (): string => {
  try {
    return profilesFile()
  } catch {
    throw new Wrong(messages.noHome())
  }
}

const read = (): Read => {
  const file = location()
  try {
    const own = readOwn(file)
    if (own === undefined) throw new Wrong(messages.ofAnotherUser(file))
    if (own.others === "change") throw new Wrong(messages.changeable(file))
    return { file, profiles: profilesIn(own.text, file) }
  } catch (error) {
    if (error instanceof Wrong) throw error
    if (codeOf(error) === "ENOENT") return { file, profiles: [] }
    throw new Wrong(messages.unreadable(file, codeOf(error)))
  }
}

/** The file and its profiles, or what is wrong with them. */
export const readProfiles = (): Read | string => checked(read)

interface Options {
  readonly profile: string | undefined
  readonly "secret-command"?: string | undefined
  readonly variables?: string | undefined
}

const variable = "CREDIT_DATA_PROFILE"

const chosen = (options: Options): Profile & { readonly file: string } => {
  const given = options.profile === undefined ? variable : "--profile"
  for (const name of ["variables", "secret-command"] as const) {
    if (options[name] !== undefined) throw new Wrong(messages.besideOption(given, `--${name}`))
  }
  const others = [...clientVariables, secretVariable].filter((name) => (process.env[name] ?? "") !== "")
  // as in aws, an option takes precedence over the environment; but which of two variables is meant, nobody can know
  if (given === variable && others.length > 0) throw new Wrong(messages.besideVariables(others))
  const { file, profiles } = read()
  if (profiles.length === 0) throw new Wrong(messages.none(file))
  const name = options.profile ?? process.env[variable] ?? ""
  const profile = profiles.find((each) => each.name === name)
  if (profile === undefined) throw new Wrong(messages.unknown(given, file, name, profiles.map(({ name }) => name)))
  return { ...profile, file }
}

/**
 * Sets the variables of a profile, and removes those that it lacks: the client id of one client with the secret or the address of another would send a
 * secret to the wrong server. Returns what is wrong.
 */
export const useProfile = async (options: Options): Promise<string | undefined> => {
  const profile = checked(() => chosen(options))
  if (typeof profile === "string") return profile
  const { file, name, secretCommand, variables } = profile
  // a program that `exec` starts gets the variables instead
  for (const other of [...clientVariables, secretVariable, variable]) delete process.env[other]
  for (const [key, value] of variables) setVariable(key, value, `profile ${name} in ${file}`)
  used.profile = { name, hint: messages.incomplete(name, file) }
  return await readSecret(secretCommand, {
    subject: `The secret-command of profile ${name}`,
    source: `the secret-command of profile ${name}`,
    // input in a pipe is the body of a call, or belongs to the program that `exec` starts
    stdin: isatty(0) ? "inherit" : "ignore"
  })
}
