import { TokenEndpoint, Replaces } from "@credit-data/core"
import { Effect, Option, Redacted } from "effect"
import { environment } from "./fakeEndpoint.ts"
import * as FakeTransport from "./fakeTransport.ts"

export const credentials = { clientId: "the-client", clientSecret: Redacted.make("the-secret") }

/** The options of a token endpoint like V2's. */
export const options: TokenEndpoint.Options = {
  environment,
  authorizationServer: "authV2Url",
  path: "/oauth2/token",
  credentials,
  requestedScopes: Option.some(["data-access:all", "furnishment:all"]),
  coverage: "GrantedScopes"
}

/** A token endpoint with these options, over a fake transport. */
export const make = <E = never, R = never>(
  changed: Partial<TokenEndpoint.Options<E, R>>,
  ...outcomes: ReadonlyArray<FakeTransport.Outcome>
) =>
  Effect.gen(function*() {
    const transport = yield* FakeTransport.make(...outcomes)
    const endpoint = yield* TokenEndpoint.make<E, R>({ ...options, ...changed }).pipe(Effect.provide(transport.layer))
    return { ...endpoint, sent: transport.sent }
  })

/** The result of a token request with this outcome. */
export const requestToken = (outcome: FakeTransport.Outcome) =>
  Effect.flatMap(Effect.orDie(make({}, outcome)), (endpoint) => endpoint.requestToken(Replaces.Nothing()))
