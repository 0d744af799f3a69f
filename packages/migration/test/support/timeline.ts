import type { AccessToken, AccessTokens, TokenError, TokenStatus } from "@credit-data/core"
import type { Plan } from "@credit-data/migration"
import { assert } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber, Logger, Option, TestClock } from "effect"
import { type Behaviour, setUp, textOf } from "./versions.ts"

interface Migration extends Effect.Effect.Success<ReturnType<typeof setUp>> {
  readonly callers: Array<Fiber.RuntimeFiber<AccessToken.AccessToken, TokenError.TokenError>>
  readonly lines: Array<string>
}

/** What happens, and what is seen after it. */
interface Action {
  readonly what: string
  readonly run?: (migration: Migration) => Effect.Effect<unknown>
  readonly look?: (migration: Migration) => Effect.Effect<unknown>
}

type Tokens = AccessTokens.Service

const versionOf = ({ tokenEndpoint }: { readonly tokenEndpoint: string }) => tokenEndpoint.slice(8, 10).toUpperCase()

const failureOf = (cause: Cause.Cause<TokenError.TokenError>): string =>
  Option.match(Cause.failureOption(cause), {
    onNone: () => "defect",
    onSome: (error) => `${versionOf(error)} ${error._tag}`
  })

/** What a caller has got: the text of a token, the version and tag of a failure, or "waits". Callers count from 1. */
export const caller = (number: number): Action => ({
  what: `caller ${number}`,
  look: ({ callers }) =>
    Effect.sync(() => {
      const exit = callers.at(number - 1)?.unsafePoll() ?? null
      return exit === null ? "waits" : Exit.match(exit, { onFailure: failureOf, onSuccess: textOf })
    })
})

const calls = (what: string, wish: (tokens: Tokens, migration: Migration) => Tokens["get"]): Action => ({
  ...caller(0),
  what,
  run: (migration) =>
    Effect.map(Effect.fork(wish(migration.tokens, migration)), (fiber) => void migration.callers.push(fiber))
})

/** The token that a caller got earlier. */
const earlier = ({ callers }: Migration, text: string): AccessToken.AccessToken => {
  for (const caller of callers) {
    const exit = caller.unsafePoll()
    if (exit !== null && Exit.isSuccess(exit) && textOf(exit.value) === text) return exit.value
  }
  return assert.fail(`no caller got ${text}`)
}

export const get = calls("get", ({ get }) => get)
export const refresh = calls("refresh", ({ refresh }) => refresh)
/** A call got 401 with this token, after those that it has tried before. */
export const replace = (text: string, ...after: ReadonlyArray<string>) =>
  calls(
    `replace ${[text, ...after].join(" after ")}`,
    (tokens, migration) =>
      Effect.suspend(() => tokens.replace(earlier(migration, text), ...after.map((text) => earlier(migration, text))))
  )

export const authV2 = (behaviour: Behaviour): Action => ({
  what: `Auth V2 ${behaviour}`,
  run: ({ v2 }) => Effect.sync(() => void (v2.behaviour = behaviour))
})

export const plan = (next: Plan.Plan): Action => ({
  what: `the plan is ${next.stage}`,
  run: ({ setPlan }) => Effect.sync(() => setPlan(next))
})

/** What a reading of the plan does from now on, instead of returning it. */
export const readingPlan = (instead: Effect.Effect<Plan.Plan, unknown> | undefined): Action => ({
  what: "the plan is read in another way",
  run: ({ reads }) => Effect.sync(() => void (reads.instead = instead))
})

const seen = (what: string, look: (migration: Migration) => Effect.Effect<unknown>): Action => ({ what, look })

/** How many token requests each version has got. */
export const requests = seen("the token requests", ({ v1, v2 }) => Effect.succeed([v1.requests, v2.requests]))

/** How often the plan was read. */
export const reads = seen("the readings of the plan", ({ reads }) => Effect.succeed(reads.count))

type Report = Effect.Effect.Success<Migration["migration"]["report"]>

export const report = (select: (report: Report) => unknown) =>
  seen("the report", ({ migration }) => Effect.map(migration.report, select))

/** How many tokens of each version callers got. */
export const served = report(({ v1, v2 }) => [v1.tokensServed, v2.tokensServed])

const status = (what: string, select: (status: TokenStatus.TokenStatus) => unknown) =>
  seen(what, ({ tokens }) => Effect.map(tokens.status, select))

/** The version in the status. */
export const shown = status("the version", versionOf)

export const tokensServed = status("the tokens served", ({ tokensServed }) => tokensServed)

export const waiting = status("the callers that wait", ({ callersWaiting }) => callersWaiting)

/** The lines since the last look that contain this text. */
export const log = (text: string) =>
  seen("the log", ({ lines }) => Effect.sync(() => lines.splice(0).filter((line) => line.includes(text))))

export type Step = readonly [seconds: number, action: Action, result?: unknown]

/** Lets a migration with this plan live through the steps. Each has its second, what happens, and what must be seen then. */
export const timeline = Effect.fnUntraced(function*(
  initial: Plan.Plan,
  steps: ReadonlyArray<Step>,
  options: Parameters<typeof setUp>[1] = {}
) {
  const lines: Array<string> = []
  const logger = Logger.make(({ logLevel, message }) => void lines.push(`${logLevel.label} ${String(message)}`))
  const world = yield* Effect.provide(setUp(initial, options), Logger.replace(Logger.defaultLogger, logger))
  const migration: Migration = { ...world, lines, callers: [] }
  for (const [seconds, { look, run, what }, result] of steps) {
    yield* TestClock.setTime(seconds * 1_000)
    yield* run?.(migration) ?? Effect.void
    yield* TestClock.adjust(0)
    if (result !== undefined) {
      assert.deepStrictEqual(yield* look?.(migration) ?? Effect.void, result, `at ${seconds} s, ${what}`)
    }
  }
})
