import { type AccessTokens, TokenError, TokenStatus } from "@credit-data/core"
import { assert } from "@effect/vitest"
import { DateTime, Effect, Option } from "effect"
import * as FakeEndpoint from "./fakeEndpoint.ts"
import * as World from "./world.ts"

export interface Supply extends Effect.Effect.Success<ReturnType<typeof World.make>> {
  readonly endpoint: Effect.Effect.Success<ReturnType<typeof FakeEndpoint.make>>
}

/** What happens at an instant, and what is looked at when everything that follows from it has happened. */
export interface Action {
  readonly what: string
  readonly run?: (supply: Supply) => Effect.Effect<unknown>
  readonly look?: (supply: Supply) => Effect.Effect<unknown>
}

// What callers do. Each has an outcome: a token, the name of a failure, "waits" or "interrupted".

const outcomes = (select: (all: ReadonlyArray<World.Outcome>) => unknown) => (supply: Supply) =>
  Effect.map(supply.outcomes, select)

const calls = (what: string, wish: (tokens: AccessTokens.Service) => World.Wish): Action => ({
  what,
  run: ({ arrive, tokens }) => arrive(wish(tokens)),
  look: outcomes((all) => all.at(-1))
})

const withText = (text: string) => FakeEndpoint.token(text, "1 hour")

export const get = calls("get", ({ get }) => get)
export const refresh = calls("refresh", ({ refresh }) => refresh)
/** The rejected token, and the tokens that the same call has tried before. */
export const replace = (text: string, ...tried: ReadonlyArray<string>) =>
  calls(`replace ${[text, ...tried].join(", ")}`, (tokens) =>
    Effect.flatMap(
      Effect.all([withText(text), Effect.forEach(tried, withText)]),
      ([rejected, before]) => tokens.replace(rejected, ...before)
    ))

export const retryWhenDue = (times: number): Action => ({
  ...get,
  what: `get with ${times} retries when due`,
  run: ({ arrive, clock, tokens }) =>
    arrive(tokens.get.pipe(TokenError.retryWhenDue({ times }), Effect.withClock(clock)))
})

/** The outcome of the last callers by now, which is one if all got the same. */
export const callers = (count: number) => ({
  what: `the last ${count} callers`,
  look: outcomes((all) => [...new Set(all.slice(-count))].join(" or "))
})

/** The same by many callers at once. */
export const many = (count: number, { run, what }: Action): Action => ({
  what: `${count} times ${what}`,
  run: (supply) => Effect.replicateEffect(run?.(supply) ?? Effect.void, count),
  look: callers(count).look
})

/** The same by a caller that cannot be interrupted, such as a finalizer. */
export const uninterruptible = (action: Action): Action => ({
  ...action,
  what: `uninterruptible ${action.what}`,
  run: (supply) =>
    action.run?.({ ...supply, arrive: (wish) => supply.arrive(Effect.uninterruptible(wish)) }) ?? Effect.void
})

/** The outcome of an earlier caller by now. Callers count from 1. */
export const caller = (number: number): Action => ({
  what: `caller ${number}`,
  look: outcomes((all) => all[number - 1])
})

export const interrupt = (number: number): Action => ({
  what: `caller ${number} gives up`,
  run: ({ interrupt }) => interrupt(number - 1)
})

// What calls reveal about a token.

export const reject = (text: string): Action => ({
  what: `${text} is rejected`,
  run: ({ tokens }) => Effect.flatMap(withText(text), tokens.invalidate)
})

/** A call needs a scope. The result is the second before which no token is requested for it. */
export const missScope = (scope: "furnishment:all" | "data-access:all"): Action => {
  let nextTryAt = 0
  return {
    what: `a call needs ${scope}`,
    run: ({ tokens }) =>
      Effect.map(tokens.scopeMissing?.(scope) ?? DateTime.now, (at) => {
        nextTryAt = DateTime.toEpochMillis(at) / 1_000
      }),
    look: () => Effect.sync(() => nextTryAt)
  }
}

// What the endpoint and the clock do.

