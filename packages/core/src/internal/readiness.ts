import * as Effect from "effect/Effect"
import type { Service } from "../AccessTokens.ts"
import { isUsable, type TokenStatus } from "../TokenStatus.ts"
import { within } from "./within.ts"

/** Less than a second, so that a probe gets its response in time. */
const patience = "800 millis"

const hasToken = ({ phase }: TokenStatus): boolean => phase !== "None" && phase !== "Expired"

/**
 * Whether callers get a token that covers a requested scope. Where they do not, it requests a token and waits for a moment: a process that
 * is not ready gets no calls, and nothing else would request one.
 */
export const readiness = Effect.fnUntraced(
  function*(tokens: Service): Effect.fn.Return<{ readonly isReady: boolean; readonly status: TokenStatus }> {
    const before = yield* tokens.status
    // after the supply has ended, callers get a failure
    if (!hasToken(before) || !isUsable(before)) yield* Effect.exit(within(patience, () => "too late")(tokens.get))
    const status = yield* tokens.status
    return { isReady: hasToken(status) && isUsable(status), status }
  }
)
