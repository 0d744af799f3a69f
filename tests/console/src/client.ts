import { Simulator } from "@credit-data/simulator"
import { Effect, Redacted, Schema } from "effect"

const Token = Schema.parseJson(Schema.Struct({ access_token: Schema.optional(Schema.String) }))

/** Sends a request as any program does, and returns its status and body. A connection without an answer has the status 0. */
export const send = (url: string, init: RequestInit = {}) =>
  Effect.promise((signal) =>
    fetch(url, { signal, ...init }).then(
      async (response) => ({ status: response.status, body: await response.text() }),
      () => ({ status: 0, body: "" })
    )
  )

/** Requests a token. `changes` replace fields of the form. Returns the token, or an empty text. */
export const requestToken = (version: "V1" | "V2", changes: Readonly<Record<string, string>> = {}) =>
  Effect.gen(function*() {
    const { credentials, environment } = yield* Simulator.Simulator
    const { clientId, clientSecret } = yield* credentials
    const form = {
      client_id: clientId,
      client_secret: Redacted.value(clientSecret),
      audience: environment.audience,
      scope: "data-access:all furnishment:all",
      grant_type: "client_credentials",
      ...changes
    }
    const url = version === "V1" ? `${environment.authV1Url}/oauth/token` : `${environment.authV2Url}/oauth2/token`
    const { body } = yield* send(url, { method: "POST", body: new URLSearchParams(form) })
    return Schema.decodeOption(Token)(body).pipe((token) => token._tag === "Some" ? token.value.access_token ?? "" : "")
  })

/** Calls the business API, and returns the status and the body. */
export const call = (path: string, token?: string, init: RequestInit = {}) =>
  Effect.flatMap(Simulator.Simulator, ({ environment }) =>
    send(`${environment.baseUrl}${path}`, {
      ...init,
      headers: { ...init.headers, ...token === undefined ? {} : { authorization: `Bearer ${token}` } }
    }))
