import { withoutSecrets } from "@credit-data/core/Internal"
import * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { unsafeNote } from "./terminal.ts"
import { visible } from "./text.ts"

/** Headers whose values are secrets, whatever they are. */
const secretHeaders = /authorization|cookie|secret|token|api-?key|password|signature/i

/** What must not be shown of a request and its response: the client secret and the token. */
const secretsOf = ({ headers }: HttpClientRequest.HttpClientRequest): ReadonlyArray<string> => [
  process.env["CREDIT_DATA_CLIENT_SECRET"]?.trim() ?? "",
  headers["authorization"]?.replace(/^\S+ /, "") ?? ""
]

type Fields = Readonly<Record<string, string | undefined>>

/** The size of a body. The body itself has the secret, a token or personal data. */
const bodyOf = ({ body }: HttpClientRequest.HttpClientRequest): Fields =>
  body._tag === "Empty" ? {} : { "content-type": body.contentType, "content-length": body.contentLength?.toString() }

/** Shows requests and responses on standard error, without bodies and secrets. */
export const shown = (client: HttpClient.HttpClient): HttpClient.HttpClient =>
  HttpClient.transform(client, (response, request) => {
    const secrets = secretsOf(request)
    const show = (mark: string, first: string, fields: Fields) => {
      const lines = Object.entries(fields)
        .flatMap(([name, value = ""]) =>
          value === "" ? [] : [`${name}: ${secretHeaders.test(name) ? "<redacted>" : value}`]
        )
      const text = [first, ...lines].join("\n")
      unsafeNote(visible(withoutSecrets(text, secrets, text.length)).replaceAll(/^/gm, `${mark} `))
    }
    return Effect.sync(() => show(">", `${request.method} ${request.url}`, { ...bodyOf(request), ...request.headers }))
      .pipe(
        Effect.zipRight(Effect.timed(response)),
        Effect.tapError(({ reason }) => Effect.sync(() => show("<", `no response (${reason})`, {}))),
        Effect.map(([time, response]) => {
          show("<", `${response.status} after ${Math.round(Duration.toMillis(time))} ms`, response.headers)
          return response
        })
      )
  })
