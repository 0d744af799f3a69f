import type { AccessToken } from "@credit-data/core/AccessToken"
import { Instant } from "@credit-data/core/Internal"
import type * as Clock from "effect/Clock"
import * as Equal from "effect/Equal"

// How often a call is sent, whoever sends it: after a 401 with another token, and after a closed connection.

/** The attempts of a call whose tokens are rejected, each with another token unless a reset came between. */
export const mostTokens = 3

/** The retries of a call after closed connections. */
export const mostClosedConnections = 3

const halfMillis = 5_000

/** A client that sends few calls may retry one of them this often. */
const fewest = 3

/**
 * Caps the retries of a client after closed connections at the number of its first attempts in the last five to ten seconds, or at three
 * if these were fewer. A reset of all connections then at most doubles the load, apart from these three.
 */
export const makeBudget = (clock: Clock.Clock) => {
  let since = 0
  let current = { sent: 0, resent: 0 }
  let before = { sent: 0, resent: 0 }
  const refresh = () => {
    const now = Instant.monotonicMillis(clock)
    if (now - since < halfMillis) return
    before = now - since < 2 * halfMillis ? current : { sent: 0, resent: 0 }
    current = { sent: 0, resent: 0 }
    since = now
  }
  return {
    /** A call is sent for the first time. */
    sent: (): void => {
      refresh()
      current.sent++
    },
    /** Takes a resend from the budget, if there is one. */
    take: (): boolean => {
      refresh()
      if (before.resent + current.resent >= Math.max(fewest, before.sent + current.sent)) return false
      current.resent++
      return true
    }
  }
}

/** What a call has tried, and what it may still try. */
export interface Attempts {
  /** The tokens that the API has rejected in this call. */
  readonly rejected: Array<AccessToken>
  /** Whether the call may be sent with another token. */
  readonly mayTryAnother: () => boolean
  /** Whether this call has tried the token. */
  readonly hasTried: (token: AccessToken) => boolean
  /** After a closed connection, takes an attempt of the budget, if there is one. */
  readonly mayResend: () => boolean
}

/** The attempts of a client's calls. The result begins a call. */
export const makeAttempts = (clock: Clock.Clock): () => Attempts => {
  const budget = makeBudget(clock)
  return () => {
    const rejected: Array<AccessToken> = []
    let closedConnections = 0
    budget.sent()
    return {
      rejected,
      mayTryAnother: () => rejected.length < mostTokens - 1,
      hasTried: (token) => rejected.some(({ secret }) => Equal.equals(secret, token.secret)),
      mayResend: () => {
        if (closedConnections === mostClosedConnections || !budget.take()) return false
        closedConnections++
        return true
      }
    }
  }
}

/**
 * Whether a request with this method may reach the server twice. Only safe methods, because not every server handles a PUT idempotently; or
 * any method with an `Idempotency-Key`.
 */
export const mayArriveTwice = (method: string, hasIdempotencyKey: boolean): boolean =>
  method === "GET" || method === "HEAD" || method === "OPTIONS" || hasIdempotencyKey

/** The most bytes that are read of the body of a 401, which may be unused. */
export const mostRead = 64 * 1024

/** The most time that it takes. */
export const mostReadMillis = 1_000

/** The body of a 401 that was not read to its end. */
export const cut = (): Error =>
  new Error(
    "The body of this 401 is incomplete: its connection failed, or it has more than 64 KiB or took more than a second"
  )
