import type { AccessScope } from "@credit-data/core/AccessScope"
import type { AccessToken } from "@credit-data/core/AccessToken"
import type { AccessTokens } from "@credit-data/core/AccessTokens"
import { callObserver, Instant } from "@credit-data/core/Internal"
import type { TokenError } from "@credit-data/core/TokenError"
import * as Cause from "effect/Cause"
import type * as ConfigError from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Tracer from "effect/Tracer"
import { CallError } from "../CallError.ts"
import type { InsufficientScope } from "../InsufficientScope.ts"
import { type Arguments, parse } from "./arguments.ts"
import { cut, mayArriveTwice, mostRead, mostReadMillis } from "./attempts.ts"
import { callFailure, closed, refused } from "./callFailure.ts"
import { makeGroup } from "./group.ts"
import { expand, refusedValues } from "./path.ts"
import type { Sender } from "./sender.ts"

// The calls of a `fetch`, in plain async code: between the caller and the wire there is no Effect but for the token.

export interface Options {
  readonly name: string
  readonly scope?: AccessScope | undefined
  readonly sender: Sender
  /** What the caller gets for an error. It is made where the caller awaits the call, so that its stack has the caller's line. */
  readonly present: (error: unknown) => unknown
}

export interface Door {
  readonly fetch: (input: unknown, init?: RequestInit) => Promise<Response>
  readonly call: (
    method: string,
    template: string,
    values: Readonly<Record<string, string | number>>,
    init?: Omit<RequestInit, "method">
  ) => Promise<Response>
}

const bearer = (token: AccessToken): string => `Bearer ${Redacted.value(token.secret)}`

/**
 * Reads the body of a 401, so that its connection can be reused. Closes the connection if the body is larger than 64 KiB or takes more than
 * a second. Returns what makes a response of what was read, which ends with `failure` if that is not all.
 */
const release = async (response: Response, failure: () => unknown): Promise<() => Response> => {
  const { body } = response
  // the bodies of other implementations of `fetch` remain as they are
  if (!(body instanceof ReadableStream)) return () => response
  const reader = body.getReader()
  const cancel = () => void reader.cancel().catch(() => undefined)
  const chunks: Array<Uint8Array<ArrayBuffer>> = []
  let left = mostRead
  let isWhole = false
  let isLate = false
  const timer = setTimeout(() => {
    // what was read then ends like a whole body
    isLate = true
    cancel()
  }, mostReadMillis)
  try {
    while (left >= 0) {
      const { done, value } = await reader.read()
      if (done) {
        isWhole = !isLate
        break
      }
      chunks.push(value.subarray(0, left))
      left -= value.length
    }
  } catch {
    // its connection failed
  }
  clearTimeout(timer)
  if (!isWhole) cancel()
  return () => {
    const { headers, status, statusText, url } = response
    const read = new ReadableStream({
      pull: (controller) => {
        const chunk = chunks.shift()
        if (chunk !== undefined) controller.enqueue(chunk)
        else if (isWhole) controller.close()
        else controller.error(failure())
      }
    })
    return Object.defineProperty(new Response(read, { headers, status, statusText }), "url", { value: url })
  }
}

const incomplete = () => new CallError({ message: cut().message, reason: "Cut", retryable: true })

/** The URL or path, unless it is refused. */
const orRefuse = (found: Either.Either<string, string>, describe: (why: string) => string): string =>
  Either.getOrThrowWith(found, (why) => refused("InvalidUrl", describe(why)))

/** A turn of the event loop, in which the transport detects its other closed connections. */
const turn = () => new Promise((resolve) => void setTimeout(resolve, 0))

