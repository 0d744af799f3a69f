import * as Effect from "effect/Effect"
import { globalValue } from "effect/GlobalValue"
import * as Option from "effect/Option"
import type * as TokenEndpoint from "../../TokenEndpoint.ts"
import { logWarning } from "../safeLog.ts"

/** When supplies were built within the last minute, in the whole process. At `Infinity`: the warning was logged. */
const built = globalValue("@credit-data/core/builtSupplies", () => new Map<string, number>())

const minute = 60_000

/**
 * Warns once per process and client when a supply is built again for the same client. This happens when the layer is written
 * twice, or is provided inside each request.
 */
export const warnOfSecondSupply = (endpoint: TokenEndpoint.Service): Effect.Effect<void> =>
  Effect.flatMap(Effect.clock, (clock) => {
    if (endpoint.client === undefined) return Effect.void
    const now = clock.unsafeCurrentTimeMillis()
    for (const [key, at] of built) if (at !== Infinity && Math.abs(now - at) >= minute) built.delete(key)
    const scopes = Option.getOrElse(endpoint.requestedScopes, () => [])
    const key = JSON.stringify([endpoint.url, endpoint.client.id, scopes])
    const before = built.get(key)
    if (before === Infinity) return Effect.void
    built.set(key, before === undefined ? now : Infinity)
    return before !== undefined
      ? logWarning(
        "A second supply of access tokens was built within a minute for the same client, token endpoint and scopes. " +
          "Each supply sends its own token requests. Bind the layer of the token endpoint to one const and provide it " +
          "once, around the whole program, instead of inside each request."
      )
      : Effect.void
  })
