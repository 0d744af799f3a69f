import { quoted } from "../../text.ts"
import { type Name, names, optionsOf, specificationOf } from "../commands.ts"
import { type Option, placeholderOf, spellingsOf } from "../specification.ts"

/** A summary between brackets, or before a colon. */
const escaped = (text: string): string => text.replaceAll(/[[\]:\\]/g, "\\$&")

const completers = {
  file: "_files",
  "@file": "_credit_data_data",
  program: "_command_names -e",
  profile: "_credit_data_profiles"
}

const valueOf = ([name, { completes, values }]: readonly [name: string, option: Option]): string =>
  `:${name}:${values !== undefined ? `(${values.join(" ")})` : completes === undefined ? " " : completers[completes]}`

const option = (each: readonly [name: string, option: Option]): ReadonlyArray<string> => {
  const [, option] = each
  const hasValue = placeholderOf(option) !== undefined
  const prefix = option.isRepeated === true ? "*" : `(${spellingsOf(each).join(" ")})`
  return spellingsOf(each).map((spelling) => {
    const suffix = hasValue ? spelling.startsWith("--") ? "=" : "+" : ""
    return quoted(`${prefix}${spelling}${suffix}[${escaped(option.summary)}]${hasValue ? valueOf(each) : ""}`)
  })
}

const operandsOf = (name: Name): ReadonlyArray<string> => {
  const { operands } = specificationOf(name)
  if (operands?.isProgram === true) return ["'(-)1:program:_command_names -e'", "'*::argument:_normal'"]
  // a message for an operand without values would make zsh list the options instead of completing them
  return operands?.values === undefined ? [] : [quoted(`1:${name}:(${operands.values.join(" ")})`)]
}

const command = (name: Name): string =>
  `    ${name}) _arguments -s -S ${[...optionsOf(name).flatMap(option), ...operandsOf(name)].join(" ")} ;;`

const described = names.map((name) => quoted(`${name}:${escaped(specificationOf(name).summary)}`)).join(" ")

/** The completions for zsh, for a folder of `fpath` or for `source`. */
export const zsh = (): string =>
  `\
#compdef credit-data
# Completions of credit-data for zsh: source <(credit-data completions zsh)
_credit_data_data() { compset -P @ && _files; }
_credit_data_profiles() { compadd - \${(f)"$(command credit-data profiles --names 2> /dev/null)"}; }
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
# compinit may come later in the start-up file, which has been read when the first prompt is shown
_credit_data_register() {
  add-zsh-hook -d precmd _credit_data_register
  if (( $+functions[compdef] )); then compdef _credit_data credit-data
  else print -u2 "credit-data: completions need compinit. Add this line to .zshrc: autoload -Uz compinit && compinit"
  fi
}
if [[ \${funcstack[1]} == _credit_data ]]; then _credit_data "$@"
elif (( $+functions[compdef] )); then compdef _credit_data credit-data
else autoload -Uz add-zsh-hook && add-zsh-hook precmd _credit_data_register
fi
`
