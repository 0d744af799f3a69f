import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { groups } from "./groups.ts"
import { opens, type TokenStore } from "./tokenStore.ts"

const challenge = (status: number, error: string | undefined, parameters = "") =>
  HttpServerResponse.unsafeJson(error === undefined ? {} : { error }, {
    status,
    headers: {
      "www-authenticate": `Bearer realm="simulator"${error === undefined ? "" : `, error="${error}"`}${parameters}`
    }
  })

/** The token in an `Authorization` header. */
export const bearer = (authorization: Option.Option<string>): Option.Option<string> =>
  Option.flatMap(authorization, (header) => Option.fromNullable(/^Bearer ([^ ]+)$/i.exec(header)?.[1]))

/** A call of the business API. */
export interface Call {
  readonly method: string
  readonly path: string
  readonly authorization: Option.Option<string>
}

/** How the business API responds to a call with a valid token that covers its group, if nothing else was set. */
export const usual = ({ method, path }: Call, group: string): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.unsafeJson({ group, method, path })

/**
 * A business endpoint. It passes a call on that has a valid token which covers its group, and otherwise follows RFC 6750,
 * section 3.
 */
export const respond = Effect.fnUntraced(function*(
  tokens: TokenStore,
  call: Call,
  respond: (group: string) => Effect.Effect<HttpServerResponse.HttpServerResponse>
) {
  const endpoint = groups.find(({ prefix }) => `${call.path}/`.startsWith(prefix))
  if (endpoint === undefined) return HttpServerResponse.unsafeJson({ error: "not_found" }, { status: 404 })
  const text = bearer(call.authorization)
  if (Option.isNone(text)) return challenge(401, undefined)
  const token = yield* tokens.find(text.value)
  if (Option.isNone(token)) return challenge(401, "invalid_token")
  if (!opens(token.value, endpoint.scope)) return challenge(403, "insufficient_scope", `, scope="${endpoint.scope}"`)
  return yield* respond(endpoint.group)
})
