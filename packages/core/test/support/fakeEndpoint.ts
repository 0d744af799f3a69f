import { AccessToken, TokenEndpoint, TokenError } from "@credit-data/core"
import { DateTime, Duration, Effect, Layer, Redacted, Ref } from "effect"

export const environment = {
  name: "test",
  audience: "audience",
  baseUrl: "https://api.example",
  authV1Url: "https://v1.example",
  authV2Url: "https://v2.example"
}

/** A token with this text, which was requested now, or some time ago. Its lifetime begins now. */
export const token = (
  text: string,
  lifetime: Duration.DurationInput,
  { age = 0, scopes = ["data-access:all"] }: {
    readonly scopes?: ReadonlyArray<string>
    readonly age?: Duration.DurationInput
  } = {}
) =>
  Effect.map(DateTime.now, (now) =>
    new AccessToken.AccessToken({
      secret: Redacted.make(text),
      scopes,
      requestedAt: DateTime.subtractDuration(now, age),
      expiresAt: DateTime.addDuration(now, lifetime)
    }))

export const textOf = (token: AccessToken.AccessToken) => Redacted.value(token.secret)

const where = { environment: "test", tokenEndpoint: "https://v2.example/oauth2/token" }

export const failures = {
  unavailable: new TokenError.ServerError({ ...where, endpointStatus: 503 }),
  limited: new TokenError.ServerError({ ...where, endpointStatus: 429 }),
  limitedFor: (retryAfter: Duration.DurationInput) =>
    new TokenError.ServerError({ ...where, endpointStatus: 429, retryAfter: Duration.decode(retryAfter) }),
  unavailableFor: (retryAfter: Duration.DurationInput) =>
    new TokenError.ServerError({ ...where, endpointStatus: 503, retryAfter: Duration.decode(retryAfter) }),
  refused: new TokenError.InvalidClient({ ...where, endpointStatus: 401, error: "invalid_client" }),
  outside: new TokenError.InvalidResponse({ ...where, endpointStatus: 200, rule: "Json" }),
  timeout: new TokenError.TransportError({ ...where, reason: "Timeout" }),
  reset: new TokenError.TransportError({ ...where, reason: "Reset" }),
  tls: new TokenError.TransportError({ ...where, reason: "Tls" })
}

export type Respond = (text: string) => Effect.Effect<AccessToken.AccessToken, TokenError.TokenError>

/**
 * A token endpoint without a network, which counts its requests. By default a request takes 100 ms and returns token-1, token-2,
 * …, each with a lifetime of one hour.
 */
export const make = (options: {
  readonly latency?: Duration.DurationInput
  readonly lifetime?: Duration.DurationInput
  readonly deadline?: Duration.DurationInput
  readonly clientId?: string
  readonly scopes?: TokenEndpoint.Service["requestedScopes"]
  readonly sharing?: TokenEndpoint.Sharing
  /** How it responds at the beginning and after it has recovered. Default: with a token of this lifetime. */
  readonly grant?: Respond
} = {}) =>
  Effect.gen(function*() {
    const grant: Respond = options.grant ?? ((text) => token(text, options.lifetime ?? "1 hour"))
    const requests = yield* Ref.make(0)
    const aborted = yield* Ref.make(0)
    const current = yield* Ref.make(grant)
    const requestToken = () =>
      Effect.gen(function*() {
        const number = yield* Ref.updateAndGet(requests, (count) => count + 1)
        const outcome = yield* Effect.flatMap(Ref.get(current), (respond) => respond(`token-${number}`)).pipe(
          Effect.exit
        )
        if (options.latency !== 0) yield* Effect.sleep(options.latency ?? "100 millis")
        return yield* outcome
      }).pipe(Effect.onInterrupt(() => Ref.update(aborted, (count) => count + 1)))
    return {
      /** The number of token requests. */
      requests: Ref.get(requests),
      /** The number of token requests that were aborted. */
      aborted: Ref.get(aborted),
      /** Sets how the endpoint responds to all later requests. */
      respond: (next: Respond) => Ref.set(current, next),
      fail: (error: TokenError.TokenError) => Ref.set(current, () => Effect.fail(error)),
      recover: Ref.set(current, grant),
      layer: Layer.succeed(TokenEndpoint.TokenEndpoint, {
        environment,
        url: where.tokenEndpoint,
        version: "V2",
        clientId: options.clientId,
        requestedScopes: options.scopes ?? ["data-access:all"],
        deadline: Duration.decode(options.deadline ?? "10 seconds"),
        sharing: options.sharing,
        requestToken
      })
    }
  })
