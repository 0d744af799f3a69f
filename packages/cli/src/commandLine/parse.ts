import { parseArgs } from "node:util"
import { didYouMean } from "../similarNames.ts"
import { version } from "../version.ts"
import { type Invocation, isName, isShell, type Name, names, specificationOf } from "./commands.ts"
import { bash } from "./completions/bash.ts"
import { fish } from "./completions/fish.ts"
import { zsh } from "./completions/zsh.ts"
import { help, helpOf } from "./help.ts"
import { type Option, placeholderOf, type Specification } from "./specification.ts"

// What the arguments request.

/** A command that runs, and what was given to it. */
export type Run = { readonly [N in Runs]: { readonly name: N } & Invocation<N> }[Runs]

/** The others print text only. */
type Runs = Exclude<Name, "completions">

/** What the arguments request. A message repeats no value, because it may be a secret. */
export type Request =
  | { readonly _tag: "Text"; readonly text: string }
  | { readonly _tag: "Wrong"; readonly message: string }
  | { readonly _tag: "Run"; readonly run: Run }

const completions = { bash, zsh, fish }

type Value = boolean | number | string | Array<string>

type Token = NonNullable<ReturnType<typeof tokensOf>>[number]

type OptionToken = Extract<Token, { kind: "option" }>

/** What is wrong with the arguments. */
class Wrong extends Error {}

/** Options that other tools have for credentials. */
const credentials = /^(client[-_]?secret|secret|password|client[-_]?id)$/i

const refuseCredentials = (name: string): void => {
  if (!credentials.test(name)) return
  throw new Wrong(
    "Do not pass credentials as arguments, because all users of this machine can see them. Set CREDIT_DATA_CLIENT_ID and " +
      "CREDIT_DATA_CLIENT_SECRET, or use --profile NAME, --variables FILE or --secret-command CMD."
  )
}

/** Options that people know from other tools, with the option of this one. */
const known: ReadonlyArray<readonly [names: RegExp, option: string, hint: string]> = [
  [/^env-file$/, "variables", "--variables FILE"],
  [/^(p|configuration|context|project-name)$/, "profile", "--profile NAME"],
  [/^(o|output|format|j)$/, "json", "--json"],
  [/^json$/, "data", "--data BODY, which is JSON by default. The response is printed as it is"],
  [/^(m|max-time|connect-timeout)$/, "timeout", "--timeout TIME"],
  [/^(debug|trace)$/, "verbose", "--verbose"]
]

const unknownOption = (name: string, rawName: string, options: Specification["options"]): Wrong => {
  refuseCredentials(name)
  const hint = known.find(([names, option]) => names.test(name) && Object.hasOwn(options, option))?.[2]
  return new Wrong(
    `Unknown option: ${rawName}.${hint === undefined ? didYouMean(name, Object.keys(options), "--") : ` Use ${hint}.`}`
  )
}

const tokensOf = (args: ReadonlyArray<string>, { options }: Specification) =>
  parseArgs({
    args: [...args],
    options: {
      help: { type: "boolean", short: "h" },
      ...Object.fromEntries(
        Object.entries(options).map(([name, option]) => [
          name,
          {
            type: placeholderOf(option) === undefined ? "boolean" as const : "string" as const,
            ...(option.short === undefined ? {} : { short: option.short })
          }
        ])
      )
    },
    // the messages of Node repeat values
    strict: false,
    allowPositionals: true,
    tokens: true
  }).tokens

const millisPerUnit = new Map([["ms", 1], ["s", 1_000], ["m", 60_000], ["h", 3_600_000]])

const millisOf = (text: string): number | undefined => {
  const [, digits = "", unit = ""] = /^(\d{1,9})(ms|s|m|h)$/.exec(text) ?? []
  return digits === "" ? undefined : Number(digits) * (millisPerUnit.get(unit) ?? 1)
}

const valueOf = (option: Option, { inlineValue, name, rawName, value }: OptionToken): Value => {
  if (placeholderOf(option) === undefined) {
    if (value !== undefined) throw new Wrong(`${rawName} takes no value.`)
    return true
  }
  if (value === undefined) throw new Wrong(`${rawName} needs a value.`)
  if (!inlineValue && /^-./.test(value)) {
    throw new Wrong(
      `${rawName} needs a value. A value that begins with a hyphen follows an equals sign: --${name}=VALUE.`
    )
  }
  const { isTime, values } = option
  const accepted = isTime ? millisOf(value) : value
  if (accepted !== undefined && values?.includes(value) !== false) return accepted
  const expected = values?.join(", ") ?? "a time such as 500ms, 30s or 2m"
  const hint = value === "json" && name === "output" ? " For JSON, use --json." : ""
  throw new Wrong(`${rawName} does not accept this value. Expected ${expected}.${hint}`)
}

