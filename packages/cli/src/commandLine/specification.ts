// What a command accepts, as data. Parsing, help and the completions of three shells are derived from it.

interface Common {
  /** One line. */
  readonly summary: string
  /** One letter. */
  readonly short?: string
}

/** An option without a value. */
export interface Flag extends Common {
  readonly kind: "flag"
}

/** An option with one of several values. */
export interface Choice extends Common {
  readonly kind: "choice"
  readonly values: ReadonlyArray<string>
}

/** An option with any value. */
export interface Text extends Common {
  readonly kind: "text"
  /** What the help shows instead of the value. */
  readonly placeholder: string
  readonly isFile?: true
  readonly isRepeated?: true
}

/** An option with a number of zero or more. */
interface Integer extends Common {
  readonly kind: "integer"
  readonly placeholder: string
}

export type Option = Flag | Choice | Text | Integer

/** What follows the options. */
interface Operands {
  /** What the help shows instead of them. */
  readonly placeholder: string
  readonly minimum: number
  readonly maximum: number
  readonly values?: ReadonlyArray<string>
  /** The first one is a program, which all that follows belongs to. */
  readonly isProgram?: true
}

export interface Specification {
  /** One line. */
  readonly summary: string
  readonly options: Readonly<Record<string, Option>>
  readonly operands?: Operands
  /** What follows `credit-data` and the name of the command. */
  readonly examples: ReadonlyArray<string>
}

type ValueOf<O extends Option> = O extends Flag ? boolean
  : O extends Choice ? O["values"][number] | undefined
  : O extends Integer ? number | undefined
  : O extends { readonly isRepeated: true } ? ReadonlyArray<string>
  : string | undefined

/** What was given to a command. */
export interface Invocation<S extends Specification> {
  readonly options: { readonly [Name in keyof S["options"]]: ValueOf<S["options"][Name]> }
  readonly operands: ReadonlyArray<string>
}

/** What the help shows instead of the value, if the option has one. */
export const placeholderOf = (option: Option): string | undefined => {
  switch (option.kind) {
    case "flag":
      return undefined
    case "choice":
      return option.values.join("|")
    default:
      return option.placeholder
  }
}

/** May the option be given several times? */
export const isRepeated = (option: Option): boolean => option.kind === "text" && option.isRepeated === true

/** The option of every command. */
export const help: Flag = { kind: "flag", short: "h", summary: "show this help" }
