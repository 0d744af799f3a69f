import { type AccessToken, AccessTokens, type TokenEndpoint, type TokenError } from "@credit-data/core"
import { ForcedRenewalMillis } from "@credit-data/core/Internal"
import { withConstantRandom } from "@credit-data/test-support/constantRandom"
import * as VirtualClock from "@credit-data/test-support/virtualClock"
import { Cause, Effect, Exit, Fiber, Layer, Logger, LogLevel, Scope } from "effect"
import { textOf } from "./fakeEndpoint.ts"

/** What a caller requests from the supply. */
export type Wish = Effect.Effect<AccessToken.AccessToken, TokenError.TokenError>

/** What a caller got: the text of a token, the name of a failure, "waits", "interrupted" or "died". */
export type Outcome = string

const nameOf = (error: TokenError.TokenError): Outcome => error._tag === "TransportError" ? error.reason : error._tag

/** A supply in a time of its own, with its callers. Its pauses have no jitter, and renewal is due at 80 %. */
export const make = Effect.fnUntraced(function*<E>(
  endpoint: Layer.Layer<TokenEndpoint.TokenEndpoint, E>,
  { forcedRenewalMillis = 30_000, onLog, random = 1, settings }: {
    readonly settings?: AccessTokens.Settings | undefined
    readonly forcedRenewalMillis?: number | undefined
    readonly random?: number | undefined
    readonly onLog?: ((line: string) => void) | undefined
  } = {}
) {
  const time = VirtualClock.make()
  const wall = { ahead: 0 }
  const clock = time.clockOf(() => wall.ahead)
  const lines: Array<string> = []
  const logger = Logger.make(({ logLevel, message }) => {
    const line = `${logLevel.label} ${String(message)}`
    onLog?.(line)
    // Effect logs the failures of fibers
    if (!line.startsWith("DEBUG Fiber terminated")) lines.push(line)
  })
  const scope = yield* Effect.acquireRelease(Scope.make(), (scope) => Scope.close(scope, Exit.void))
  const context = yield* Layer.buildWithScope(
    AccessTokens.layer({ renewalWindow: { from: 0.8, to: 0.8 }, ...settings }).pipe(
      Layer.provide([endpoint, Logger.replace(Logger.defaultLogger, logger), Logger.minimumLogLevel(LogLevel.Debug)])
    ),
    scope
  ).pipe(
    Effect.withClock(clock),
    Effect.provideService(ForcedRenewalMillis, forcedRenewalMillis),
    withConstantRandom(random)
  )
  const callers: Array<Fiber.RuntimeFiber<Outcome>> = []
  return {
    tokens: yield* Effect.provide(AccessTokens.AccessTokens, context),
    time,
    clock,
    /** By how many milliseconds the wall clock was set ahead. */
    wall,
    /** What the supply has logged. */
    lines,
    close: Scope.close(scope, Exit.void),
    arrive: (wish: Wish): Effect.Effect<unknown> =>
      wish.pipe(
        Effect.match({ onFailure: nameOf, onSuccess: textOf }),
        Effect.forkDaemon,
        Effect.map((fiber) => callers.push(fiber))
      ),
    /** The caller gives up. Callers count from 0. */
    interrupt: (caller: number): Effect.Effect<unknown> => {
      const fiber = callers[caller]
      return fiber === undefined ? Effect.void : Effect.forkDaemon(Fiber.interrupt(fiber))
    },
    outcomes: Effect.sync(() =>
      callers.map((fiber): Outcome => {
        const exit = fiber.unsafePoll()
        if (exit === null) return "waits"
        return Exit.isSuccess(exit) ? exit.value : Cause.isInterruptedOnly(exit.cause) ? "interrupted" : "died"
      })
    )
  }
})
