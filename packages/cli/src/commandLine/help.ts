import { table } from "../text.ts"
import { version } from "../version.ts"
import { type Name, names, optionsOf, specificationOf } from "./commands.ts"
import { type Option, placeholderOf } from "./specification.ts"

const indented = (text: string) => text.replaceAll(/^(?=.)/gm, "  ")

/** The help of the whole program. */
export const help = `\
credit-data ${version}: access tokens for the credit-data API

Usage: credit-data COMMAND [OPTIONS]

Commands:
${indented(table(names.map((name) => [name, specificationOf(name).summary])))}

\`credit-data COMMAND --help\` shows the options of a command.

Examples:
  credit-data doctor --variables .env
  credit-data call /data-access/consumers/42

Variables:
  CREDIT_DATA_ENVIRONMENT, CREDIT_DATA_AUDIENCE, CREDIT_DATA_BASE_URL,
  CREDIT_DATA_SCOPES, CREDIT_DATA_AUTH_V2_URL (V1: CREDIT_DATA_AUTH_V1_URL),
  CREDIT_DATA_CLIENT_ID, CREDIT_DATA_CLIENT_SECRET.
  HTTPS_PROXY and NO_PROXY are respected. Do not pass credentials as arguments.

Exit codes:
   0  success                             6  scope missing
   1  a problem was found                22  an error status with \`call --fail\`
   2  wrong usage or configuration       70  a defect
   3  the client was refused             74  the output cannot be written
   4  unavailable, try again later      130  interrupted
   5  invalid response
`

const optionRow = ([name, option]: readonly [name: string, option: Option]): ReadonlyArray<string> => {
  const long = [`--${name}`, placeholderOf(option) ?? []].flat().join(" ")
  return [option.short === undefined ? `    ${long}` : `-${option.short}, ${long}`, option.summary]
}

/** The help of one command. */
export const helpOf = (name: Name): string => {
  const { examples, operands, summary } = specificationOf(name)
  return `\
credit-data ${name}: ${summary}

Usage: credit-data ${[name, "[OPTIONS]", operands?.placeholder ?? []].flat().join(" ")}

Options:
${indented(table(optionsOf(name).map(optionRow)))}

Examples:
${examples.map((example) => `  credit-data ${name} ${example}`.trimEnd()).join("\n")}
`
}
