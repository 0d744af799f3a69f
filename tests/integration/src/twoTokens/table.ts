import type { run } from "./run.ts"
import {
  acceptsAfter,
  acceptsAll,
  acceptsNewestOnly,
  type Api,
  both,
  hasBadNode,
  learnsKeyAfter,
  refusesOnePath,
  refusesSecondToken,
  revokesAt
} from "./worlds.ts"

/** At most this many calls fail, if their bodies can be sent again or not, and at most this many tokens are requested. */
interface Bounds {
  readonly failing: number
  readonly failingStreams: number
  readonly requests: number
}

const bounds = (failing: number, failingStreams: number, requests: number): Bounds => ({
  failing,
  failingStreams,
  requests
})

export interface World {
  readonly api: Api
  /** For how long it is called. Default: 4 minutes, after which nothing changes any more. */
  readonly seconds?: number
  readonly options?: Partial<Parameters<typeof run>[1]>
  /** Of 20 calls a second, by a process whose token is renewed after one minute. */
  readonly warm: Bounds
  /** The same, by a process that starts without a token. */
  readonly cold: Bounds
}

/**
 * What a simulation of the rule has shown, as bounds. In 5 minutes, one path of twenty is 300 calls. The simulation adds up its time in
 * steps, and the rounding decides which of two events at one instant comes first. In another order, a few calls more may fail.
 */
export const worlds: Readonly<Record<string, World>> = {
  "accepts every token": { api: acceptsAll, warm: bounds(0, 0, 2), cold: bounds(0, 0, 1) },
  "accepts a token after 3 s": { api: acceptsAfter(3), warm: bounds(0, 3, 2), cold: bounds(63, 66, 2) },
  "accepts a token after 29 s": { api: acceptsAfter(29), warm: bounds(0, 3, 2), cold: bounds(583, 586, 2) },
  "accepts a token after 31 s": { api: acceptsAfter(31), warm: bounds(0, 3, 2), cold: bounds(623, 625, 3) },
  "accepts a token after 45 s": { api: acceptsAfter(45), warm: bounds(0, 3, 2), cold: bounds(903, 905, 3) },
  "accepts a token after 75 s": { api: acceptsAfter(75), warm: bounds(0, 3, 2), cold: bounds(3_314, 1_507, 7) },
  "does not know a new signing key for 5 minutes": {
    api: learnsKeyAfter(300),
    seconds: 420,
    warm: bounds(0, 3, 2),
    cold: bounds(5_996, 5_998, 11)
  },
  "does not know a new signing key for 10 minutes": {
    api: learnsKeyAfter(600),
    seconds: 720,
    warm: bounds(1_295, 1_301, 5),
    cold: bounds(11_994, 11_997, 21)
  },
  "refuses the second token for ever": { api: refusesSecondToken, warm: bounds(0, 13, 3), cold: bounds(0, 0, 1) },
  "revokes all tokens": { api: revokesAt(160), warm: bounds(0, 10, 3), cold: bounds(0, 8, 2) },
  "revokes all tokens, and the next token request fails": {
    api: revokesAt(160),
    options: { failsOnce: true },
    warm: bounds(21, 31, 4),
    cold: bounds(21, 29, 3)
  },
  "revokes all tokens twice within 30 s": {
    api: revokesAt(160, 190),
    warm: bounds(0, 20, 4),
    cold: bounds(0, 16, 3)
  },
  "accepts only the newest token": { api: acceptsNewestOnly, warm: bounds(0, 2, 2), cold: bounds(0, 0, 1) },
  "refuses one path": {
    api: refusesOnePath,
    seconds: 300,
    warm: bounds(300, 300, 11),
    cold: bounds(300, 300, 11)
  },
  "refuses one path, and accepts a token after 3 s": {
    api: both(refusesOnePath, acceptsAfter(3)),
    seconds: 300,
    warm: bounds(300, 388, 11),
    cold: bounds(359, 440, 11)
  },
  "refuses one path, and accepts a token after 31 s": {
    api: both(refusesOnePath, acceptsAfter(31)),
    seconds: 600,
    warm: bounds(692, 2_040, 21),
    cold: bounds(1_191, 2_488, 21)
  },
  "refuses one path, and does not know a new signing key for 5 minutes": {
    api: both(refusesOnePath, learnsKeyAfter(300)),
    seconds: 420,
    warm: bounds(420, 1_042, 15),
    cold: bounds(6_116, 6_118, 15)
  },
  "refuses one path, and revokes all tokens": {
    api: both(refusesOnePath, revokesAt(160)),
    seconds: 300,
    warm: bounds(699, 787, 11),
    cold: bounds(718, 806, 11)
  },
  "has one bad node of three": {
    api: hasBadNode,
    seconds: 300,
    warm: bounds(674, 2_021, 11),
    cold: bounds(674, 2_021, 11)
  }
}
