import { AccessToken, TokenEndpoint } from "@credit-data/core"
import { DateTime, Duration, Effect, Layer, Redacted } from "effect"

const environment = { name: "benchmark", audience: "a", baseUrl: "http://localhost" }

/** A token endpoint in memory, for this client. */
export const endpoint = (
  requestToken: TokenEndpoint.Service["requestToken"],
  clientId = "id"
): Layer.Layer<TokenEndpoint.TokenEndpoint> =>
  Layer.succeed(TokenEndpoint.TokenEndpoint, {
    environment,
    clientId,
    url: "http://localhost/oauth2/token",
    requestedScopes: [],
    deadline: Duration.seconds(10),
    requestToken
  })

/** A token of this lifetime, requested now. */
export const token = (text: string, lifetime: Duration.DurationInput): Effect.Effect<AccessToken.AccessToken> =>
  Effect.map(DateTime.now, (requestedAt) =>
    new AccessToken.AccessToken({
      secret: Redacted.make(text),
      scopes: [],
      requestedAt,
      expiresAt: DateTime.addDuration(requestedAt, lifetime)
    }))

/** A token endpoint that responds at once. */
export const instantEndpointOf = (clientId: string): Layer.Layer<TokenEndpoint.TokenEndpoint> =>
  endpoint(() => token("token", "24 hours"), clientId)

export const instantEndpoint = instantEndpointOf("id")