/** The calls of an endpoint group, until the scope closes. */
export const makeDoor = Effect.fnUntraced(function*(
  { name, present, scope, sender }: Options
): Effect.fn.Return<Door, ConfigError.ConfigError, AccessTokens | Scope.Scope> {
  const group = yield* makeGroup({ name, scope })
  const { clock, tokens } = group
  const fork = yield* Effect.mapInputContext(
    FiberSet.makeRuntime(),
    // the span in which the `fetch` was made has ended
    (context: Context.Context<Scope.Scope>) => Context.omit(Tracer.ParentSpan)(context)
  )
  let isClosed = false
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      isClosed = true
      sender.close(present(closed()))
    })
  )
  const endIfClosed = (signal: AbortSignal | undefined) => {
    signal?.throwIfAborted()
    if (isClosed) throw closed()
  }

  /** A token, or the reason of the signal, which ends the wait. */
  const obtain = async <A>(
    token: Effect.Effect<A, TokenError | InsufficientScope>,
    signal: AbortSignal | undefined
  ): Promise<A> => {
    const fiber = fork(Effect.interruptible(token))
    // a token that is there costs no turn of the event loop
    const polled = fiber.unsafePoll()
    const exit = polled === null ? await endOf(fiber, signal) : polled
    endIfClosed(signal)
    if (Exit.isSuccess(exit)) return exit.value
    throw Cause.squash(exit.cause)
  }

  const endOf = <A, E>(fiber: Fiber.RuntimeFiber<A, E>, signal: AbortSignal | undefined): Promise<Exit.Exit<A, E>> =>
    new Promise((resolve) => {
      const abort = () => void fork(Fiber.interrupt(fiber))
      signal?.addEventListener("abort", abort, { once: true })
      fiber.addObserver((exit) => {
        signal?.removeEventListener("abort", abort)
        resolve(exit)
      })
    })

  const send = async (url: string, request: Arguments): Promise<Response> => {
    const { body, canBeSentAgain, init, method, signal } = request
    const attempts = group.begin()
    // a request with its own header is sent as it is
    const own = request.headers["authorization"]
    const isResendable = canBeSentAgain && mayArriveTwice(method, "idempotency-key" in request.headers)
    let token = own !== undefined ? undefined : await obtain(tokens.get, signal)
    for (let resends = 0;; resends++) {
      const uncovered = token && group.uncovered(token, resends > 0)
      if (uncovered !== undefined) return await obtain(uncovered, signal)
      // the body of a `Request` or the turn after a reset took time
      endIfClosed(signal)
      const headers = token === undefined ? request.headers : { ...request.headers, authorization: bearer(token) }
      let response: Response
      try {
        response = await sender.fetch(url, {
          ...init,
          method,
          headers,
          redirect: "manual",
          signal: signal ?? null,
          ...(body !== undefined && { body, ...(!canBeSentAgain && { duplex: "half" }) })
        })
      } catch (error) {
        endIfClosed(signal)
        const failure = callFailure(error, { url, authorization: headers["authorization"] }, "Request")
        const isReset = failure instanceof CallError && failure.reason === "Reset"
        if (!isReset || !isResendable || !attempts.mayResend()) throw failure
        await turn()
        // the token may have expired or been replaced while the call waited for a response
        if (token !== undefined) token = await obtain(tokens.get, signal)
        continue
      }
      if (response.status !== 401 || token === undefined) return response
      if (!attempts.mayTryAnother() || !canBeSentAgain) {
        await obtain(tokens.invalidate(token), undefined)
        return response
      }
      // an unread response keeps its connection, which may be the one that the token request waits for
      const restore = await release(response, () => present(incomplete()))
      endIfClosed(signal)
      const next = await obtain(Effect.option(tokens.replace(token, ...attempts.rejected)), signal)
      attempts.rejected.push(token)
      if (next._tag === "None" || attempts.hasTried(next.value)) return restore()
      token = next.value
    }
  }

  const observed = async (url: string, request: Arguments, template: string | undefined): Promise<Response> => {
    const observer = callObserver(tokens)
    if (observer === undefined) return send(url, request)
    const startedAt = Instant.monotonicMillis(clock)
    fork(Effect.ignore(observer.begins(name)))
    const report = (status: number | undefined, errorType: string | undefined) => {
      const seconds = (Instant.monotonicMillis(clock) - startedAt) / 1_000
      fork(Effect.ignore(observer.ends({ group: name, method: request.method, template, status, errorType, seconds })))
    }
    try {
      const response = await send(url, request)
      report(response.status, response.status >= 400 ? String(response.status) : undefined)
      return response
    } catch (error) {
      report(undefined, errorTypeOf(error, request.signal))
      throw error
    }
  }

  const fetch = async (input: unknown, init: RequestInit | undefined, template?: string): Promise<Response> => {
    try {
      if (isClosed) throw closed()
      const parsed = parse(input, init)
      const request = parsed instanceof Promise ? await parsed : parsed
      return await observed(
        orRefuse(group.target(request.url), (why) => `${why}, so nothing was sent`),
        request,
        template
      )
    } catch (error) {
      throw present(error)
    }
  }

  return {
    fetch: (input, init) => fetch(input, init),
    call: async (method, template, values, init) => {
      try {
        return await fetch(orRefuse(expand(template, values), refusedValues), { ...init, method }, template)
      } catch (error) {
        throw present(error)
      }
    }
  }
})

/** The type of an error in metrics. It has no URL and no message. */
const errorTypeOf = (error: unknown, signal: AbortSignal | undefined): string => {
  if (signal?.aborted === true && error === signal.reason) return "Interrupted"
  if (error instanceof CallError) return error.reason === "Closed" ? "Interrupted" : error.reason
  return Predicate.hasProperty(error, "_tag") && Predicate.isString(error._tag) ? error._tag : "Defect"
}
