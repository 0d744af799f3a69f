import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpServer from "@effect/platform/HttpServer"
import type * as HttpServerError from "@effect/platform/HttpServerError"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { createServer } from "node:http"

/**
 * Serves an app on a loopback port, 0 for any that is free, and tells its address. Closing the scope ends all connections,
 * idle or not. The server's spans stay out of the traces of the program under test.
 */
export const serve = (
  app: HttpApp.Default,
  port: number
): Effect.Effect<string, HttpServerError.ServeError, Scope.Scope> =>
  Effect.gen(function*() {
    const node = createServer()
    const server = yield* NodeHttpServer.make(() => node, { host: "127.0.0.1", port })
    yield* Effect.addFinalizer(() => Effect.sync(() => node.closeAllConnections()))
    yield* Effect.provideService(HttpServer.serveEffect(app), HttpServer.HttpServer, server)
    return HttpServer.formatAddress(server.address)
  }).pipe(Effect.withTracerEnabled(false))
