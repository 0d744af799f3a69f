import { type Name, names, specificationOf } from "../commands.ts"
import { type Completed, optionsOf, quoted } from "./options.ts"

const words = (list: ReadonlyArray<string>): string => `_credit_data_words ${quoted(list.join(" "))}`

const valuesOf = ({ isFile, spellings, values }: Completed): string =>
  `        ${spellings.join("|")}) ${
    values.length > 0 ? words(values) : isFile ? "_credit_data_files -f" : ":"
  }; return ;;`

const operandsOf = (name: Name): ReadonlyArray<string> => {
  const { operands } = specificationOf(name)
  if (operands?.isProgram === true) return ["      if [[ $current != -* ]]; then _credit_data_files -c -f; return; fi"]
  if (operands?.values === undefined) return []
  return [`      if [[ $current != -* ]]; then ${words(operands.values)}; return; fi`]
}

const command = (name: Name): ReadonlyArray<string> => [
  `    ${name})`,
  "      case $previous in",
  ...optionsOf(name).filter(({ hasValue }) => hasValue).map(valuesOf),
  "      esac",
  ...operandsOf(name),
  `      ${words(optionsOf(name).flatMap(({ spellings }) => spellings))} ;;`
]

/** The completions for bash. */
export const bash = (): string =>
  `\
# Completions of credit-data for bash: source <(credit-data completions bash)
_credit_data_words() { local IFS=$' \\n'; COMPREPLY=($(compgen -W "$1" -- "$current")); }
# bash 3 has no compopt
_credit_data_files() { local IFS=$'\\n'; compopt -o filenames 2> /dev/null; COMPREPLY=($(compgen "$@" -- "$current")); }
_credit_data() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]}
  # for bash, --name=value is three words
  if [[ $current == = ]]; then current=
  elif [[ $previous == = ]]; then previous=\${COMP_WORDS[COMP_CWORD - 2]}
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
