import type * as AccessScope from "@credit-data/core/AccessScope"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { opens, type TokenStore } from "./tokenStore.ts"

// The contract shows no business endpoint, so these paths and their answers are our choice.
const groups: ReadonlyArray<{
  readonly prefix: string
  readonly group: string
  readonly scope: AccessScope.AccessScope
}> = [
  { prefix: "/data-access/", group: "Data Access", scope: "data-access:all" },
  { prefix: "/furnishment/", group: "Furnishment", scope: "furnishment:all" },
  { prefix: "/enablement-services/", group: "Enablement Services", scope: "serviceplus:all" }
]

const challenge = (status: number, error: string | undefined, parameters = "") =>
  HttpServerResponse.unsafeJson(error === undefined ? {} : { error }, {
    status,
    headers: {
      "www-authenticate": `Bearer realm="simulator"${error === undefined ? "" : `, error="${error}"`}${parameters}`
    }
  })

/** A business endpoint. It accepts a valid token that covers its group, and otherwise follows RFC 6750, section 3. */
export const answer = Effect.fnUntraced(function*(
  tokens: TokenStore,
  request: { readonly method: string; readonly path: string; readonly authorization: Option.Option<string> }
) {
  const endpoint = groups.find(({ prefix }) => `${request.path}/`.startsWith(prefix))
  if (endpoint === undefined) return HttpServerResponse.unsafeJson({ error: "not_found" }, { status: 404 })
  const bearer = Option.flatMap(
    request.authorization,
    (header) => Option.fromNullable(/^Bearer ([^ ]+)$/i.exec(header)?.[1])
  )
  if (Option.isNone(bearer)) return challenge(401, undefined)
  const token = yield* tokens.find(bearer.value)
  if (Option.isNone(token)) return challenge(401, "invalid_token")
  if (!opens(token.value, endpoint.scope)) return challenge(403, "insufficient_scope", `, scope="${endpoint.scope}"`)
  return HttpServerResponse.unsafeJson({ group: endpoint.group, method: request.method, path: request.path })
})
