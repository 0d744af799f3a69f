import type { TokenError } from "@credit-data/core"
import { Pause } from "@credit-data/core/Internal"
import { type Duration, Effect } from "effect"
import * as Draw from "./draw.ts"

/** The pauses of one client, from its first failure until its next token. */
export interface Streak {
  readonly after: (error: TokenError.TokenError) => Duration.Duration
}

/** To step a schedule takes 15 µs, so the clients share this many streaks. */
const size = 50

/** Pauses from the default schedule, which are drawn when they are first needed. They do not depend on the retryable failure. */
const shared = (draw: Draw.Draw) => {
  const random = Draw.service(draw)
  const pauses = Pause.make(Pause.doubling)
  const drawn: Array<Duration.Duration> = []
  return (index: number, error: TokenError.TokenError) =>
    drawn[index] ??= Effect.runSync(Effect.withRandom(pauses.after(error), random))
}

/** Streaks of pauses, for failures that are retryable. */
export const make = (draw: Draw.Draw): { readonly begin: () => Streak } => {
  const sources = draw.split()
  const [first = shared(sources), ...others] = Array.from({ length: size }, () => shared(sources.split()))
  return {
    begin: () => {
      const pause = others[Math.floor(draw.next() * size) - 1] ?? first
      let failures = 0
      return { after: (error) => pause(failures++, error) }
    }
  }
}
