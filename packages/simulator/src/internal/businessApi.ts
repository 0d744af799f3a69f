import type * as AccessScope from "@credit-data/core/AccessScope"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { groups } from "./groups.ts"
import { opens, type IssuedTokens } from "./issuedTokens.ts"

// What the simulated business API responds.

const challenge = (status: number, error: string | undefined, description: string, parameters = "") =>
  HttpServerResponse.unsafeJson({ error, error_description: description }, {
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

const notFound = (description: string) =>
  HttpServerResponse.unsafeJson({ error: "not_found", error_description: description }, { status: 404 })

const noGroup = ({ path }: Call) =>
  notFound(
    `No endpoint group has the path ${path}. Their paths begin with ${groups.map(({ prefix }) => prefix).join(", ")}.`
  )

const groupOf = (path: string) => groups.find(({ prefix }) => `${path}/`.startsWith(prefix))

/**
 * A business endpoint. It passes a call on that has a valid token which covers its group, and otherwise follows RFC 6750,
 * section 3.
 */
export const respond = (
  tokens: IssuedTokens,
  granted: ReadonlyArray<AccessScope.AccessScope>,
  call: Call,
  handle: (group: string) => Effect.Effect<HttpServerResponse.HttpServerResponse>
): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
  const endpoint = groupOf(call.path)
  if (endpoint === undefined) return Effect.succeed(noGroup(call))
  const { group, prefix, scope } = endpoint
  if (groupOf(call.path.slice(prefix.length - 1)) !== undefined) {
    return Effect.succeed(
      notFound(
        `No endpoint group has the path ${call.path}. The base URL ends with the path of a group: remove it there.`
      )
    )
  }
  const text = bearer(call.authorization)
  if (Option.isNone(text)) {
    const header = Option.isNone(call.authorization)
      ? "no Authorization header"
      : "an Authorization header of another form"
    return Effect.succeed(
      challenge(401, undefined, `The call has ${header}. Send "Authorization: Bearer" with a token.`)
    )
  }
  return Effect.matchEffect(tokens.find(text.value), {
    onFailure: (reason) => Effect.succeed(challenge(401, "invalid_token", reason)),
    onSuccess: (token) =>
      opens(token, scope)
        ? handle(group)
        : Effect.succeed(challenge(
          403,
          "insufficient_scope",
          `${group} needs the scope ${scope}. Token ${token.id} has ${token.scopes.join(" ") || "no scope"}. ${
            granted.includes(scope)
              ? "The token was requested without it: add it to CREDIT_DATA_SCOPES, and request a new token."
              : "V2 does not grant it to the client now: grant it, and request a new token."
          }`,
          `, scope="${scope}"`
        ))
  })
}
