import type * as ClientCredentials from "@credit-data/core/ClientCredentials"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { randomBytes } from "node:crypto"
import { request as httpRequest } from "node:http"
import type { Received } from "../Received.ts"

/** The header that marks a request which the simulator sends to itself. */
export const markerName = "x-simulator-resend"

/** The connection, the credential or this module sets them. */
const replaced: ReadonlySet<string> = new Set([
  "authorization",
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  markerName
])

/** A request on its way to its server. */
interface Sent {
  /** The id of the request that is sent again. */
  readonly original: number
  /** The id under which its server received it, or nothing if its connection ended before that. */
  readonly arrived: Deferred.Deferred<Option.Option<number>>
}

/** What replaces the credential of a request. */
interface Credential {
  readonly authorization: Option.Option<string>
  readonly body: Uint8Array
}

/** The requests that the simulator sends again. */
export interface Resends {
  /** The request with these headers, if the simulator sent it. */
  readonly take: (headers: Readonly<Record<string, string>>) => Option.Option<Sent>
  /** Sends a request to this server, and returns its new id when the server has received it. */
  readonly send: (url: string, received: Received, credential: Credential) => Effect.Effect<Option.Option<number>>
}

/** The form of a token request with the current secret, unless another client sent it. */
export const withSecret = (
  body: Uint8Array,
  { clientId, clientSecret }: ClientCredentials.ClientCredentials
): Uint8Array => {
  const form = new URLSearchParams(new TextDecoder().decode(body))
  if (form.get("client_id") !== clientId) return body
  form.set("client_secret", Redacted.value(clientSecret))
  return new TextEncoder().encode(form.toString())
}

/** Ends with the connection, and closes the connection when it is interrupted. */
const exchange = (
  url: string,
  options: { readonly method: string; readonly path: string; readonly headers: Record<string, string> },
  body: Uint8Array
) =>
  Effect.async<void>((resume) => {
    const request = httpRequest(url, { ...options, agent: false }, (response) => {
      response.on("error", () => response.destroy()).resume()
    })
    request.on("error", () => request.destroy()).on("close", () => resume(Effect.void)).end(body)
    return Effect.sync(() => request.destroy())
  })

/** The requests end with the scope. */
export const make = (scope: Scope.Scope): Resends => {
  const sent = new Map<string, Sent>()
  return {
    take: (headers) => {
      const marker = headers[markerName] ?? ""
      const found = Option.fromNullable(sent.get(marker))
      sent.delete(marker)
      return found
    },
    send: Effect.fnUntraced(function*(url, received, { authorization, body }) {
      const marker = randomBytes(18).toString("base64url")
      const arrived = yield* Deferred.make<Option.Option<number>>()
      const headers = Object.fromEntries([
        ...Object.entries(received.headers).filter(([name]) => !replaced.has(name)),
        ...Option.toArray(Option.map(authorization, (value) => ["authorization", value])),
        // without it, Node sends the body of a GET or DELETE without its length, as if it were the next request
        ...body.byteLength > 0 ? [["content-length", String(body.byteLength)]] : [],
        [markerName, marker]
      ])
      sent.set(marker, { original: received.id, arrived })
      yield* exchange(url, { method: received.method, path: received.url, headers }, body).pipe(
        Effect.ensuring(Effect.suspend(() => {
          sent.delete(marker)
          return Deferred.succeed(arrived, Option.none())
        })),
        Effect.forkIn(scope)
      )
      return yield* Deferred.await(arrived)
    })
  }
}
