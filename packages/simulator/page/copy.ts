import { post } from "./actions.ts"
import { $ } from "./dom.ts"
import { say } from "./note.ts"

type Variables = Readonly<Record<string, string>>

const exported = (variables: Variables) =>
  Object.entries(variables).map(([name, value]) => `export ${name}='${value.replaceAll("'", "'\\''")}'`).join("\n")

const curl = (variables: Variables) => {
  const of = (name: string) => variables[`CREDIT_DATA_${name}`] ?? ""
  const form = new URLSearchParams({
    client_id: of("CLIENT_ID"),
    client_secret: of("CLIENT_SECRET"),
    audience: of("AUDIENCE"),
    scope: of("SCOPES"),
    grant_type: "client_credentials"
  })
  return `curl '${of("AUTH_V2_URL")}/oauth2/token' -d '${form}'`
}

/** The variables contain the client secret. They go to the clipboard and never into the page. */
const copyOnClick = (id: string, text: (variables: Variables) => string): void => {
  $(id).onclick = async () => {
    const response = await post("variables")
    if (!response) return
    try {
      await navigator.clipboard.writeText(text(await response.json() as Variables))
      say("Copied with the client secret.")
    } catch {
      say("The browser blocked the clipboard. Copy what the simulator printed.", "bad")
    }
  }
}

copyOnClick("variables", exported)
copyOnClick("curl", curl)
