// A program whose token request fails, and which makes each error of the packages. It is bundled with both kinds of class fields.

import { AuthV2 } from "@credit-data/auth-v2"
import { AccessTokens, TokenError } from "@credit-data/core"
import { StoreError } from "@credit-data/fleet"
import * as StoreContract from "@credit-data/fleet/StoreContract"
import { InsufficientScope } from "@credit-data/http-client"
import { FixtureError } from "@credit-data/simulator"
import { HttpClient, HttpClientResponse } from "@effect/platform"
import { Effect, Layer, Redacted } from "effect"

const refusing = HttpClient.make((request) =>
  Effect.succeed(HttpClientResponse.fromWeb(request, Response.json({ error: "invalid_client" }, { status: 401 })))
)
const Auth = AuthV2.layer({
  environment: {
    name: "sandbox",
    audience: "https://api.example",
    baseUrl: "https://api.example",
    authV2Url: "https://auth.example"
  },
  credentials: { clientId: "a-client", clientSecret: Redacted.make("a-secret") },
  scopes: ["data-access:all"]
})
const get = Effect.flatMap(AccessTokens.AccessTokens, (tokens) => tokens.get).pipe(
  Effect.provide(Layer.provide(Auth, Layer.succeed(HttpClient.HttpClient, refusing)))
)
const where = { environment: "sandbox", tokenEndpoint: "https://auth.example" }

export const refused = await Effect.runPromise(Effect.flip(get))
export const errors = [
  refused,
  new TokenError.InvalidClient({ ...where, endpointStatus: 401 }),
  new TokenError.ServerError({ ...where, endpointStatus: 500 }),
  new TokenError.InvalidResponse({ ...where, endpointStatus: 200, rule: "Json" }),
  new TokenError.TransportError({ ...where, reason: "Reset" }),
  new InsufficientScope.InsufficientScope({ environment: "sandbox", needed: "data-access:all", granted: [] }),
  new StoreError.StoreError({ reason: "Refused", code: "OOM" }),
  new StoreContract.ContractBroken({ rule: "a", expected: "b", observed: "c" }),
  new FixtureError.FixtureError({ file: "a.json", reason: "b" })
]
