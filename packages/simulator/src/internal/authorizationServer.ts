import * as AccessScope from "@credit-data/core/AccessScope"
import type * as ClientCredentials from "@credit-data/core/ClientCredentials"
import type * as HttpHeaders from "@effect/platform/Headers"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type { IssuedTokens } from "./issuedTokens.ts"
import { schemeOf } from "./visible.ts"

// What the simulated authorization servers respond.

type Version = "V1" | "V2"

interface State {
  readonly audience: string
  readonly credentials: ClientCredentials.ClientCredentials
  readonly tokenLifetime: Duration.Duration
  /** The only scopes that V2 grants. */
  readonly grantedScopes: ReadonlyArray<AccessScope.AccessScope>
}

interface TokenRequest {
  readonly id: number
  readonly method: string
  readonly path: string
  readonly headers: HttpHeaders.Headers
  readonly authorization: Option.Option<Redacted.Redacted>
  readonly body: Uint8Array
}

const paths = { V1: "/oauth/token", V2: "/oauth2/token" }

/** Scope names of V1 as the contract shows them. The contract does not list all names. */
const legacyScopes = ["read:consumers", "write:consumers", "read:credit.simulated.score.vantage3"]

const noStore = { "cache-control": "no-store" }

const failure = (status: number, error: string, description: string) =>
  HttpServerResponse.unsafeJson({ error, error_description: description }, { status, headers: noStore })

/** The scheme of a client that sent the header `Authorization` is part of the response (RFC 6749, section 5.2). */
const invalidClient = (description: string, { authorization }: TokenRequest) => {
  const response = failure(401, "invalid_client", description)
  const scheme = Option.getOrElse(Option.map(authorization, schemeOf), () => "")
  return scheme === ""
    ? response
    : HttpServerResponse.setHeader(response, "www-authenticate", `${scheme} realm="simulator"`)
}

/** A name of another form could be a secret. */
const named = (field: string) => /^[a-z_]{1,40}$/.test(field) ? `The field ${field}` : "A field"

const isForm = (headers: HttpHeaders.Headers) =>
  /^application\/x-www-form-urlencoded\s*(;|$)/i.test(headers["content-type"] ?? "")

/**
 * A token endpoint that follows section 4 of the contract. Where the contract specifies nothing (a missing field, a
 * wrong audience, an unknown scope), it follows RFC 6749, section 5.2, and RFC 8707.
 */
export const respond = Effect.fnUntraced(function*(
  version: Version,
  state: State,
  tokens: IssuedTokens,
  request: TokenRequest
) {
  if (request.path !== paths[version]) return failure(404, "not_found", "There is no such path here.")
  if (request.method !== "POST") {
    return HttpServerResponse.setHeader(failure(405, "invalid_request", "Use POST."), "allow", "POST")
  }
  if (!isForm(request.headers)) return failure(400, "invalid_request", "Use application/x-www-form-urlencoded.")

  const form = new URLSearchParams(new TextDecoder().decode(request.body))
  const names = [...form.keys()]
  const repeated = names.find((name, index) => names.indexOf(name) !== index)
  if (repeated !== undefined) return failure(400, "invalid_request", `${named(repeated)} is there twice.`)

  const field = (name: string) => form.get(name) ?? ""
  if (field("client_id") === "" || field("client_secret") === "") {
    return invalidClient("No client authentication was included.", request)
  }
  const { clientId, clientSecret } = state.credentials
  if (field("client_id") !== clientId || field("client_secret") !== Redacted.value(clientSecret)) {
    return invalidClient("The client is unknown, or its secret doesn't match.", request)
  }
  const required = version === "V1" ? ["audience", "grant_type"] : ["audience", "scope", "grant_type"]
  const missing = required.find((name) => field(name) === "")
  if (missing !== undefined) return failure(400, "invalid_request", `The field ${missing} is missing.`)
  if (field("grant_type") !== "client_credentials") {
    return failure(400, "unsupported_grant_type", "Use client_credentials.")
  }
  if (field("audience") !== state.audience) return failure(400, "invalid_target", "The audience is unknown here.")

  // a name is not empty (RFC 6749, section 3.3)
  const asked = field("scope").split(" ")
  if (version === "V2" && !asked.every(Schema.is(AccessScope.AccessScope))) {
    return failure(400, "invalid_scope", "A scope is unknown or empty.")
  }
  const scopes = version === "V1" ? legacyScopes : state.grantedScopes.filter((scope) => asked.includes(scope))
  return HttpServerResponse.unsafeJson({
    access_token: yield* tokens.issue({ version, scopes }, state.tokenLifetime, request.id),
    scope: scopes.join(" "),
    expires_in: Math.floor(Duration.toSeconds(state.tokenLifetime)),
    token_type: "Bearer"
  }, { headers: noStore })
})
