import { AccessToken, type AccessTokens, type TokenEndpoint, TokenError } from "@credit-data/core"
import type { StoreEngine } from "@credit-data/fleet"
import * as VirtualClock from "@credit-data/test-support/virtualClock"
import { Clock, DateTime, Deferred, Duration, Effect, Exit, Fiber, Option, Redacted, Scope } from "effect"
import * as Envelope from "../../src/internal/envelope.ts"
import { startSupply, usualCredentials } from "../support/fleet.ts"

export type Mode = "grants" | "grants late" | "fails"

/** What happens to the fleet. `stop` and `wake` are the signals SIGSTOP and SIGCONT, and `kill` is SIGKILL. */
export type Event =
  | { readonly what: "ask" | "kill" | "stop" | "wake" | "reject"; readonly who: number | "holder" | "all" }
  | { readonly what: "pass"; readonly millis: number }
  | { readonly what: "server"; readonly mode: Mode }

/** The bug that is planted, as a change of one process's store. It can open what is sealed. */
export type Bug = (store: StoreEngine.Service, entry: Envelope.Entry) => StoreEngine.Service

const lifetime = 3_600_000
const latency: Record<Mode, number> = { grants: 200, "grants late": 3_500, fails: 200 }
const deadline = 10_000
const lease = 2_000
/** Reads that follow each other within this time belong to one wait. */
const longestPoll = 250

interface TokenRequest {
  readonly by: Machine
  readonly number: number
  readonly sentAt: number
  /** Its process was killed or stopped meanwhile, or sent it beside another one. */
  disturbed: boolean
}

interface Machine {
  readonly tokens: AccessTokens.Service
  readonly scope: Scope.CloseableScope
  isAlive: boolean
  disturbedAt: number
  waitsSince: number
  readAt: number
  stopped: Deferred.Deferred<void> | undefined
  /** When the tokens that it returned were requested, or -Infinity for a rejected token, which an older one may follow. */
  readonly returned: Map<string, number>
}

/** The rule that holds even if the clock of the store is wrong. */
export const expired = "an expired token was returned, with an age"

/** A process that remembers a failure finds the token of another one within this time. */
const findsWithin = 2_000
/** After this time without a fault, no process waits for one that no longer responds, and no failure is remembered. */
const quiet = 60_000

/** The wall clocks of the processes are kept in step. */
const ahead = [0, 2_000, -2_000, 1_000]
const largestSkew = 4_000

interface Options {
  readonly memory: (clock: Clock.Clock) => Effect.Effect<StoreEngine.Service>
  readonly bug: Bug
  /** The clock of the store shows the end of tokens. Otherwise, the clocks of the processes do, which differ a little. Default: true. */
  readonly isStoreExact?: boolean
}

