import type * as HttpHeaders from "@effect/platform/Headers"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Received from "../Received.ts"
import type * as Simulator from "../Simulator.ts"

/** The parts of a request that people may see. */
export interface Visible {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const hidden = "***"

const privateHeader = /auth|cookie|credential|jwt|key|pass|secret|session|token/i

/** The fields of a token request whose values may be seen. */
const publicFields: ReadonlyArray<string> = ["audience", "scope", "grant_type"]

/** What is no form would else be shown as the name of a field, with any secret in it. */
const isFieldName = (name: string) => /^[a-z_]{1,40}$/.test(name)

/** Longer bodies are shown by their size. */
const longestBody = 10_000

/**
 * A request without secrets: those of the simulator, and real ones that somebody sent by mistake to a token endpoint, or in a
 * header for them.
 */
export const visible = (
  { mask, ...simulator }: Pick<Simulator.Service, "credentials" | "mask">,
  { body, bodySize, headers, server, url }: Received.Received
): Effect.Effect<Visible> =>
  Effect.map(simulator.credentials, ({ clientId }) => {
    const field = ([name, value]: readonly [string, string]) => {
      const isPublic = publicFields.includes(name) || (name === "client_id" && value === clientId)
      return `${isFieldName(name) ? name : hidden}=${isPublic ? value : hidden}`
    }
    const fields = (form: string, separator: string) => [...new URLSearchParams(form)].map(field).join(separator)

    const urlOf = () => {
      const [path = "", ...query] = url.split("?")
      return server === "Api" || query.length === 0 ? url : `${path}?${fields(query.join("?"), "&")}`
    }
    const bodyOf = () => {
      if (bodySize > longestBody) return `(${bodySize} bytes)`
      const text = new TextDecoder().decode(Redacted.value(body))
      return server === "Api" ? text : fields(text, "\n")
    }
    const headersOf = (all: HttpHeaders.Headers) =>
      Object.fromEntries(
        Object.entries(all).map(([name, value]) => [mask(name), privateHeader.test(name) ? hidden : mask(value)])
      )
    return { url: mask(urlOf()), headers: headersOf(headers), body: mask(bodyOf()) }
  })
