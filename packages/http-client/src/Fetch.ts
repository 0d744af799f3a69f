/**
 * A `fetch` for an endpoint group, for libraries that are not written in Effect.
 *
 * @since 1.0.0
 */
import type * as AccessScope from "@credit-data/core/AccessScope"
import type * as AccessTokens from "@credit-data/core/AccessTokens"
import type * as HttpMethod from "@effect/platform/HttpMethod"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import type * as Scope from "effect/Scope"
import type { Values } from "./GroupClient.ts"
import { makeDoor } from "./internal/door.ts"
import { ofFetch } from "./internal/sender.ts"

/**
 * The options of a `fetch`.
 *
 * @since 1.0.0
 * @category models
 */
export interface Options {
  /** The name of the endpoint group. It appears in metrics. */
  readonly name: string
  /** The scope that a token must cover before it is sent. Default: none, so the server decides. */
  readonly scope?: AccessScope.AccessScope | undefined
  /**
   * Sends the requests, which contain the token. A proxy, certificates and a test's responses belong here. Default: the global `fetch`.
   */
  readonly fetch?: typeof globalThis.fetch | undefined
}

/**
 * Calls a path that contains values, such as an id from outside. Each value is encoded. With an empty value, or one that would make its
 * segment `.` or `..`, the call rejects with a `CallError` (`InvalidUrl`), and nothing is sent.
 *
 * @since 1.0.0
 * @category models
 */
export type Call = <const Template extends `/${string}`>(
  method: HttpMethod.HttpMethod,
  template: Template,
  values: Values<Template>,
  init?: Omit<RequestInit, "method">
) => Promise<Response>

/**
 * A `fetch` for one endpoint group, and a function for paths that contain values.
 *
 * @since 1.0.0
 * @category models
 */
export interface GroupFetch {
  (input: string | URL | Request, init?: RequestInit): Promise<Response>
  readonly call: Call
}

/**
 * Makes a `fetch` that sends each request with a token, by the rules of `GroupClient`: it adds the base URL to a relative URL, sends the
 * request again with another token after a 401, and again after a closed connection.
 *
 * Differences from the given `fetch`:
 *
 * - A redirect is not followed. The caller gets the redirect as the response.
 * - A body that is a stream is sent once: after a 401, the caller gets the 401. The body of a `Request` is sent again if it has up to 1 MiB.
 * - It drops `host`, `content-length` and the headers of a connection.
 * - A failed call rejects with a token error, an `InsufficientScope` or a `CallError`. Reading a body that breaks off rejects with a
 *   `CallError` too. After an abort, it rejects with the reason of the signal.
 *
 * There is no timeout. Pass a signal, such as `AbortSignal.timeout(15_000)`, which covers the body of the response too. A call has no span.
 *
 * When the scope closes, calls in progress and later calls reject with a `CallError` (`Closed`). For several tenants, wrap the whole layer of
 * each one in `Layer.fresh`, because Effect would build a const once for all of them.
 *
 * Fails with a `ConfigError` if the supply requests scopes and this one is not among them, or if its base URL is not valid.
 *
 * @since 1.0.0
 * @category constructors
 * @example
 * ```ts
 * import { Fetch } from "@credit-data/http-client"
 * import { Effect } from "effect"
 *
 * export const program = Effect.gen(function*() {
 *   const dataAccess = yield* Fetch.make({ name: "Data Access", scope: "data-access:all" })
 *   const response = yield* Effect.promise(() => dataAccess.call("GET", "/data-access/consumers/{id}", { id: 42 }))
 *   return yield* Effect.promise(() => response.json())
 * })
 * ```
 */
export const make = (
  { fetch = (input, init) => globalThis.fetch(input, init), name, scope }: Options
): Effect.Effect<GroupFetch, ConfigError.ConfigError, AccessTokens.AccessTokens | Scope.Scope> =>
  Effect.map(
    Effect.suspend(() => makeDoor({ name, scope, sender: ofFetch(fetch, identity), present: identity })),
    ({ call, fetch }): GroupFetch =>
      Object.assign((input: string | URL | Request, init?: RequestInit) => fetch(input, init), { call })
  )
