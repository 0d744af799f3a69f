import type { AccessToken, TokenEvent } from "@credit-data/core"
import { DateTime, Either } from "effect"
import type { TokenResponse, Endpoint } from "./endpoint.ts"
import { second } from "./scenario.ts"

/** The time that a store takes to respond. */
const latency = 1

/** How often a client that waits for another client's request reads the store. */
const pollInterval = 100

/** How long a failure is shared. */
const failureMemory = second

/** May this token replace the client's token? */
const isUsable = (token: AccessToken.AccessToken, now: number, replaces: TokenEvent.RequestReason): boolean =>
  DateTime.toEpochMillis(token.expiresAt) > now && !("token" in replaces && replaces.token === token)

/** A store that never fails: one client requests a token for the whole fleet, and the others take it. */
export const make = (endpoint: Endpoint): Endpoint => {
  let last: TokenResponse | undefined
  return {
    ask: (now, replaces) => {
      if (last !== undefined) {
        // a request is under way, and everyone waits for it
        if (now < last.at) {
          const polls = Math.ceil((last.at - now) / pollInterval)
          return { at: now + polls * pollInterval, outcome: last.outcome }
        }
        const serves = Either.match(last.outcome, {
          onLeft: () => last !== undefined && now < last.at + failureMemory,
          onRight: (token) => isUsable(token, now, replaces)
        })
        if (serves) return { at: now + latency, outcome: last.outcome }
      }
      last = endpoint.ask(now, replaces)
      return last
    }
  }
}
