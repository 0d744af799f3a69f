import { AccessToken, TokenError, type TokenEvent } from "@credit-data/core"
import { DateTime, Either, Redacted } from "effect"
import { deadline, lifetime, outageOf, type Scenario, second } from "./scenario.ts"

/** The response to a token request, and when it arrives. */
export interface TokenResponse {
  readonly at: number
  readonly outcome: Either.Either<AccessToken.AccessToken, TokenError.TokenError>
}

/** A token endpoint. It gets requests in the order of time. */
export interface Endpoint {
  readonly ask: (now: number, replaces: TokenEvent.RequestReason) => TokenResponse
}

/** The time from a request to its response, at an endpoint that is not busy. */
const latency = 200

export const where = { environment: "simulation", tokenEndpoint: "https://oauth.simulation.example/oauth2/token" }

export const timeout: TokenError.TokenError = new TokenError.TransportError({ ...where, reason: "Timeout" })
const noResponse = Either.left(timeout)
const refusal = Either.left<TokenError.TokenError>(new TokenError.ServerError({ ...where, status: 503 }))

const secret = Redacted.make("a token")

const grant = (requestedAt: number) =>
  new AccessToken.AccessToken({
    secret,
    scopes: [],
    requestedAt: DateTime.unsafeMake(requestedAt),
    expiresAt: DateTime.unsafeMake(requestedAt + lifetime),
    covered: ["data-access:all", "furnishment:all", "serviceplus:all"]
  })

/** The requests that an endpoint got. */
export interface Traffic {
  readonly perSecond: Uint32Array
  failures: number
}

export const traffic = ({ duration }: Scenario): Traffic => ({
  perSecond: new Uint32Array(Math.ceil(duration / second)),
  failures: 0
})

/** An endpoint with one queue. It also responds to requests whose client has stopped waiting, as most servers do. */
export const make = (scenario: Scenario, traffic: Traffic): Endpoint => {
  const outage = outageOf(scenario)
  let freeAt = 0
  const respond = (now: number): TokenResponse => {
    if (now >= outage.from && now < outage.to) return { at: now + latency, outcome: refusal }
    if (scenario.capacity !== undefined) freeAt = Math.max(freeAt, now) + second / scenario.capacity
    const at = Math.max(now, Math.ceil(freeAt)) + latency
    return at - now < deadline
      ? { at, outcome: Either.right(grant(now)) }
      : { at: now + deadline, outcome: noResponse }
  }
  return {
    ask: (now) => {
      const response = respond(now)
      const index = Math.floor(now / second)
      traffic.perSecond[index] = (traffic.perSecond[index] ?? 0) + 1
      if (Either.isLeft(response.outcome)) traffic.failures++
      return response
    }
  }
}
