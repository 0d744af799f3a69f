import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Simulator from "../../Simulator.ts"
import * as Variables from "./variables.ts"

const exported = (variables: Record<string, string>) =>
  Object.entries(variables).map(([name, value]) => `  export ${name}='${value}'`).join("\n")

const forPrograms = (variables: Record<string, string>) =>
  `\
The simulator of the credit-data service is running. Press Ctrl-C to stop it.

The variables for a program that uses it:

${exported(variables)}

A token from Auth V2, with these variables set. curl reads the secret from its input, because all users can see arguments:

  TOKEN=$(printf %s "$CREDIT_DATA_CLIENT_SECRET" | curl --silent "$CREDIT_DATA_AUTH_V2_URL/oauth2/token" \\
    --data-urlencode "client_secret@-" \\
    --data-urlencode "client_id=$CREDIT_DATA_CLIENT_ID" \\
    --data-urlencode "audience=$CREDIT_DATA_AUDIENCE" \\
    --data-urlencode "scope=$CREDIT_DATA_SCOPES" \\
    --data-urlencode "grant_type=client_credentials" | sed 's/.*"access_token":"\\([^"]*\\).*/\\1/')

A token from Auth V1: the same with "$CREDIT_DATA_AUTH_V1_URL/oauth/token", and without scope.

A call with that token:

  printf 'Authorization: Bearer %s' "$TOKEN" | curl --silent --header @- "$CREDIT_DATA_BASE_URL/data-access/consumers/42"`

const forConsole = ({ SIMULATOR_KEY, SIMULATOR_URL }: Readonly<Record<"SIMULATOR_KEY" | "SIMULATOR_URL", string>>) =>
  `\
The console, for a browser:

  ${SIMULATOR_URL}/#key=${SIMULATOR_KEY}

The variables for a program that controls the simulator:

${exported({ SIMULATOR_URL, SIMULATOR_KEY })}`

/** The variables are in a file, so only the next steps are left. */
const forFile = (file: string, admin: Option.Option<Parameters<typeof forConsole>[0]>) =>
  [
    "The simulator of the credit-data service is running. Press Ctrl-C to stop it.",
    "",
    `  Variables   ${file}`,
    ...Option.match(admin, {
      onNone: () => [],
      onSome: ({ SIMULATOR_KEY, SIMULATOR_URL }) => [`  Console     ${SIMULATOR_URL}/#key=${SIMULATOR_KEY}`]
    }),
    "",
    `With the command:  credit-data doctor --variables ${file}`,
    `In a shell:        set -a; . ${file.includes("/") ? file : `./${file}`}; set +a`
  ].join("\n")

/** What the program prints when it starts. `file` has the variables, if there is one. */
export const instructions = Effect.fnUntraced(function*(file: string | undefined) {
  const variables = yield* Simulator.variables
  const admin = yield* Variables.control
  if (file !== undefined) return forFile(file, admin)
  return [forPrograms(variables), ...Option.toArray(Option.map(admin, forConsole))].join("\n\n")
})
