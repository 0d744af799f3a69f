// An executable specification of the supply of tokens, without fibers: a clock, a token, at most one flight, and a list of
// waiting callers.

import type { Outcome } from "../support/world.ts"

/** How the endpoint responds. The mode at the time of sending decides the response to a request. */
export type Mode =
  | "grants"
  | "grants all scopes"
  | "grants late"
  | "grants the same"
  | "grants expired"
  | "fails"
  | "fails late"
  | "resets"
  | "refuses"
  | "hangs"

export const modes: ReadonlyArray<Mode> = [
  "grants",
  "grants all scopes",
  "grants late",
  "grants the same",
  "grants expired",
  "fails",
  "fails late",
  "resets",
  "refuses",
  "hangs"
]

export const lifetime = 600_000
export const deadline = 45_000
/** Odd numbers, so that no two events happen at the same time: the order of such events is not specified. */
export const latency: Record<Mode, number> = {
  grants: 107,
  "grants all scopes": 107,
  "grants late": 4_003,
  "grants the same": 107,
  "grants expired": 107,
  fails: 107,
  "fails late": 4_003,
  resets: 107,
  refuses: 107,
  hangs: deadline
}
const dueAfter = lifetime * 0.8
const expiringAfter = lifetime - 5_000
const refusalPause = 30_000
const holdPause = 30_000
const refreshPause = 1_000
const rejectedPatience = 2_500
const replaceDeadline = deadline + 1_000
const scopePause = 300_000

/** The pauses of a streak, without jitter. */
const pauseAfter = (failures: number) => Math.min(1_000 * 2 ** failures, 60_000)

interface Token {
  readonly text: string
  readonly sentAt: number
  readonly hasAllScopes: boolean
  /** The API rejected the token, and it must be replaced. */
  readonly rejected: boolean
  /** A call has succeeded with the token. */
  readonly proven: boolean
  /** The token is in the count of rejections. */
  readonly counted: boolean
}

interface Flight {
  readonly endsAt: number
  readonly retriesLeft: number
  /** The failure before the request that is under way. */
  readonly before?: string | undefined
  /** The end of the request that is under way, or of the pause before the next one. */
  readonly stepAt: number
  readonly step: "Pause" | {
    readonly mode: Mode
    readonly number: number
    readonly sentAt: number
  }
}

/** What a caller requests. */
type Wish =
  | { readonly kind: "get" }
  /** The end of the flight, even if there is a valid token. */
  | { readonly kind: "refresh" }
  | { readonly kind: "replace"; readonly rejected: string }

const retryable = (error: string) => error !== "InvalidClient"

/** The state of the specified supply, and what changes it. */
export class Model {
  now = 0
  mode: Mode = "grants"
  requests = 0
  readonly outcomes: Array<Outcome> = []
  private readonly wishes: Array<Wish> = []
  private token: Token | undefined
  private lastText = ""
  private flight: Flight | undefined
  private failure: { readonly error: string; readonly until: number } | undefined
  private failures = 0
  private holdUntil = 0
  private refreshedAt = -Infinity
  /** How many tokens in a row were rejected before a call succeeded with them. */
  rejections = 0
  /** When a caller that could have the valid token stops waiting for its renewal. */
  private readonly patience = new Map<number, number>()
  /** When a caller that requests another token gives up. */
  private readonly deadlines = new Map<number, number>()

  get text(): string {
    return this.lastText
  }

  /** A caller requests a token. */
  call(): void {
    this.settle(this.arrive({ kind: "get" }))
  }

  /** A caller requests a replacement for the rejected token. */
  replace(rejected: string): void {
    const index = this.arrive({ kind: "replace", rejected })
    this.reject(rejected)
    this.settle(index)
    if (this.outcomes[index] === "waits") this.deadlines.set(index, this.now + replaceDeadline)
  }

  /** The credentials were corrected. */
  refresh(): void {
    if (this.flight === undefined && this.now < this.refreshedAt + refreshPause) return this.call()
    this.arrive({ kind: "refresh" })
    if (this.flight !== undefined) return
    this.refreshedAt = this.now
    this.failure = undefined
    this.begin()
  }

  /** A caller gives up. */
  interrupt(index: number): void {
    if (this.outcomes[index] === "waits") this.outcomes[index] = "interrupted"
  }

  /** The business API rejects a token. */
  reject(text: string): void {
    if (this.token?.text !== text || this.token.rejected) return
    if (!this.token.proven && !this.token.counted) this.rejections++
    const rejected = this.now >= this.holdUntil
    this.token = { ...this.token, counted: true, rejected }
    if (rejected && this.blocked === undefined) this.begin()
  }

  /** A call succeeds with a token. */
  accept(text: string): void {
    if (this.token?.text !== text) return
    this.token = { ...this.token, proven: true, rejected: false }
    this.rejections = 0
  }

  /** A call needs a scope that only some tokens have. */
  miss(): void {
    if (this.token === undefined || this.token.hasAllScopes || this.blocked !== undefined) return
    if (this.now >= this.token.sentAt + scopePause) this.begin()
  }

