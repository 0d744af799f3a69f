import { Simulator } from "@credit-data/simulator"
import { Effect, Schema } from "effect"
import { request as httpRequest } from "node:http"

const decodeJson = Schema.decodeUnknownSync(
  Schema.parseJson(Schema.Record({ key: Schema.String, value: Schema.Unknown }))
)

/** The fields of a valid token request of V2. */
export const form = {
  client_id: "simulated-client",
  client_secret: "simulated-secret-0123456789abcdefghijklm",
  audience: "https://simulator.credit-data.example",
  scope: "data-access:all furnishment:all",
  grant_type: "client_credentials"
}

const { scope: _, ...withoutScope } = form

/** The fields of a valid token request of V1. */
export const formV1 = withoutScope

/** Sends a request as curl does, without our libraries. */
export const sendText = (url: string, init?: RequestInit) =>
  Effect.promise(async () => {
    const response = await fetch(url, { redirect: "manual", ...init })
    return { status: response.status, headers: response.headers, text: await response.text() }
  })

/** As `sendText`, and reads the response as a JSON object. */
export const send = (url: string, init?: RequestInit) =>
  Effect.map(sendText(url, init), ({ headers, status, text }) => ({ status, headers, body: decodeJson(text) }))

/** Sends a token request. */
export const post = (version: "V1" | "V2", fields: Record<string, string> | string, init?: RequestInit) =>
  Effect.flatMap(
    Simulator.Simulator,
    ({ environment }) =>
      send(version === "V1" ? `${environment.authV1Url}/oauth/token` : `${environment.authV2Url}/oauth2/token`, {
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: typeof fields === "string" ? fields : new URLSearchParams(fields).toString(),
        ...init
      })
  )

/** A new token of V2. */
export const newToken = Effect.map(post("V2", form), ({ body }) => String(body["access_token"]))

/** Calls the business API. */
export const get = (path: string, token?: unknown, init?: RequestInit) =>
  Effect.flatMap(
    Simulator.Simulator,
    ({ environment }) =>
      send(`${environment.baseUrl}${path}`, {
        ...init,
        headers: { ...init?.headers, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) }
      })
  )

/** The status of a call. */
export const statusOf = (path: string, token?: unknown, init?: RequestInit) =>
  Effect.map(get(path, token, init), ({ status }) => status)

/** Sends a request with this target and these headers as they are, which `fetch` would change or refuse. */
export const exchange = (
  url: string,
  { body = "", headers = {}, method = "GET", target, token }: {
    readonly body?: string
    readonly headers?: Record<string, string>
    readonly method?: string
    readonly target: string
    readonly token?: unknown
  }
) =>
  Effect.async<{ readonly status: number | undefined; readonly body: Readonly<Record<string, unknown>> }>((resume) => {
    const authorization: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const options = { method, path: target, headers: { ...headers, ...authorization }, agent: false } as const
    httpRequest(url, options, (response) => {
      let text = ""
      response.setEncoding("utf8").on("data", (part: string) => {
        text += part
      }).on("end", () => resume(Effect.succeed({ status: response.statusCode, body: decodeJson(text) })))
    }).on("error", (error) => resume(Effect.die(error))).end(body)
  })
