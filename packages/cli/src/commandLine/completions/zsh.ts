import { type Name, names, specificationOf } from "../commands.ts"
import { type Completed, optionsOf, quoted } from "./options.ts"

/** A summary between brackets, or before a colon. */
const escaped = (text: string): string => text.replaceAll(/[[\]:\\]/g, "\\$&")

const valueOf = ({ hasValue, isFile, name, values }: Completed): string =>
  hasValue ? `:${name}:${values.length > 0 ? `(${values.join(" ")})` : isFile ? "_files" : " "}` : ""

const option = (each: Completed): ReadonlyArray<string> => {
  const { hasValue, isRepeated, spellings, summary } = each
  const prefix = isRepeated ? "*" : `(${spellings.join(" ")})`
  return spellings.map((spelling) => {
    const suffix = hasValue ? spelling.startsWith("--") ? "=" : "+" : ""
    return quoted(`${prefix}${spelling}${suffix}[${escaped(summary)}]${valueOf(each)}`)
  })
}

const operandsOf = (name: Name): ReadonlyArray<string> => {
  const { operands } = specificationOf(name)
  if (operands === undefined) return []
  if (operands.isProgram === true) return ["'(-)1:program:_command_names -e'", "'*::argument:_normal'"]
  // a message for an operand without values would make zsh list the options instead of completing them
  return operands.values === undefined ? [] : [quoted(`1:${name}:(${operands.values.join(" ")})`)]
}

const command = (name: Name): string =>
  `    ${name}) _arguments -s -S ${[...optionsOf(name).flatMap(option), ...operandsOf(name)].join(" ")} ;;`

const described = names.map((name) => quoted(`${name}:${escaped(specificationOf(name).summary)}`)).join(" ")

/** The completions for zsh, for a folder of `fpath` or for `source`. */
export const zsh = (): string =>
  `\
#compdef credit-data
# Completions of credit-data for zsh: source <(credit-data completions zsh)
_credit_data() {
  local -a subcommands=(${described} 'help:show the help' 'version:show the version')
  if (( CURRENT == 2 )); then _describe command subcommands; return; fi
  shift words
  (( CURRENT-- ))
  case $words[1] in
${names.map(command).join("\n")}
    help) _arguments '1:command:(${names.join(" ")})' ;;
  esac
}
if [[ \${funcstack[1]} == _credit_data ]]; then _credit_data "$@"; else compdef _credit_data credit-data; fi
`