const endpoint = (what: string, change: (endpoint: Supply["endpoint"]) => Effect.Effect<void>): Action => ({
  what: `the endpoint ${what}`,
  run: (supply) => change(supply.endpoint)
})

export const recover = endpoint("recovers", ({ recover }) => recover)
export const hang = endpoint("hangs", ({ respond }) => respond(() => Effect.never))
export const respond = (response: FakeEndpoint.Respond) => endpoint("changes", ({ respond }) => respond(response))
export const fail = (error: TokenError.TokenError) => endpoint(`fails with ${error._tag}`, ({ fail }) => fail(error))

/** The wall clock is set, or the machine was suspended, while its monotonic clock stops. */
export const setWall = (by: string): Action => ({
  what: `the wall clock jumps by ${by}`,
  run: ({ wall }) => Effect.sync(() => void (wall.ahead += millis(by)))
})

export const close: Action = { what: "the scope of the supply closes", run: ({ close }) => close }

// What is seen.

export const status = (select: (status: TokenStatus.TokenStatus) => unknown): Action => ({
  what: "the status",
  look: ({ tokens }) => Effect.map(tokens.status, select)
})

export const lastFailure = (select: (error: TokenError.TokenError) => unknown) =>
  status(({ lastFailure }) => Option.getOrUndefined(Option.map(lastFailure, select)))

export const isRejected = status(({ rejected }) => rejected)
export const isUsable = status(TokenStatus.isUsable)
export const phase = status(({ phase }) => phase)

/** When the supply sends the next request if a caller asks, in seconds since the beginning. */
export const nextRequestAt = status(({ nextRequestAt }) =>
  Option.getOrUndefined(Option.map(nextRequestAt, (at) => DateTime.toEpochMillis(at) / 1_000))
)

/** The lines that were logged since the last look. */
export const log = { what: "the log", look: ({ lines }: Supply) => Effect.sync(() => lines.splice(0)) }

export const aborted: Action = { what: "the aborted requests", look: ({ endpoint }) => endpoint.aborted }

/** The timers of the supply and its callers that have not ended. A timer keeps the process alive. */
export const timers: Action = { what: "the timers", look: ({ time }) => Effect.sync(() => time.timers()) }

const units: Record<string, number> = { ms: 1, s: 1_000, min: 60_000, h: 3_600_000 }

/** Such as `48 min 100 ms`. */
const millis = (time: string): number =>
  Math.round(
    Array.from(time.matchAll(/(-?[\d.]+) (\w+)/g)).reduce(
      (sum, [, count, unit = ""]) => sum + Number(count) * (units[unit] ?? Number.NaN),
      0
    )
  )

/** In place of the result of a step that is not looked at. */
export const unseen = Symbol("unseen")

/** A step of a timeline: when, what happens, its result, and how many token requests were sent until then. */
export type Step = readonly [at: string, action: Action, result?: unknown, requests?: { readonly requests: number }]

export const requests = (requests: number) => ({ requests })

/** Lets a supply live through the steps, which state what must be seen. Requests take 100 ms, and a token lives for one hour. */
export const timeline = Effect.fnUntraced(function*(
  steps: ReadonlyArray<Step>,
  options: Parameters<typeof FakeEndpoint.make>[0] & Parameters<typeof World.make>[1] = {}
) {
  const endpoint = yield* FakeEndpoint.make(options)
  const supply: Supply = { ...(yield* World.make(endpoint.layer, options)), endpoint }
  for (const step of steps) {
    const [at, { look, run, what }, result, sent] = step
    const wait = millis(at) - supply.time.now()
    assert.isAtLeast(wait, 0, `${at} comes after the step before it`)
    yield* supply.time.pass(wait)
    yield* run?.(supply) ?? Effect.void
    yield* supply.time.settle
    // `undefined` can be expected
    if (step.length > 2 && result !== unseen) {
      assert(look !== undefined, `${what}, at ${at}, has no result`)
      assert.deepStrictEqual(yield* look(supply), result, `at ${at}, ${what}`)
    }
    if (sent !== undefined) {
      assert.strictEqual(yield* endpoint.requests, sent.requests, `token requests at ${at}, ${what}`)
    }
  }
})
