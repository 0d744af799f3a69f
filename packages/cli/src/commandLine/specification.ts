// What a command accepts, as data. Parsing, help and the completions of three shells are derived from it.

export interface Option {
  /** One line. */
  readonly summary: string
  /** One letter. */
  readonly short?: string
  /** The accepted values. */
  readonly values?: ReadonlyArray<string>
  /** What the help shows instead of another value. An option with neither takes no value. */
  readonly placeholder?: string
  /** The value is a time such as 30s, which the command gets in milliseconds. */
  readonly isTime?: true
  readonly isRepeated?: true
  /** What Tab completes: files, files after an @, programs, or profiles. */
  readonly completes?: "file" | "@file" | "program" | "profile"
}

export interface Specification {
  /** One line. */
  readonly summary: string
  readonly options: Readonly<Record<string, Option>>
  /** What follows the options. */
  readonly operands?: {
    /** What the help shows instead of them. */
    readonly placeholder: string
    readonly maximum: number
    readonly values?: ReadonlyArray<string>
    /** The first one is a program, which all that follows belongs to. */
    readonly isProgram?: true
  }
  /** What follows `credit-data` and the name of the command. */
  readonly examples: ReadonlyArray<string>
}

type ValueOf<O extends Option> = O extends { readonly isRepeated: true } ? ReadonlyArray<string>
  : O extends { readonly isTime: true } ? number | undefined
  : O extends { readonly values: ReadonlyArray<infer Value> } ? Value | undefined
  : O extends { readonly placeholder: string } ? string | undefined
  : boolean

/** What was given to a command. */
export interface Invocation<S extends Specification> {
  readonly options: { readonly [Name in keyof S["options"]]: ValueOf<S["options"][Name]> }
  readonly operands: ReadonlyArray<string>
}

/** What the help shows instead of the value, if the option has one. */
export const placeholderOf = ({ placeholder, values }: Option): string | undefined => values?.join("|") ?? placeholder

/** `--name`, and `-n` if there is one. */
export const spellingsOf = ([name, { short }]: readonly [name: string, option: Option]): ReadonlyArray<string> =>
  short === undefined ? [`--${name}`] : [`--${name}`, `-${short}`]
