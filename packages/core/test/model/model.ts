// The supply of tokens as its specification says it, without fibers: a clock, a token, at most one flight, and a list of
// those who wait for it.

/** How the endpoint answers a request, from the request on. */
export type Mode = "grants" | "grants late" | "grants the same" | "fails" | "fails late" | "refuses" | "hangs"

export const modes: ReadonlyArray<Mode> = [
  "grants",
  "grants late",
  "grants the same",
  "fails",
  "fails late",
  "refuses",
  "hangs"
]

export const lifetime = 600_000
export const deadline = 45_000
export const latency: Record<Mode, number> = {
  grants: 100,
  "grants late": 4_000,
  "grants the same": 100,
  fails: 100,
  "fails late": 4_000,
  refuses: 100,
  hangs: deadline
}
const dueAfter = lifetime * 0.8
const expiringAfter = lifetime - 5_000
const refusalPause = 30_000
const holdPause = 30_000

/** The pauses of a streak, without jitter. */
const pauseAfter = (failures: number) => Math.min(1_000 * 2 ** failures, 60_000)

interface Flight {
  readonly endsAt: number
  readonly repeatsLeft: number
  /** The end of the request that is under way, or of the pause before the next one. */
  readonly stepAt: number
  readonly step: "Pause" | {
    readonly mode: Mode
    readonly number: number
    readonly sentAt: number
  }
  readonly rejected?: string | undefined
}

/** What a caller got: the text of a token, the name of a failure, "waits" or "interrupted". */
export type Outcome = string

/** A specification that runs. */
export class Model {
  now = 0
  mode: Mode = "grants"
  requests = 0
  readonly outcomes: Array<Outcome> = []
  private token: { readonly text: string; readonly sentAt: number } | undefined
  private lastText = ""
  private flight: Flight | undefined
  private failure: { readonly error: string; readonly until: number } | undefined
  private failures = 0
  private holdUntil = 0
  /** Until when those wait who could have the token that is about to expire. */
  private readonly patience = new Map<number, number>()

  get text(): string {
    return this.lastText
  }

  /** Somebody asks for a token. */
  call(): void {
    this.outcomes.push("waits")
    this.answer(this.outcomes.length - 1)
  }

  /** A caller gives up. */
  interrupt(index: number): void {
    if (this.outcomes[index] === "waits") this.outcomes[index] = "interrupted"
  }

  /** The business API rejects a token. */
  reject(text: string): void {
    if (this.token?.text !== text || this.now < this.holdUntil) return
    this.token = undefined
    this.holdUntil = this.now + holdPause
    if (this.flight !== undefined) this.flight = { ...this.flight, rejected: text }
  }

  /** Time passes. */
  pass(millis: number): void {
    const target = this.now + millis
    for (;;) {
      const patienceEnds = Math.min(...this.patience.values())
      const next = Math.min(this.flight?.stepAt ?? Infinity, patienceEnds)
      if (next > target) break
      this.now = next
      if (this.flight?.stepAt === next) this.step(this.flight)
      else this.endPatience()
    }
    this.now = target
  }

  private get age(): number {
    return this.token === undefined ? Infinity : this.now - this.token.sentAt
  }

  private answer(index: number): void {
    const valid = this.age < lifetime ? this.token?.text : undefined
    const blocked = this.failure !== undefined && this.now < this.failure.until
    if (this.age < dueAfter || (blocked && valid !== undefined)) this.outcomes[index] = valid ?? ""
    else if (blocked) this.outcomes[index] = this.failure?.error ?? ""
    else {
      if (this.flight === undefined) this.request(this.now + deadline, 2)
      if (valid === undefined) return
      if (this.age < expiringAfter) this.outcomes[index] = valid
      else this.patience.set(index, this.now + (lifetime - this.age) / 2)
    }
  }

  private endPatience(): void {
    for (const [index, at] of this.patience) {
      if (at > this.now) continue
      this.patience.delete(index)
      if (this.outcomes[index] !== "waits") continue
      if (this.age < lifetime) this.outcomes[index] = this.token?.text ?? ""
      else this.answer(index)
    }
  }

  private request(endsAt: number, repeatsLeft: number): void {
    this.requests++
    const stepAt = Math.min(this.now + latency[this.mode], endsAt)
    this.flight = { endsAt, repeatsLeft, stepAt, step: { mode: this.mode, number: this.requests, sentAt: this.now } }
  }

  private step(flight: Flight): void {
    if (flight.step === "Pause") return this.request(flight.endsAt, flight.repeatsLeft - 1)
    const { mode, number, sentAt } = flight.step
    if (this.now < sentAt + latency[mode]) return this.fail(flight, "timeout")
    switch (mode) {
      case "grants":
      case "grants late":
      case "grants the same": {
        const text = mode === "grants the same" && this.lastText !== "" ? this.lastText : `token-${number}`
        if (text === flight.rejected) return this.request(flight.endsAt, flight.repeatsLeft)
        this.token = { text, sentAt }
        this.lastText = text
        this.failure = undefined
        this.failures = 0
        return this.land()
      }
      case "refuses":
        return this.fail(flight, "refused")
      case "fails":
      case "fails late":
        return this.fail(flight, "unavailable")
      case "hangs":
        return this.fail(flight, "timeout")
    }
  }

  private fail(flight: Flight, error: string): void {
    const pause = error === "refused" ? refusalPause : pauseAfter(this.failures++)
    const until = this.now + pause
    if (this.age >= lifetime && error !== "refused" && flight.repeatsLeft > 0 && until < flight.endsAt) {
      this.flight = { ...flight, step: "Pause", stepAt: until }
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
      if (this.age < lifetime) this.outcomes[index] = this.token?.text ?? ""
      else if (error !== undefined) this.outcomes[index] = error
      else this.answer(index)
    })
  }
}
