import { type Name, specificationOf } from "../commands.ts"
import { help, isRepeated, type Option } from "../specification.ts"

/** An option as the completions of all shells need it. */
export interface Completed {
  readonly name: string
  /** `--name`, and `-n` if there is one. */
  readonly spellings: ReadonlyArray<string>
  readonly summary: string
  readonly short: string | undefined
  readonly hasValue: boolean
  /** The values to choose from. */
  readonly values: ReadonlyArray<string>
  readonly isFile: boolean
  readonly isRepeated: boolean
}

const completed = ([name, option]: readonly [name: string, option: Option]): Completed => ({
  name,
  spellings: [`--${name}`, ...(option.short === undefined ? [] : [`-${option.short}`])],
  summary: option.summary,
  short: option.short,
  hasValue: option.kind !== "flag",
  values: option.kind === "choice" ? option.values : [],
  isFile: option.kind === "text" && option.isFile === true,
  isRepeated: isRepeated(option)
})

/** The options of a command. */
export const optionsOf = (name: Name): ReadonlyArray<Completed> =>
  Object.entries({ ...specificationOf(name).options, help }).map(completed)

/** Text in single quotes. */
export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
