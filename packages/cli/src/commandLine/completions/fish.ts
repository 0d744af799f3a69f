import { quoted } from "../../text.ts"
import { type Name, names, optionsOf, specificationOf } from "../commands.ts"
import { type Option, placeholderOf } from "../specification.ts"

const complete = (...parts: ReadonlyArray<string>): string => ["complete -c credit-data", ...parts].join(" ")

const inCommand = (name: string): string => `-n ${quoted(`__fish_seen_subcommand_from ${name}`)}`

const completers = {
  file: "-r -F",
  "@file": "-x -a '(__credit_data_data)'",
  program: "-x -a '(__fish_complete_command)'",
  profile: "-x -a '(command credit-data profiles --names 2> /dev/null)'"
}

const valuesOf = ({ completes, values }: Option): string =>
  values !== undefined ? `-x -a ${quoted(values.join(" "))}` : completes === undefined ? "-x" : completers[completes]

const option = (name: Name) => ([long, option]: readonly [name: string, option: Option]): string =>
  complete(
    inCommand(name),
    `-l ${long}`,
    ...(option.short === undefined ? [] : [`-s ${option.short}`]),
    ...(placeholderOf(option) === undefined ? [] : [valuesOf(option)]),
    `-d ${quoted(option.summary)}`
  )

const operandsOf = (name: Name): ReadonlyArray<string> => {
  const { operands } = specificationOf(name)
  if (operands?.isProgram === true) {
    return [complete(inCommand(name), "-x -a '(__fish_complete_subcommand --fcs-skip=2)'")]
  }
  return operands?.values === undefined ? [] : [complete(inCommand(name), `-a ${quoted(operands.values.join(" "))}`)]
}

const first = "-n __fish_use_subcommand"

/** The completions for fish. */
export const fish = (): string =>
  [
    "# Completions of credit-data for fish: credit-data completions fish | source",
    "function __credit_data_data",
    "    set -l value (string replace -r '^(--data=|-d)' '' -- (commandline -ct))",
    "    string match -q '@*' -- $value; and printf '@%s\\n' (__fish_complete_path (string sub -s 2 -- $value))",
    "end",
    complete("-f"),
    ...names.map((name) => complete(first, `-a ${name} -d ${quoted(specificationOf(name).summary)}`)),
    complete(first, "-a 'help version'"),
    complete(inCommand("help"), `-a ${quoted(names.join(" "))}`),
    ...names.flatMap((name) => [...optionsOf(name).map(option(name)), ...operandsOf(name)])
  ].join("\n").concat("\n")
