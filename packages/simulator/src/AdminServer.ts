/**
 * Serves the admin API of a simulator, its stream of events, and the console: a page that shows every request and controls the
 * simulator.
 *
 * @since 1.0.0
 */
import type * as HttpServerError from "@effect/platform/HttpServerError"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as api from "./internal/admin/api.ts"
import * as events from "./internal/admin/events.ts"
import * as guard from "./internal/admin/guard.ts"
import { randomText } from "./internal/admin/key.ts"
import * as page from "./internal/admin/page.ts"
import { serve } from "./internal/httpServer.ts"
import { Simulator } from "./Simulator.ts"

/**
 * A running admin server.
 *
 * @since 1.0.0
 * @category services
 */
export class AdminServer extends Context.Tag("@credit-data/simulator/AdminServer")<AdminServer, Service>() {}

/**
 * Where the admin server is, and the key that its actions need.
 *
 * @since 1.0.0
 * @category models
 */
export interface Service {
  /** For example `http://127.0.0.1:7403`. */
  readonly url: string
  readonly key: Redacted.Redacted
}

/**
 * Starts the admin server of the simulator on a loopback port. It responds only to pages and programs of this machine. Whatever
 * changes or reveals something is a POST that needs the key.
 *
 * Building the layer fails with a `ServeError` if the port is in use.
 *
 * @since 1.0.0
 * @category layers
 * @example
 * ```ts
 * import { AdminServer, Simulator } from "@credit-data/simulator"
 * import { Layer } from "effect"
 *
 * export const SimulatorWithConsole = AdminServer.layer().pipe(Layer.provideMerge(Simulator.layer()))
 * ```
 */
export const layer = (
  options: {
    /** Default: a free port. */
    readonly port?: number | undefined
    /** Letters, digits, `_` and `-`. Default, also for an empty one: a new key at each start. */
    readonly key?: Redacted.Redacted | undefined
  } = {}
): Layer.Layer<AdminServer, HttpServerError.ServeError, Simulator> =>
  Layer.scoped(
    AdminServer,
    Effect.gen(function*() {
      const simulator = yield* Simulator
      // an empty key would let every request without a key pass
      const key = options.key !== undefined && Redacted.value(options.key) !== ""
        ? options.key
        : Redacted.make(yield* randomText)
      const run = yield* randomText
      const encoded = events.make(simulator)
      const admin = yield* api.make(simulator, key)

      const app = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
        if (!guard.isOwn(request)) return Effect.succeed(guard.forbidden)
        const [path] = request.url.split("?")
        if (request.method === "GET" && path === "/") return page.make
        if (request.method === "GET" && path === "/events") {
          return Effect.succeed(events.stream(encoded, run, request.headers["last-event-id"]))
        }
        return Effect.scoped(admin)
      })
      const { url } = yield* serve(Effect.map(app, guard.protect), options.port ?? 0)
      return { url, key }
    })
  )
