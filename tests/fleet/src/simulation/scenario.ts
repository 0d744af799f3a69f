export const second = 1_000
export const minute = 60 * second
export const hour = 60 * minute

/** The life of each token. */
export const lifetime = 24 * hour

/** The deadline of each token request. */
export const deadline = 10 * second

/** A fleet, its token endpoint, and how long they are observed. Times are in milliseconds. */
export interface Scenario {
  readonly clients: number
  /** The clients start one after another within this time. */
  readonly rollout: number
  /** The part of a token's life in which its renewal becomes due, as shares of the lifetime. */
  readonly renewalWindow: { readonly from: number; readonly to: number }
  /** The clients share a store. */
  readonly isShared: boolean
  /** The endpoint returns 503 for this time, from the moment at which the first renewal becomes due. */
  readonly outage: number
  /** How many requests the endpoint handles per second, if there is a limit. The others wait in an unbounded queue. */
  readonly capacity: number | undefined
  readonly duration: number
}

/** When a client starts. */
export const startOf = (index: number, { clients, rollout }: Scenario): number => Math.floor(index / clients * rollout)

/** The outage begins when the first renewal becomes due, because an outage that no request meets changes nothing. */
export const outageOf = ({ outage, renewalWindow }: Scenario): { readonly from: number; readonly to: number } => {
  const from = renewalWindow.from * lifetime
  return { from, to: from + outage }
}

/** What happened in a run. */
export interface Result {
  /** The token requests of each second. */
  readonly perSecond: Uint32Array
  /** The token requests that failed. */
  readonly failures: number
  /** The clients whose callers got a failure. */
  readonly affected: number
}

/** The number of token requests. */
export const requestsOf = ({ perSecond }: Result): number => perSecond.reduce((total, count) => total + count, 0)

/**
 * The most token requests in a second after the start. The start ends when the last client has started. Until then, each client
 * sends its first request when it starts, so the pace of the rollout decides the rate, whatever the settings of the clients are.
 */
export const peakAfterStart = ({ perSecond }: Result, { rollout }: Scenario): number =>
  perSecond.subarray(Math.ceil(rollout / second)).reduce((most, count) => Math.max(most, count), 0)
