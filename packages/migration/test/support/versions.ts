import { AccessScope, AccessToken, AccessTokens, TokenEndpoint, TokenError } from "@credit-data/core"
import { Migration, type Plan } from "@credit-data/migration"
import { HttpClient } from "@effect/platform"
import { Context, DateTime, Duration, Effect, Layer, Redacted } from "effect"

/** How a token endpoint behaves. */
export type Behaviour = "grants" | "grants too little" | "refuses" | "is busy" | "has no host" | "hangs"

export const environment = { name: "test", audience: "audience", baseUrl: "https://api.example" }

const scopes = ["data-access:all", "furnishment:all"] as const

/** A token endpoint in memory. Each token lives for an hour. */
const makeEndpoint = (version: "V1" | "V2", own = environment) => {
  const server = { requests: 0, behaviour: "grants" satisfies Behaviour as Behaviour }
  const url = `https://${version.toLowerCase()}.example/token`
  const where = { environment: own.name, tokenEndpoint: url }
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
    environment: own,
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

/** A migration over two token endpoints in memory. The test sets the plan and how the endpoints behave. */
export const setUp = Effect.fnUntraced(function*(
  initial: Plan.Plan,
  options: {
    readonly read?: (plan: () => Plan.Plan) => Effect.Effect<Plan.Plan, unknown>
    readonly environmentOfV1?: typeof environment
    readonly planInterval?: Duration.DurationInput
    /** The business API. */
    readonly client?: HttpClient.HttpClient
  } = {}
) {
  const v1 = makeEndpoint("V1", options.environmentOfV1)
  const v2 = makeEndpoint("V2")
  let plan = initial
  /** How often the plan was read, and what a reading does instead of returning it. */
  const reads = { count: 0, instead: undefined as Effect.Effect<Plan.Plan, unknown> | undefined }
  const read = Effect.suspend(() => {
    reads.count++
    return reads.instead ?? options.read?.(() => plan) ?? Effect.succeed(plan)
  })
  const layer = Migration.layer({ v1: v1.layer, v2: v2.layer, plan: read, planInterval: options.planInterval }).pipe(
    Layer.provide(Layer.succeed(HttpClient.HttpClient, options.client ?? HttpClient.make(() => Effect.never)))
  )
  const context = yield* Layer.build(layer)
  return {
    layer,
    v1: v1.server,
    v2: v2.server,
    reads,
    setPlan: (next: Plan.Plan) => {
      plan = next
    },
    migration: Context.get(context, Migration.Migration),
    tokens: Context.get(context, AccessTokens.AccessTokens)
  }
})

export const textOf = (token: AccessToken.AccessToken) => Redacted.value(token.secret)
