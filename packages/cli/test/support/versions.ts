import { AccessScope, AccessToken, AccessTokens, TokenEndpoint, TokenError } from "@credit-data/core"
import { Context, DateTime, Duration, Effect, Layer, Redacted } from "effect"

/** How a token endpoint behaves. */
type Behaviour = "grants" | "grants too little" | "refuses" | "is busy" | "has no host" | "hangs"

const environment = { name: "test", audience: "audience", baseUrl: "https://api.example" }

const scopes = ["data-access:all", "furnishment:all"] as const

/** A token endpoint in memory. Each token lives for an hour. */
const makeEndpoint = (version: "V1" | "V2") => {
  const server = { requests: 0, behaviour: "grants" satisfies Behaviour as Behaviour }
  const url = `https://${version.toLowerCase()}.example/token`
  const where = { environment: environment.name, tokenEndpoint: url }
  const requestToken = Effect.fnUntraced(function*() {
    const number = ++server.requests
    if (server.behaviour === "hangs") return yield* Effect.never
    if (server.behaviour === "refuses") {
      return yield* new TokenError.InvalidClient({ ...where, endpointStatus: 401 })
    }
    if (server.behaviour === "is busy") return yield* new TokenError.ServerError({ ...where, endpointStatus: 503 })
    if (server.behaviour === "has no host") {
      return yield* new TokenError.TransportError({ ...where, reason: "NameNotFound" })
    }
    const requestedAt = yield* DateTime.now
    return new AccessToken.AccessToken({
      secret: Redacted.make(`${version}-${number}`),
      scopes: version === "V1" ? ["read:consumers"] : server.behaviour === "grants" ? scopes : scopes.slice(0, 1),
      requestedAt,
      expiresAt: DateTime.addDuration(requestedAt, Duration.hours(1)),
      ...(version === "V1" && { covered: AccessScope.all })
    })
  })
  const endpoint: TokenEndpoint.Service = {
    environment,
    url,
    version,
    requestedScopes: version === "V1" ? [] : scopes,
    deadline: Duration.seconds(10),
    requestToken
  }
  const layer = AccessTokens.layer({ renewalWindow: { from: 0.8, to: 0.8 } }).pipe(
    Layer.provide(Layer.succeed(TokenEndpoint.TokenEndpoint, endpoint))
  )
  return { server, layer }
}

/** The supplies of both versions over token endpoints in memory. The test sets how the endpoints behave. */
export const setUp = Effect.gen(function*() {
  const v1 = makeEndpoint("V1")
  const v2 = makeEndpoint("V2")
  const supplyOf = ({ layer }: typeof v1) => Effect.map(Layer.build(layer), Context.get(AccessTokens.AccessTokens))
  return { v1: v1.server, v2: v2.server, supplies: { v1: yield* supplyOf(v1), v2: yield* supplyOf(v2) } }
})
