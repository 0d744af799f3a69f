import { Effect, Redacted } from "effect"
import { makeTokenEndpoint, type Options } from "../../src/internal/tokenEndpoint.ts"
import { environment } from "./fakeEndpoint.ts"
import * as FakeTransport from "./fakeTransport.ts"

export const credentials = { clientId: "the-client", clientSecret: Redacted.make("the-secret") }

/** The options of a token endpoint like V2's. */
export const options: Options = {
  environment,
  authorizationServer: { url: environment.authV2Url, option: "authV2Url" },
  path: "/oauth2/token",
  credentials,
  scopes: ["data-access:all", "furnishment:all"]
}

/** A token endpoint with these options, over a fake transport. */
export const make = <E = never, R = never>(
  { environment: changedEnvironment = environment, ...changed }: Partial<
    & Omit<Options<E, R>, "environment">
    & { readonly environment: typeof environment }
  >,
  ...outcomes: ReadonlyArray<FakeTransport.Outcome>
) =>
  Effect.gen(function*() {
    const transport = yield* FakeTransport.make(...outcomes)
    const endpoint = yield* makeTokenEndpoint<E, R>({
      ...options,
      ...changed,
      environment: changedEnvironment,
      authorizationServer: { url: changedEnvironment.authV2Url, option: "authV2Url" }
    }).pipe(Effect.provide(transport.layer))
    return { ...endpoint, sent: transport.sent }
  })

/** The result of a token request with this outcome. */
export const requestToken = (outcome: FakeTransport.Outcome) =>
  Effect.flatMap(Effect.orDie(make({}, outcome)), (endpoint) => endpoint.requestToken({ _tag: "Nothing" }))
