import * as Effect from "effect/Effect"
import { globalValue } from "effect/GlobalValue"
import type * as Scope from "effect/Scope"
import type { Service } from "../AccessTokens.ts"

/** A call of an endpoint group that has ended. All of its values are closed: none comes from a URL, a message or a caller. */
export interface FinishedCall {
  readonly group: string
  readonly method: string
  readonly template: string | undefined
  /** Undefined if no response arrived. */
  readonly status: number | undefined
  /** The status, or why there was no response. Undefined for a status below 400. */
  readonly errorType: string | undefined
  /** From the call until its response has arrived, or its failure. */
  readonly seconds: number
}

/** Each call begins and ends once. A call that hangs does not end. */
export interface CallObserver {
  readonly begins: (group: string) => Effect.Effect<void>
  readonly ends: (call: FinishedCall) => Effect.Effect<void>
}

/** By supply, because a program may call the API for several clients. */
const observers = globalValue("@credit-data/core/callObservers", () => new WeakMap<Service, CallObserver>())

/** Receives the calls of the clients of this supply, until the scope closes. */
export const observeCalls = (tokens: Service, observer: CallObserver): Effect.Effect<void, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => void observers.set(tokens, observer)),
    () => Effect.sync(() => observers.get(tokens) === observer && observers.delete(tokens))
  )

/** What receives the calls of the clients of this supply now, if anything does. */
export const callObserver = (tokens: Service): CallObserver | undefined => observers.get(tokens)
