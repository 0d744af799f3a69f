import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as HttpServer from "@effect/platform/HttpServer"
import type * as HttpServerError from "@effect/platform/HttpServerError"
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { createServer } from "node:http"

/** How a server responds to a request. */
export type App = Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest>

/** A server that is listening. */
export interface Serving {
  readonly url: string
  readonly openConnections: Effect.Effect<number>
}

/**
 * Serves an app on a loopback port. Port 0 takes any free port. Closing the scope ends all connections, idle or not. The server
 * creates no spans, because they would appear in the traces of the program under test.
 */
export const serve = (
  app: App,
  port: number
): Effect.Effect<Serving, HttpServerError.ServeError, Scope.Scope> =>
  Effect.gen(function*() {
    const node = createServer()
    const server = yield* NodeHttpServer.make(() => node, { host: "127.0.0.1", port })
    yield* Effect.addFinalizer(() => Effect.sync(() => node.closeAllConnections()))
    yield* Effect.provideService(HttpServer.serveEffect(app), HttpServer.HttpServer, server)
    return {
      url: HttpServer.formatAddress(server.address),
      openConnections: Effect.async<number>((resume) => {
        node.getConnections((_, count) => resume(Effect.succeed(count)))
      })
    }
  }).pipe(Effect.withTracerEnabled(false))