/** The options among these tokens. */
const optionsOf = (
  { options }: Specification,
  tokens: ReadonlyArray<Token>
): Readonly<Record<string, Value | undefined>> => {
  const given: Record<string, Value | undefined> = Object.fromEntries(
    Object.entries(options).map(([name, option]) => [
      name,
      option.isRepeated === true ? [] : placeholderOf(option) === undefined ? false : undefined
    ])
  )
  const seen = new Set<string>()
  for (const token of tokens) {
    if (token.kind !== "option") continue
    const { name, rawName } = token
    const option = Object.hasOwn(options, name) ? options[name] : undefined
    if (option === undefined) throw unknownOption(name, rawName, options)
    const value = valueOf(option, token)
    const before = given[name]
    if (Array.isArray(before)) before.push(String(value))
    else if (seen.has(name)) throw new Wrong(`${rawName} is given twice.`)
    else given[name] = value
    seen.add(name)
  }
  for (const other of ["output", "names"]) {
    if (seen.has("json") && seen.has(other)) throw new Wrong(`--json and --${other} cannot be combined.`)
  }
  return given
}

const checkOperands = ({ operands: expected }: Specification, operands: ReadonlyArray<string>): void => {
  if (operands.length > (expected?.maximum ?? 0)) {
    throw new Wrong(`Too many arguments. Expected ${expected === undefined ? "options" : expected.placeholder} only.`)
  }
  const [first] = operands
  if (expected !== undefined && (first === undefined || expected.values?.includes(first) === false)) {
    throw new Wrong(`Expected ${expected.placeholder.replaceAll("|", ", ")}.`)
  }
}

/** The arguments of a command that runs a program, and from the first operand on, the program's arguments. */
const divided = (args: ReadonlyArray<string>, specification: Specification) => {
  const program = specification.operands?.isProgram === true
    ? tokensOf(args, specification).find(({ kind }) => kind !== "option")
    : undefined
  if (program === undefined) return { own: args, rest: [] }
  return {
    own: args.slice(0, program.index),
    rest: args.slice(program.kind === "positional" ? program.index : program.index + 1)
  }
}

const commandOf = (text: string): Name => {
  if (isName(text)) return text
  const commands = `The commands are ${names.slice(0, -1).join(", ")} and ${names.at(-1)}.`
  if (!text.startsWith("-")) throw new Wrong(`There is no such command.${didYouMean(text, names)} ${commands}`)
  refuseCredentials(text.replace(/^-+/, "").replace(/=.*$/s, ""))
  throw new Wrong(`Expected a command first, then its options. ${commands}`)
}

/** What was built from the specification of a command has the type that is derived from it. */
const isRun = (run: { readonly name: Name }): run is Run => run.name !== "completions"

const requestOf = (args: ReadonlyArray<string>): Request => {
  const [first = "help", ...others] = args
  if (/^(-h|--help|help)$/.test(first)) {
    const [about] = others
    return { _tag: "Text", text: about === undefined ? help : helpOf(commandOf(about)) }
  }
  if (/^(-v|-V|--version|version)$/.test(first)) return { _tag: "Text", text: `${version}\n` }
  const name = commandOf(first)
  const specification = specificationOf(name)
  try {
    const { own, rest } = divided(others, specification)
    const tokens = tokensOf(own, specification)
    // as a whole argument: the text after an unknown letter has an h too
    if (own.includes("--help") || own.includes("-h")) return { _tag: "Text", text: helpOf(name) }
    const options = optionsOf(specification, tokens)
    const operands = [...tokens.flatMap((token) => token.kind === "positional" ? [token.value] : []), ...rest]
    checkOperands(specification, operands)
    const [shell] = operands
    if (name === "completions" && isShell(shell)) return { _tag: "Text", text: completions[shell]() }
    const run = { name, options, operands }
    if (isRun(run)) return { _tag: "Run", run }
    throw new Wrong(`Expected ${specification.operands?.placeholder}.`)
  } catch (error) {
    if (error instanceof Wrong) throw new Wrong(`${error.message} See credit-data ${name} --help.`)
    throw error
  }
}

/** Finds out what the arguments request. Needs nothing of Effect, so that help and completions come at once. */
export const parse = (args: ReadonlyArray<string>): Request => {
  try {
    return requestOf(args)
  } catch (error) {
    if (error instanceof Wrong) return { _tag: "Wrong", message: error.message }
    throw error
  }
}
