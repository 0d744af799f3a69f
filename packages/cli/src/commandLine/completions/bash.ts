import { quoted } from "../../text.ts"
import { type Name, names, optionsOf, specificationOf } from "../commands.ts"
import { type Option, placeholderOf, spellingsOf } from "../specification.ts"

const words = (list: ReadonlyArray<string>): string => `_credit_data_words ${quoted(list.join(" "))}`

const completers = {
  file: "_credit_data_files -f",
  "@file": "_credit_data_data",
  program: "_credit_data_files -c -f",
  profile: "_credit_data_words \"$(command credit-data profiles --names 2> /dev/null)\""
}

const valuesOf = (option: readonly [name: string, option: Option]): string => {
  const [, { completes, values }] = option
  const completer = values === undefined ? completes === undefined ? ":" : completers[completes] : words(values)
  return `        ${spellingsOf(option).join("|")}) ${completer}; return ;;`
}

const operandsOf = (name: Name): ReadonlyArray<string> => {
  const { operands } = specificationOf(name)
  const completer = operands?.isProgram === true ? "_credit_data_program" : operands?.values && words(operands.values)
  return completer === undefined ? [] : [`      if [[ $current != -* ]]; then ${completer}; return; fi`]
}

const command = (name: Name): ReadonlyArray<string> => [
  `    ${name})`,
  "      case $previous in",
  ...optionsOf(name).filter(([, option]) => placeholderOf(option) !== undefined).map(valuesOf),
  "      esac",
  ...operandsOf(name),
  `      ${words(optionsOf(name).flatMap(spellingsOf))} ;;`
]

/** The completions for bash. */
export const bash = (): string =>
  `\
# Completions of credit-data for bash: source <(credit-data completions bash)
_credit_data_words() { local IFS=$' \\n'; COMPREPLY=($(compgen -W "$1" -- "$current")); }
# bash 3 has no compopt
_credit_data_files() { local IFS=$'\\n'; compopt -o filenames 2> /dev/null; COMPREPLY=($(compgen "$@" -- "$current")); }
# what bash replaces begins with the @, even where @ is a separate word
_credit_data_data() {
  if [[ $current != @* && $separator != *@ ]]; then return; fi
  current=\${current#@}
  _credit_data_files -f
  COMPREPLY=("\${COMPREPLY[@]/#/@}")
}
_credit_data_program() {
  local index
  for (( index = 2; index < COMP_CWORD; index++ )); do
    if [[ \${COMP_WORDS[index]} == -- ]]; then (( index++ )); break; fi
  done
  # the arguments of the program are files at best
  if (( index < COMP_CWORD )); then _credit_data_files -f; else _credit_data_files -c -f; fi
}
_credit_data() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]} separator=
  # with its usual COMP_WORDBREAKS, = and @ are separate words, and =@ is one
  if [[ $COMP_WORDBREAKS == *@* && $current == @ || $current == = || $current == =@ ]]; then separator=$current current=
  elif [[ $previous == = || $previous == @ || $previous == =@ ]]; then
    separator=$previous previous=\${COMP_WORDS[COMP_CWORD - 2]}
  fi
  COMPREPLY=()
  if (( COMP_CWORD == 1 )); then ${words([...names, "help", "version"])}; return; fi
  case \${COMP_WORDS[1]} in
${names.flatMap(command).join("\n")}
    help) ${words(names)} ;;
  esac
}
complete -F _credit_data credit-data
`
