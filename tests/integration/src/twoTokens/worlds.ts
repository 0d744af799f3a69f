// APIs that reject tokens for different reasons, which a 401 does not show.

/** A token, as the API sees it. */
export interface Issued {
  readonly number: number
  /** In seconds. */
  readonly issuedAt: number
}

/** What an API knows when it decides. Times are in seconds. */
interface Seen {
  readonly now: number
  readonly path: number
  /** When the renewal of the first token was due. */
  readonly renewedAt: number
  /** The number of the newest token. */
  readonly newest: number
  /** The next number from 0 to 1 of a fixed sequence. */
  readonly random: () => number
}

/** Whether the API accepts a token. */
export type Api = (token: Issued, seen: Seen) => boolean

const all = (...apis: ReadonlyArray<Api>): Api => (token, seen) => apis.every((api) => api(token, seen))

export const acceptsAll: Api = () => true

/** A token is accepted this many seconds after it was issued. */
export const acceptsAfter = (seconds: number): Api => ({ issuedAt }, { now }) => now - issuedAt >= seconds

/** The API learns the key that has signed the tokens since the renewal this many seconds later. */
export const learnsKeyAfter = (seconds: number): Api => ({ issuedAt }, { now, renewedAt }) =>
  issuedAt < renewedAt || now >= renewedAt + seconds

/** At these seconds, all tokens are revoked. */
export const revokesAt = (...seconds: ReadonlyArray<number>): Api =>
  all(...seconds.map((at): Api => ({ issuedAt }, { now }) => !(issuedAt < at && now > at)))

export const refusesSecondToken: Api = ({ number }) => number !== 1
export const acceptsNewestOnly: Api = ({ number }, { newest }) => number === newest
export const refusesOnePath: Api = (_, { path }) => path !== 0
export const hasBadNode: Api = (_, { random }) => random() > 1 / 3
export const both = all
