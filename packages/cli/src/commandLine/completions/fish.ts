import { type Name, names, specificationOf } from "../commands.ts"
import { type Completed, optionsOf, quoted } from "./options.ts"

const complete = (...parts: ReadonlyArray<string>): string => ["complete -c credit-data", ...parts].join(" ")

const inCommand = (name: string): string => `-n ${quoted(`__fish_seen_subcommand_from ${name}`)}`

const option = (name: Name) => (each: Completed): string =>
  complete(
    inCommand(name),
    `-l ${each.name}`,
    ...(each.short === undefined ? [] : [`-s ${each.short}`]),
    ...(each.hasValue ? [each.isFile ? "-r -F" : "-x"] : []),
    ...(each.values.length === 0 ? [] : [`-a ${quoted(each.values.join(" "))}`]),
    `-d ${quoted(each.summary)}`
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
    complete("-f"),
    ...names.map((name) => complete(first, `-a ${name} -d ${quoted(specificationOf(name).summary)}`)),
    complete(first, "-a 'help version'"),
    complete(inCommand("help"), `-a ${quoted(names.join(" "))}`),
    ...names.flatMap((name) => [...optionsOf(name).map(option(name)), ...operandsOf(name)])
  ].join("\n").concat("\n")