/** Lets the events happen to a fleet of four processes. Returns what was violated. */
export const run = Effect.fnUntraced(
  function*({ bug, isStoreExact = true, memory }: Options, events: ReadonlyArray<Event>) {
    const oldest = isStoreExact ? lifetime : lifetime + largestSkew
    const time = VirtualClock.make()
    const { now } = time
    const shared = yield* memory(time.clock)
    const violations: Array<string> = []
    const violated = (rule: string) => {
      violations.push(`${Math.round(now())}: ${rule}`)
    }

    const issuedAt = new Map<string, number>()
    const active = new Set<TokenRequest>()
    let mode: Mode = "grants"
    let requests = 0
    const disturbances: Array<number> = []
    let failingSince: { readonly at: number; readonly requests: number; readonly disturbances: number } | undefined
    let lastPublished = 0
    /** The token in the store, which no process has reported as rejected. */
    let stored: { readonly at: number; readonly endsAt: number } | undefined
    let grantingSince = 0
    let calls = 0
    let failed = false

    const disturb = (machine: Machine) => {
      disturbances.push(now())
      machine.disturbedAt = now()
      for (const request of active) if (request.by === machine) request.disturbed = true
    }
    /** A process sends its own request if it was stopped while it waited, or if it waited too long because of several others. */
    const mayBeImpatient = ({ disturbedAt, waitsSince }: Machine) =>
      now() - disturbedAt <= deadline ||
      (now() - waitsSince >= deadline && disturbances.filter((at) => at >= waitsSince - lease).length > 1)
    const running = (machine: Machine | undefined): Effect.Effect<void> =>
      Effect.suspend(() =>
        machine?.isAlive === false ? Effect.never : machine?.stopped === undefined ? Effect.void : Effect.flatMap(
          Deferred.await(machine.stopped),
          () => running(machine)
        )
      )

    const start = Effect.fnUntraced(function*(index: number) {
      const scope = yield* Scope.make()
      const own: { machine: Machine | undefined } = { machine: undefined }
      const held = <A, E>(effect: Effect.Effect<A, E>) =>
        Effect.suspend(() => running(own.machine)).pipe(
          Effect.zipRight(effect),
          Effect.tap(() => running(own.machine))
        )
      const base = time.clockOf(() => ahead[index] ?? 0)
      const clock: Clock.Clock = { ...base, sleep: (duration) => held(base.sleep(duration)) }

      const requestToken = () =>
        Effect.gen(function*() {
          const { machine } = own
          if (machine === undefined) return yield* Effect.die(new Error("The process has not started."))
          const rival = Array.from(active).find(({ disturbed }) => !disturbed)
          // a process that has lost its patience sends without the lease, which someone else may take meanwhile
          const disturbed = rival !== undefined
          const request: TokenRequest = { by: machine, number: ++requests, sentAt: now(), disturbed }
          const modeAtStart = mode
          if (rival !== undefined && !mayBeImpatient(machine)) {
            violated(`request ${request.number} is sent during request ${rival.number}`)
          }
          active.add(request)
          const requestedAt = yield* DateTime.now
          yield* Effect.ensuring(
            held(Effect.sleep(latency[modeAtStart]).pipe(Effect.withClock(time.clock))),
            Effect.sync(() => active.delete(request))
          )
          if (modeAtStart === "fails") {
            return yield* new TokenError.ServerError({
              environment: "test",
              tokenEndpoint: "https://v2.example",
              endpointStatus: 503
            })
          }
          issuedAt.set(`token-${request.number}`, request.sentAt)
          return new AccessToken.AccessToken({
            secret: Redacted.make(`token-${request.number}`),
            scopes: ["data-access:all"],
            requestedAt,
            expiresAt: DateTime.addDuration(requestedAt, Duration.millis(lifetime))
          })
        })

      const reads = () => {
        const { machine } = own
        if (machine === undefined) return
        if (now() - machine.readAt > longestPoll) machine.waitsSince = now()
        machine.readAt = now()
      }
      const endpoint: TokenEndpoint.Service = {
        environment: { name: "test", audience: "audience", baseUrl: "https://api.example" },
        url: "https://v2.example",
        requestedScopes: [],
        deadline: Duration.millis(deadline),
        requestToken,
        credentials: usualCredentials
      }
      const entry = yield* Effect.flatMap(usualCredentials.current, (each) => Envelope.entryOf(endpoint, each))
      const engine = bug(shared, entry)
      const store: StoreEngine.Service = {
        read: (name) => Effect.zipRight(Effect.sync(reads), held(engine.read(name))),
        takeLease: (name, lease) => Effect.zipRight(Effect.sync(reads), held(engine.takeLease(name, lease))),
        releaseLease: (name, owner) => held(engine.releaseLease(name, owner)),
        publish: (name, value) =>
          held(Effect.gen(function*() {
            const isPublished = yield* engine.publish(name, value)
            const { failure, token } = Option.getOrThrow(Envelope.opened(entry, { value: Option.some(value) }))
            if (!isPublished || failure !== undefined || token === undefined) return isPublished
            const sentAt = issuedAt.get(token.secret) ?? 0
            if (sentAt < lastPublished) violated(`${token.secret} overwrites a token that was requested after it`)
            lastPublished = sentAt
            stored = { at: now(), endsAt: sentAt + lifetime }
            return isPublished
          }))
      }
      const tokens = yield* startSupply(endpoint, store, scope).pipe(Effect.withClock(clock))
      const machine: Machine = {
        tokens,
        scope,
        isAlive: true,
        disturbedAt: -Infinity,
        waitsSince: 0,
        readAt: -Infinity,
        stopped: undefined,
        returned: new Map()
      }
      own.machine = machine
      return machine
    })

    const machines = yield* Effect.forEach(ahead, (_, index) => start(index))
    const callers: Array<Fiber.RuntimeFiber<void>> = []

    const ask = Effect.fnUntraced(function*(machine: Machine) {
      yield* running(machine)
      const askedAt = now()
      const outcome = yield* Effect.exit(machine.tokens.get)
      calls++
      const secret = Exit.isSuccess(outcome) ? Redacted.value(outcome.value.secret) : ""
      const sentAt = Exit.isSuccess(outcome) ? issuedAt.get(secret) ?? -Infinity : now()
      const age = now() - sentAt
      if (Math.max(...machine.returned.values()) - sentAt > largestSkew) {
        violated(`a token followed one that was requested after it`)
      }
      if (Exit.isSuccess(outcome) && !machine.returned.has(secret)) machine.returned.set(secret, sentAt)
      if (age >= oldest) violated(`${expired} of ${age} ms`)
      // each fault costs the others the rest of a lease and another request
      const longest = 5_000 + disturbances.length * 7_500
      const isComparable = !failed && machine.disturbedAt < askedAt
      if (isComparable && now() - askedAt > longest) violated(`a caller waited for ${now() - askedAt} ms`)
      // a process that stood still for a token's whole life gets an expired token
      const disturbedAt = Math.max(machine.disturbedAt, ...disturbances)
      if (Exit.isSuccess(outcome) || !machine.isAlive || now() - disturbedAt < quiet) return
      if (stored !== undefined && askedAt - stored.at > findsWithin && stored.endsAt > now() + largestSkew) {
        violated(`a caller failed ${askedAt - stored.at} ms after a token was published`)
      }
      if (mode !== "fails" && askedAt - grantingSince > quiet) {
        violated(`a caller failed ${askedAt - grantingSince} ms after the endpoint recovered`)
      }
    })

    const wake = (machine: Machine) =>
      Effect.suspend(() => {
        const { stopped } = machine
        if (stopped === undefined) return Effect.void
        machine.stopped = undefined
        machine.disturbedAt = now()
        return Deferred.succeed(stopped, void 0)
      })

    const checkFailing = () => {
      if (failingSince === undefined) return
      const sent = requests - failingSince.requests
      const allowed = (now() - failingSince.at) / 1_000 + 2 + disturbances.length - failingSince.disturbances
      if (sent > allowed) violated(`${sent} requests to an endpoint that fails for ${now() - failingSince.at} ms`)
    }

    /** `holder`: the process whose token request is under way. */
    const machinesOf = (who: number | "holder" | "all"): ReadonlyArray<Machine> =>
      who === "all" ? machines : who === "holder" ? Array.from(active, ({ by }) => by) : machines.slice(who, who + 1)

    const happen = Effect.fnUntraced(function*(event: Event, machine: Machine | undefined) {
      switch (event.what) {
        case "pass":
          yield* time.pass(event.millis)
          checkFailing()
          break
        case "server":
          checkFailing()
          if (mode === "fails" && event.mode !== "fails") grantingSince = now()
          mode = event.mode
          if (mode === "fails") failed = true
          failingSince = mode === "fails"
            ? failingSince ?? { at: now(), requests, disturbances: disturbances.length }
            : undefined
          break
        case "ask":
          if (machine?.isAlive === true) callers.push(yield* Effect.fork(ask(machine)))
          yield* time.settle
          break
        case "reject":
          if (machine?.isAlive === true && machine.stopped === undefined) {
            const { returned, tokens } = machine
            yield* Effect.fork(
              Effect.flatMap(
                Effect.exit(tokens.get),
                (token) =>
                  Effect.suspend(() => {
                    stored = undefined
                    if (Exit.isFailure(token)) return Effect.void
                    returned.set(Redacted.value(token.value.secret), -Infinity)
                    return tokens.invalidate(token.value)
                  })
              )
            )
          }
          yield* time.settle
          break
        case "kill":
          if (machine?.isAlive === true) {
            disturb(machine)
            machine.isAlive = false
          }
          break
        case "stop":
          if (machine?.isAlive === true && machine.stopped === undefined) {
            disturb(machine)
            machine.stopped = yield* Deferred.make<void>()
          }
          break
        case "wake":
          if (machine?.stopped !== undefined) {
            yield* wake(machine)
            yield* time.settle
          }
      }
    })

    for (const event of events) {
      const concerned = "who" in event ? machinesOf(event.who) : [undefined]
      for (const machine of concerned) {
        yield* happen(event, machine)
      }
    }
    yield* Effect.forEach(machines, wake)
    yield* time.pass(60_000)
    for (const { isAlive, scope } of machines) if (isAlive) yield* Effect.fork(Scope.close(scope, Exit.void))
    yield* time.pass(5_000)
    return { violations, requests, calls }
  }
)
