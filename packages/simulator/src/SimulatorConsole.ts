/**
 * The console of a simulator: a page that shows requests and controls the simulator, and the admin API for programs in any language.
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
import { isSame, randomText } from "./internal/admin/key.ts"
import * as page from "./internal/admin/page.ts"
import { Validation } from "@credit-data/core/Internal"
import { serve } from "./internal/httpServer.ts"
import { Simulator } from "./Simulator.ts"

/**
 * A running console.
 *
 * @since 1.0.0
 * @category services
 */
export class SimulatorConsole
  extends Context.Tag("@credit-data/simulator/SimulatorConsole")<SimulatorConsole, Service>()
{}

/**
 * Where the console is, and the key that its actions need.
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
 * Serves the simulator's console and the admin API. Every POST needs the key, because it changes the simulator or reveals the client
 * secret. A browser takes the key from the address `<url>/#key=<key>`, and a program sends it in the header `x-api-key`.
 * `GET /api/v1/openapi.json` describes the admin API.
 *
 * Building the layer fails with a `ServeError` if it cannot listen on the port.
 *
 * @since 1.0.0
 * @category layers
 * @example
 * ```ts
 * import { SimulatorConsole, Simulator } from "@credit-data/simulator"
 * import { Layer } from "effect"
 *
 * export const SimulatorWithConsole = SimulatorConsole.layer().pipe(Layer.provideMerge(Simulator.layer()))
 * ```
 */
export const layer = (
  options: {
    /** The address to listen on. Default: `127.0.0.1`. On any other than a loopback address, reading needs the key too. */
    readonly host?: string | undefined
    /** The port to listen on. Default: a free port. */
    readonly port?: number | undefined
    /** The key: letters, digits, `_` and `-`. Default: a new key at each start. */
    readonly key?: Redacted.Redacted | undefined
  } = {}
): Layer.Layer<SimulatorConsole, HttpServerError.ServeError, Simulator> =>
  Layer.scoped(
    SimulatorConsole,
    Effect.gen(function*() {
      const simulator = yield* Simulator
      // an empty key would let every request without a key pass
      const key = options.key !== undefined && Redacted.value(options.key) !== ""
        ? options.key
        : Redacted.make(yield* randomText)
      const run = yield* randomText
      const encoded = events.make(simulator)
      const admin = yield* api.make(simulator, key)

      const host = options.host ?? "127.0.0.1"
      const isPublic = !Validation.isLoopback(host)
      const app = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
        if (!guard.isOwn(request, isPublic)) return Effect.succeed(guard.forbidden)
        const [path] = request.url.split("?")
        // the page has no data
        if (request.method === "GET" && path === "/") return page.make
        if (isPublic && !isSame(guard.keyOf(request), key)) return Effect.succeed(guard.unauthorized)
        if (request.method === "GET" && path === "/api/v1/events") {
          return Effect.succeed(events.stream(encoded, run, request.headers["last-event-id"]))
        }
        return Effect.scoped(admin)
      })
      const { url } = yield* serve(Effect.map(app, guard.protect), { host, port: options.port ?? 0 })
      return { url, key }
    })
  )