  /** Time passes. */
  pass(millis: number): void {
    const target = this.now + millis
    for (;;) {
      const next = Math.min(this.flight?.stepAt ?? Infinity, ...this.patience.values(), ...this.deadlines.values())
      if (next > target) break
      this.now = next
      if (this.flight?.stepAt === next) this.step(this.flight)
      else this.endWaits()
    }
    this.now = target
  }

  private get age(): number {
    return this.token === undefined ? Infinity : this.now - this.token.sentAt
  }

  /** The token that may be sent. */
  private get valid(): string | undefined {
    return this.age < lifetime ? this.token?.text : undefined
  }

  /** The remembered failure. */
  private get blocked(): string | undefined {
    return this.failure !== undefined && this.now < this.failure.until ? this.failure.error : undefined
  }

  private arrive(wish: Wish): number {
    this.wishes.push(wish)
    return this.outcomes.push("waits") - 1
  }

  private begin(): void {
    if (this.flight === undefined) this.request(this.now + deadline, 2)
  }

  private settle(index: number): void {
    const { token, valid } = this
    const wish = this.wishes[index]
    if (wish?.kind === "replace" && token?.text === wish.rejected && valid !== undefined) {
      if (!token.rejected) this.outcomes[index] = valid
      else if (this.blocked !== undefined) this.outcomes[index] = this.blocked
      else this.begin()
      return
    }
    this.wishes[index] = { kind: "get" }
    const isDue = token?.rejected === true || this.age >= dueAfter
    if (valid !== undefined && (!isDue || this.blocked !== undefined)) this.outcomes[index] = valid
    else if (this.blocked !== undefined) this.outcomes[index] = this.blocked
    else {
      this.begin()
      if (valid === undefined) return
      const half = (lifetime - this.age) / 2
      if (token?.rejected === true) this.patience.set(index, this.now + Math.min(rejectedPatience, half))
      else if (this.age < expiringAfter) this.outcomes[index] = valid
      else this.patience.set(index, this.now + half)
    }
  }

  private endWaits(): void {
    for (const [index, at] of this.deadlines) {
      if (at > this.now) continue
      this.deadlines.delete(index)
      if (this.outcomes[index] === "waits") this.outcomes[index] = "Timeout"
    }
    for (const [index, at] of this.patience) {
      if (at > this.now) continue
      this.patience.delete(index)
      if (this.outcomes[index] !== "waits") continue
      if (this.valid !== undefined) this.outcomes[index] = this.valid
      else this.settle(index)
    }
  }

  private request(endsAt: number, retriesLeft: number, before?: string): void {
    this.requests++
    const stepAt = Math.min(this.now + latency[this.mode], endsAt)
    const step = { mode: this.mode, number: this.requests, sentAt: this.now }
    this.flight = { endsAt, retriesLeft, before, stepAt, step }
  }

  private step(flight: Flight): void {
    if (flight.step === "Pause") return this.request(flight.endsAt, flight.retriesLeft - 1, flight.before)
    const { mode, number, sentAt } = flight.step
    // the deadline ends the retries, and callers get the failure before the deadline
    if (this.now < sentAt + latency[mode]) return this.fail(flight, flight.before ?? "Timeout")
    switch (mode) {
      case "grants":
      case "grants all scopes":
      case "grants late":
      case "grants the same": {
        const text = mode === "grants the same" && this.lastText !== "" ? this.lastText : `token-${number}`
        const hasAllScopes = mode === "grants all scopes"
        if (this.token?.rejected === true) this.holdUntil = sentAt + holdPause
        const before = this.token?.text === text ? this.token : undefined
        const { counted = false, proven = false } = before ?? {}
        this.token = { text, sentAt, hasAllScopes, rejected: false, proven, counted }
        this.lastText = text
        this.failure = undefined
        this.failures = 0
        return this.land()
      }
      case "grants expired":
        return this.fail(flight, "InvalidResponse")
      case "refuses":
        return this.fail(flight, "InvalidClient")
      case "fails":
      case "fails late":
        return this.fail(flight, "ServerError")
      case "resets":
        return this.fail(flight, "Reset")
      case "hangs":
        return this.fail(flight, "Timeout")
    }
  }

  private fail(flight: Flight, error: string): void {
    const hasToken = this.valid !== undefined
    this.failures++
    if (error === "Reset" && flight.retriesLeft === 2 && !hasToken && this.now < flight.endsAt) {
      return this.request(flight.endsAt, 1, error)
    }
    const until = this.now + (retryable(error) ? pauseAfter(this.failures - 1) : refusalPause)
    if (!hasToken && retryable(error) && flight.retriesLeft > 0 && until < flight.endsAt) {
      this.flight = { ...flight, before: error, step: "Pause", stepAt: until }
    } else {
      this.failure = { error, until }
      this.land(error)
    }
  }

  private land(error?: string): void {
    this.flight = undefined
    this.patience.clear()
    this.outcomes.forEach((outcome, index) => {
      if (outcome !== "waits") return
      if (this.wishes[index]?.kind === "get" && this.valid !== undefined) this.outcomes[index] = this.valid
      else if (error !== undefined) this.outcomes[index] = error
      else this.settle(index)
    })
  }
}
