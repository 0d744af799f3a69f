import type * as AccessTokens from "@credit-data/core/AccessTokens"
import type { TokenStatus } from "@credit-data/core/TokenStatus"
import type { TokenEvent } from "@credit-data/core/TokenEvent"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { VersionReport } from "../MigrationReport.ts"

/** Counts what happens with one version, and passes its events on. */
export interface Tally {
  readonly report: (status: TokenStatus) => VersionReport
  /** How many tokens callers got. */
  readonly served: () => number
  readonly serve: () => void
  readonly rejected: () => void
}

export const make = Effect.fnUntraced(
  function*(
    supply: AccessTokens.Service,
    publish: (event: TokenEvent) => Effect.Effect<void>
  ): Effect.fn.Return<Tally, never, Scope.Scope> {
    const counts = { tokensObtained: 0, tokenRequestsFailed: 0, tokensServed: 0, tokensRejected: 0 }
    yield* Effect.forkScoped(
      Stream.runForEach(supply.events, (event) => {
        if (event._tag === "Obtained" || event._tag === "Renewed") counts.tokensObtained++
        if (event._tag === "Failed") counts.tokenRequestsFailed++
        return publish(event)
      })
    )
    // the listener has to listen before the first token request is sent
    yield* Effect.yieldNow()
    return {
      report: ({ lastFailure, missingScopes, scopes }) => ({ ...counts, scopes, missingScopes, lastFailure }),
      served: () => counts.tokensServed,
      serve: () => {
        counts.tokensServed++
      },
      rejected: () => {
        counts.tokensRejected++
      }
    }
  }
)
