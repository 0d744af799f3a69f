import { post } from "./actions.ts"
import { $ } from "./dom.ts"
import { say } from "./note.ts"

type Variables = Readonly<Record<string, string>>

/** Copies a text, and reports what was copied. */
export const copy = async (text: string, done: string, otherwise = "Select the text and copy it."): Promise<void> => {
  try {
    await navigator.clipboard.writeText(text)
    say(done)
  } catch {
    say(`The browser blocked the clipboard. ${otherwise}`, "bad")
  }
}

/** A text in single quotes of a shell. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

const exported = (variables: Variables) =>
  Object.entries(variables).map(([name, value]) => `export ${name}=${quoted(value)}`).join("\n")

const curl = (variables: Variables) => {
  const of = (name: string) => variables[`CREDIT_DATA_${name}`] ?? ""
  const form = new URLSearchParams({
    client_id: of("CLIENT_ID"),
    client_secret: of("CLIENT_SECRET"),
    audience: of("AUDIENCE"),
    scope: of("SCOPES"),
    grant_type: "client_credentials"
  })
  return `printf %s '${form}' | curl '${of("AUTH_V2_URL")}/oauth2/token' -d @-`
}

/** The variables contain the client secret. They go to the clipboard and never into the page. */
const copyOnClick = (id: string, text: (variables: Variables) => string): void => {
  $(id).onclick = async () => {
    const response = await post("variables")
    if (!response) return
    await copy(
      text(await response.json() as Variables),
      "Copied with the client secret.",
      "Copy what the simulator printed."
    )
  }
}

copyOnClick("variables", exported)
copyOnClick("curl", curl)
