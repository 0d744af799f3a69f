import * as Effect from "effect/Effect"
import { globalValue } from "effect/GlobalValue"
import type * as TokenEndpoint from "../TokenEndpoint.ts"
import { secondSupply } from "./logLines.ts"
import { clientOf } from "./printable.ts"

const minute = 60_000

/** The supplies that were built within the last minute, in the whole process and in this order, and whether the warning was logged. */
const built = globalValue(
  "@credit-data/core/builtSupplies",
  () => new Map<string, { readonly at: number; readonly isLogged: boolean }>()
)

/**
 * Warns when a supply is built again for the same client within a minute. This happens when the layer is written twice, or is provided
 * inside each request, where one warning has to do.
 */
export const warnOfSecondSupply = (endpoint: TokenEndpoint.Service): Effect.Effect<void> =>
  Effect.flatMap(Effect.clock, (clock) => {
    if (endpoint.clientId === undefined) return Effect.void
    const now = clock.unsafeCurrentTimeMillis()
    const isRecent = ({ at }: { readonly at: number }) => Math.abs(now - at) < minute
    for (const [key, supply] of built) {
      if (isRecent(supply)) break
      built.delete(key)
    }
    const key = JSON.stringify([endpoint.url, endpoint.clientId, endpoint.requestedScopes])
    const found = built.get(key)
    // supplies with other clocks may stand before it
    const before = found !== undefined && isRecent(found) ? found : undefined
    // the newest is last
    built.delete(key)
    built.set(key, { at: now, isLogged: before !== undefined })
    return before === undefined || before.isLogged
      ? Effect.void
      : secondSupply(`${endpoint.url} (${clientOf(endpoint.environment.name, endpoint.clientId)})`)
  })
