import { table } from "./table.ts"
import { version } from "./version.ts"

const commands = [
  ["token", "print an access token"],
  ["doctor", "find out what is wrong: configuration, network, certificate, clock, client, scopes"],
  ["compare", "compare V1 with V2: a token from each, and your probes with both"],
  ["call", "send one call to the business API, with a token"],
  ["exec", "run a program with the token in a variable"],
  ["status", "show the cached token's life and its scopes"],
  ["simulator", "run an imitation of the service on this machine"],
  ["completions", "print the completions for bash, zsh or fish"]
]

const indented = (text: string) => text.replaceAll(/^/gm, "  ")

/** The help of the whole program. The parser's own does not fit into 80 columns. */
export const help = `\
credit-data ${version}: access tokens for the credit-data API

Usage: credit-data COMMAND [OPTIONS]

Commands:
${indented(table(commands))}

\`credit-data COMMAND --help\` shows the options of a command.

Examples:
  credit-data doctor
  credit-data call /data-access/consumers/42
  credit-data token --cache --output header | curl --header @- "$CREDIT_DATA_BASE_URL/data-access/consumers/42"

Variables:
  CREDIT_DATA_ENVIRONMENT, CREDIT_DATA_AUDIENCE, CREDIT_DATA_BASE_URL, CREDIT_DATA_SCOPES,
  CREDIT_DATA_AUTH_V2_URL (V1: CREDIT_DATA_AUTH_V1_URL), CREDIT_DATA_CLIENT_ID, CREDIT_DATA_CLIENT_SECRET.
  The secret is never an argument. HTTPS_PROXY and NO_PROXY are respected.

Exit codes:
  0 success, 1 a problem was found, 2 usage or configuration, 3 the client was refused, 4 unavailable,
  5 invalid answer, 6 scope missing, 22 an error status with \`call --fail\`, 70 a defect,
  74 the output cannot be written, 130 interrupted
`
