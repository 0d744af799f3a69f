import type { Call } from "../protocol.ts"

/** What was recorded during a soak. All times are the machine's, in milliseconds. */
export interface Recording {
  readonly processes: number
  /** The lifetime of a token. */
  readonly lifetime: number
  readonly from: number
  readonly until: number
  /** The tokens that the endpoint issued. Newer ones have higher numbers. */
  readonly tokens: ReadonlyArray<{ readonly id: number; readonly issuedAt: number; readonly expiresAt: number }>
  /** The token requests that the endpoint received. */
  readonly requests: ReadonlyArray<number>
  /** What the business API received, and when the process had got the token: a busy machine sends and receives a call late. */
  readonly received: ReadonlyArray<
    { readonly process: string; readonly gotAt: number; readonly token: number | undefined }
  >
  /** The calls as the processes saw them. */
  readonly calls: ReadonlyArray<Call>
  readonly faults: ReadonlyArray<Happened>
  /** What each process used that ran from the start to the end. */
  readonly resources: ReadonlyArray<{ readonly start: Resources; readonly end: Resources }>
}

export interface Resources {
  readonly heap: number
  readonly sockets: number
}

/** A fault that happened, what it affected, and for how long. */
export interface Happened {
  readonly name: string
  readonly what: "Endpoint" | "Connections" | "Store" | "Processes" | "Tokens"
  /** The processes that were stopped or killed, or all if this is unknown. */
  readonly who?: ReadonlyArray<string> | undefined
  readonly from: number
  readonly until: number
}

export interface Judgement {
  readonly figures: Readonly<Record<string, number>>
  readonly violations: ReadonlyArray<string>
}

/** After the first token that follows an outage, every process has a token within this time. */
const findsWithin = 2_000

/** The times at which two processes record a token as requested differ by less than this. */
const roundingMillis = 1_000

/**
 * A call takes no longer while the endpoint responds: the rest of a lease, a token request, and time of a machine that is busy.
 */
const longestWait = 8_000

/** Tokens are renewed at the earliest after this part of their life. */
const earliestRenewal = 0.75

const megabyte = 2 ** 20

const overlaps = (one: { readonly from: number; readonly until: number }, other: typeof one) =>
  one.from <= other.until && other.from <= one.until

/** The highest of any number of values, or 0. */
const highest = (values: ReadonlyArray<number>) => values.reduce((most, value) => Math.max(most, value), 0)

/** Judges a soak by what the endpoint, the API and the processes recorded. */
export const judge = (recording: Recording): Judgement => {
  const { calls, faults, lifetime, processes, received, requests, resources, tokens } = recording
  const violations: Array<string> = []
  const seconds = (at: number) => `${((at - recording.from) / 1_000).toFixed(1)} s`
  const tokenOf = new Map(tokens.map((token) => [token.id, token]))
  const concerns = (fault: Happened, process: string) => fault.who === undefined || fault.who.includes(process)
  const stopped = (process: string, from: number, until: number) =>
    faults.some((fault) => fault.what === "Processes" && concerns(fault, process) && overlaps(fault, { from, until }))

  // a fleet that calls nothing breaks no other rule
  if (received.length === 0) violations.push("the API received no call")

  let expired = 0
  let outOfOrder = 0
  const newest = new Map<string, number>()
  for (const { gotAt, process, token: id } of received) {
    const token = id === undefined ? undefined : tokenOf.get(id)
    if (token === undefined) continue
    // a process can be stopped between the two
    if (gotAt >= token.expiresAt && !stopped(process, gotAt - lifetime, gotAt)) {
      expired++
      violations.push(
        `${seconds(gotAt)}: process ${process} got token ${token.id} ${gotAt - token.expiresAt} ms after its expiry`
      )
    }
    const before = newest.get(process) ?? 0
    // only counted: an endpoint may issue tokens in another order than the requests
    if (token.id < before) outOfOrder++
    newest.set(process, Math.max(before, token.id))
  }

  // a process may fail while the endpoint does, and until it has found the first token after that
  const outages = faults.filter(({ what }) => what === "Endpoint" || what === "Connections").map(({ from, until }) => {
    const first = tokens.map(({ issuedAt }) => issuedAt).toSorted((a, b) => a - b).find((at) => at >= until)
    return { from, until: (first ?? recording.until) + findsWithin }
  })
  // the token that a process finds instead of a revoked token may have been revoked too
  const revocations = faults.filter(({ what }) => what === "Tokens").map(({ from, until }) => ({
    from,
    until: until + findsWithin
  }))
  let failed = 0
  let slow = 0
  let superseded = 0
  const latest = new Map<string, number>()
  for (const call of calls) {
    const { error, from, process, until, waited } = call
    const isExcused = outages.some((outage) => overlaps(outage, call)) || stopped(process, from, until) ||
      (error === "status 401" && revocations.some((revocation) => overlaps(revocation, call)))
    if (error !== undefined) failed++
    const latestRequest = latest.get(process) ?? -Infinity
    if (call.requestedAt !== undefined) {
      const behind = latestRequest - call.requestedAt
      if (behind > roundingMillis) {
        superseded++
        violations.push(
          `${seconds(until)}: process ${process} used a token that was requested ${behind} ms before its last one`
        )
      }
      latest.set(process, Math.max(latestRequest, call.requestedAt))
    }
    if (error !== undefined && !isExcused) {
      violations.push(`${seconds(until)}: a call of process ${process} failed: ${error}`)
    }
    if (waited > longestWait && !isExcused) {
      slow++
      violations.push(`${seconds(until)}: a call of process ${process} waited for ${Math.round(waited)} ms`)
    }
  }

  // one for each life, and more where a fault allows it
  const lives = (recording.until - recording.from) / (lifetime * earliestRenewal) + 1
  const allowance = (fault: Happened) => {
    const duration = fault.until - fault.from
    switch (fault.what) {
      case "Endpoint":
        return duration / 500 + 4
      // it may be the network of one process, so such a failure is not shared: each process tries by itself, with two retries
      case "Connections":
        return processes * (3 + duration / 2_000)
      case "Store":
        return processes * (1 + duration / (lifetime * earliestRenewal))
      case "Processes":
      case "Tokens":
        return 3
    }
  }
  const most = Math.ceil(faults.reduce((sum, fault) => sum + allowance(fault), lives))
  if (requests.length > most) violations.push(`${requests.length} token requests, and ${most} are allowed`)

  const growth = (of: keyof Resources) => highest(resources.map(({ end, start }) => end[of] - start[of]))
  if (growth("heap") > 20 * megabyte) violations.push(`the heap of a process grew by ${growth("heap")} bytes`)
  if (growth("sockets") > 3) violations.push(`a process kept ${growth("sockets")} more sockets`)

  return {
    figures: {
      "seconds": Math.round((recording.until - recording.from) / 1_000),
      "faults": faults.length,
      "calls": calls.length,
      "failed calls": failed,
      "failed calls without a reason": violations.filter((each) => each.includes(" failed: ")).length,
      "slow calls": slow,
      "expired tokens": expired,
      "superseded tokens used": superseded,
      "lower numbers after higher ones": outOfOrder,
      "token requests": requests.length,
      "token requests allowed": most,
      "token requests without the store": Math.round(processes * lives),
      "longest wait in ms": Math.round(highest(calls.map(({ waited }) => waited))),
      "growth of a heap in KiB": Math.round(growth("heap") / 1_024),
      "growth of sockets": growth("sockets")
    },
    violations
  }
}
