import { type AccessScope, AccessToken, AccessTokens, type TokenError } from "@credit-data/core"
import { HttpClient, type HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { DateTime, Effect, Layer, Redacted, Ref, Stream } from "effect"

const token = (text: string, scopes: ReadonlyArray<string>, covered?: ReadonlyArray<AccessScope.AccessScope>) =>
  new AccessToken.AccessToken({
    secret: Redacted.make(text),
    scopes,
    requestedAt: DateTime.unsafeMake(0),
    expiresAt: DateTime.unsafeMake(1e12),
    covered
  })

/** A supply that returns token-1 until that is invalidated, then token-2, and so on, with at most `renewals` renewals. */
export const supply = (options: {
  readonly baseUrl?: string
  readonly granted?: ReadonlyArray<string>
  readonly covered?: ReadonlyArray<AccessScope.AccessScope>
  readonly requested?: AccessTokens.Service["requestedScopes"]
  readonly renewals?: number
  readonly replacementFails?: TokenError.TokenError
} = {}) =>
  Effect.map(Ref.make(1), (number): AccessTokens.Service => {
    const get = Effect.map(Ref.get(number), (number) =>
      token(
        `token-${number}`,
        options.granted ?? ["data-access:all", "furnishment:all", "serviceplus:all"],
        options.covered
      ))
    const invalidate = (rejected: AccessToken.AccessToken) =>
      Ref.update(number, (number) =>
        Redacted.value(rejected.secret) === `token-${number}` && number <= (options.renewals ?? 1)
          ? number + 1
          : number)
    return {
      environment: { name: "test", audience: "a", baseUrl: options.baseUrl ?? "https://api.example/v1" },
      requestedScopes: options.requested ?? ["data-access:all", "furnishment:all", "serviceplus:all"],
      get,
      invalidate,
      replace: (rejected) =>
        Effect.zipRight(
          invalidate(rejected),
          options.replacementFails === undefined ? get : Effect.fail(options.replacementFails)
        ),
      refresh: get,
      scopeMissing: () =>
        Effect.succeed(DateTime.unsafeMake(60_000)),
      status: Effect.die("not needed here"),
      events: Stream.empty
    }
  })

/** A transport without a network, which records each request and responds to it. */
export const transport = (respond: (request: HttpClientRequest.HttpClientRequest) => Response) =>
  Effect.map(Ref.make<ReadonlyArray<HttpClientRequest.HttpClientRequest>>([]), (sent) => ({
    sent: Ref.get(sent),
    client: HttpClient.make((request) =>
      Effect.as(
        Ref.update(sent, (all) => [...all, request]),
        HttpClientResponse.fromWeb(request, respond(request))
      )
    )
  }))

/** The layer of a group over this supply and this client. */
export const over = <A, E>(
  layer: Layer.Layer<A, E, AccessTokens.AccessTokens | HttpClient.HttpClient>,
  tokens: AccessTokens.Service,
  client: HttpClient.HttpClient
) =>
  layer.pipe(
    Layer.provide(Layer.succeed(AccessTokens.AccessTokens, tokens)),
    Layer.provide(Layer.succeed(HttpClient.HttpClient, client))
  )

/** Returns 401 to requests with these tokens, and 200 to all others. */
export const rejecting = (...tokens: ReadonlyArray<string>) => (request: HttpClientRequest.HttpClientRequest) =>
  new Response("the body", {
    status: tokens.some((text) => request.headers["authorization"] === `Bearer ${text}`) ? 401 : 200
  })

export const bearers = (sent: ReadonlyArray<HttpClientRequest.HttpClientRequest>) =>
  sent.map(({ headers }) => headers["authorization"])
