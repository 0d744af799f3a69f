import type { Call, Delay } from "../protocol.ts"

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
  /** When the event loop of a process did not run, or that of the simulator, which stands for the machine. */
  readonly delays: ReadonlyArray<Delay>
  /** The times without a fault, which begin when every process has had time to recover, with what the processes said at their end. */
  readonly quiet: ReadonlyArray<{
    readonly from: number
    readonly until: number
    /** How often the processes could not use their stores meanwhile. Each then requests its own token. */
    readonly storeFaults: number
    readonly stores: ReadonlyArray<StoreOf>
  }>
  /** What each process used that ran from the start to the end. */
  readonly resources: ReadonlyArray<{ readonly start: Resources; readonly end: Resources }>
}

/** What a process says about its store: whether its last use failed, and how often it has logged that, and the end of it. */
export interface StoreOf {
  readonly process: string
  /** How often it could not use the store. */
  readonly faults: number
  readonly isFaulty: boolean
  readonly failures: number
  readonly recoveries: number
}

export interface Resources {
  readonly heap: number
  readonly sockets: number
}

/** A fault that happened, for how long, and what calls may show: a failure, a 401, or nothing. */
export interface Happened {
  readonly name: string
  readonly what: "Endpoint" | "Tokens" | "Other"
  readonly from: number
  readonly until: number
}

/** The process of the simulator. If its loop does not run, no process gets a response. */
export const machine = "the machine"

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

/** A process that stands still for this long does not prolong its lease in time, so another one may take it. */
const losesLease = 500

/** Within this time around a delay, what happened may be due to it. */
const aroundDelay = 250

/** How many tokens a fleet requests in this time: one for each life. */
const livesIn = (millis: number, lifetime: number) => millis / (lifetime * earliestRenewal) + 1

/** Judges a soak by what the endpoint, the API and the processes recorded. */
export const judge = (recording: Recording): Judgement => {
  const { calls, delays, faults, lifetime, processes, quiet, received, requests, resources, tokens } = recording
  const violations: Array<string> = []
  const seconds = (at: number) => `${((at - recording.from) / 1_000).toFixed(1)} s`
  const tokenOf = new Map(tokens.map((token) => [token.id, token]))
  const delaysOf = new Map<string, Array<Delay>>()
  for (const delay of delays) delaysOf.set(delay.process, [...delaysOf.get(delay.process) ?? [], delay])
  const delayed = (process: string, from: number, until: number) =>
    [process, machine].some((name) =>
      (delaysOf.get(name) ?? []).some((delay) =>
        overlaps(delay, { from: from - aroundDelay, until: until + aroundDelay })
      )
    )

  // a fleet that calls nothing breaks no other rule
  if (received.length === 0) violations.push("the API received no call")

  let expired = 0
  let outOfOrder = 0
  const newest = new Map<string, number>()
  for (const { gotAt, process, token: id } of received) {
    const token = id === undefined ? undefined : tokenOf.get(id)
    if (token === undefined) continue
    if (gotAt >= token.expiresAt && !delayed(process, gotAt, gotAt)) {
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
  const outages = faults.filter(({ what }) => what === "Endpoint").map(({ from, until }) => {
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
  let notJudged = 0
  const latest = new Map<string, number>()
  for (const call of calls) {
    const { error, from, process, until, waited } = call
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
    // a failed token request may have begun a token's life earlier, before its process remembered the failure
    if (delayed(process, error === undefined ? from : from - lifetime, until)) {
      notJudged++
      continue
    }
    const isExcused = outages.some((outage) => overlaps(outage, call)) ||
      (error === "status 401" && revocations.some((revocation) => overlaps(revocation, call)))
    if (error !== undefined && !isExcused) {
      violations.push(`${seconds(until)}: a call of process ${process} failed: ${error}`)
    }
    if (waited > longestWait && !isExcused) {
      slow++
      violations.push(`${seconds(until)}: a call of process ${process} waited for ${Math.round(waited)} ms`)
    }
  }

  let requestsInQuiet = 0
  let mostInQuiet = 0
  for (const { from, storeFaults, stores, until } of quiet) {
    const during = (at: number) => from <= at && at <= until
    const users = new Map<number, Set<string>>()
    for (const { gotAt, process, token } of received) {
      if (token !== undefined && during(gotAt)) users.set(token, (users.get(token) ?? new Set()).add(process))
    }
    const shared = highest(Array.from(users.values(), ({ size }) => size))
    if (shared < processes) {
      violations.push(`${seconds(until)}: the faults are over, and no token is used by more than ${shared} processes`)
    }
    const count = requests.filter(during).length
    const lostLeases = delays.filter((delay) =>
      delay.until - delay.from >= losesLease && overlaps(delay, { from, until })
    ).length
    const most = Math.ceil(livesIn(until - from, lifetime)) + storeFaults + lostLeases
    requestsInQuiet += count
    mostInQuiet += most
    if (count > most) {
      violations.push(`${seconds(until)}: the faults are over, with ${count} token requests, and ${most} are allowed`)
    }
    for (const { failures, isFaulty, process, recoveries } of stores) {
      if (isFaulty) violations.push(`${seconds(until)}: process ${process} cannot use its store, whose faults are over`)
      if (failures !== recoveries) {
        violations.push(
          `${
            seconds(until)
          }: process ${process} logged ${failures} times that its store fails, and ${recoveries} times that it works`
        )
      }
    }
  }
  // a store never costs token requests
  const alone = Math.ceil(processes * livesIn(recording.until - recording.from, lifetime))
  if (requests.length > alone) violations.push(`${requests.length} token requests, and ${alone} without a store`)

  const growth = (of: keyof Resources) => highest(resources.map(({ end, start }) => end[of] - start[of]))
  if (growth("heap") > 20 * megabyte) violations.push(`the heap of a process grew by ${growth("heap")} bytes`)
  if (growth("sockets") > 3) violations.push(`a process kept ${growth("sockets")} more sockets`)

  return {
    figures: {
      "seconds": Math.round((recording.until - recording.from) / 1_000),
      "faults": faults.length,
      "calls": calls.length,
      "calls during a delay of the loop": notJudged,
      "longest delay of a loop in ms": highest(delays.map(({ from, until }) => until - from)),
      "failed calls": failed,
      "failed calls without a reason": violations.filter((each) => each.includes(" failed: ")).length,
      "slow calls": slow,
      "expired tokens": expired,
      "superseded tokens used": superseded,
      "lower numbers after higher ones": outOfOrder,
      "token requests": requests.length,
      "token requests without the store": alone,
      "token requests after the faults": requestsInQuiet,
      "allowed after the faults": mostInQuiet,
      "longest wait in ms": Math.round(highest(calls.map(({ waited }) => waited))),
      "growth of a heap in KiB": Math.round(growth("heap") / 1_024),
      "growth of sockets": growth("sockets")
    },
    violations
  }
}
