import { meanings } from "../exitCode.ts"
import { columnsOr, wrapped } from "../text.ts"
import { version } from "../version.ts"
import { type Name, names, optionsOf, specificationOf } from "./commands.ts"
import { environment } from "./environment.ts"
import { type Option, placeholderOf } from "./specification.ts"

const width = Math.min(columnsOr(80), 80)

/** The lines of a paragraph, of which all but the first are indented by two more columns. */
const paragraph = (text: string): string => wrapped(text, width - 2).join("\n  ")

const indented = (text: string): string => wrapped(text, width - 2).map((line) => `  ${line}`).join("\n")

/** A command line, which a shell accepts on several lines too. */
const example = (line: string): string =>
  line.length + 2 <= width ? `  ${line}` : `  ${wrapped(line, width - 6).join(" \\\n    ")}`

type Row = readonly [term: string, text: string]

/** The fewest columns in which a text is readable. */
const narrow = 20

/** Two columns, or each text below its term where the terminal has no room for the text beside it. */
const table = (rows: ReadonlyArray<Row>): string => {
  const indent = Math.max(...rows.map(([term]) => term.length)) + 4
  return rows.map(([term, text]) =>
    width - indent < narrow
      ? [`  ${term}`, ...wrapped(text, width - 8).map((line) => `        ${line}`)].join("\n")
      : `  ${term.padEnd(indent - 2)}${wrapped(text, width - indent).join(`\n${" ".repeat(indent)}`)}`
  ).join("\n")
}

/** The help of the whole program. */
export const help = `\
${paragraph(`credit-data ${version}: access tokens for the credit-data API`)}

Usage: credit-data COMMAND [OPTIONS]

Commands:
${table(names.map((name) => [name, specificationOf(name).summary]))}

${paragraph("`credit-data COMMAND --help` shows the options of a command.")}

Examples:
${
  ["doctor --variables .env", "call /data-access/consumers/42"].map((line) => example(`credit-data ${line}`)).join("\n")
}

Variables:
${
  indented(
    "CREDIT_DATA_ENVIRONMENT, CREDIT_DATA_AUDIENCE, CREDIT_DATA_BASE_URL, CREDIT_DATA_SCOPES, CREDIT_DATA_AUTH_V2_URL (V1: " +
      "CREDIT_DATA_AUTH_V1_URL), CREDIT_DATA_CLIENT_ID, CREDIT_DATA_CLIENT_SECRET."
  )
}
${table(Object.entries(environment))}
${indented("Do not pass credentials as arguments.")}

Exit codes:
${table(Object.entries(meanings).map(([code, text]) => [code.padStart(3), text]))}
`

const optionRow = ([name, option]: readonly [name: string, option: Option]): Row => {
  const long = [`--${name}`, placeholderOf(option) ?? []].flat().join(" ")
  return [option.short === undefined ? `    ${long}` : `-${option.short}, ${long}`, option.summary]
}

/** The help of one command. */
export const helpOf = (name: Name): string => {
  const { examples, operands, summary } = specificationOf(name)
  return `\
${paragraph(`credit-data ${name}: ${summary}`)}

${paragraph(`Usage: credit-data ${[name, "[OPTIONS]", operands?.placeholder ?? []].flat().join(" ")}`)}

Options:
${table(optionsOf(name).map(optionRow))}

Examples:
${examples.map((line) => example(`credit-data ${name} ${line}`.trimEnd())).join("\n")}
`
}
