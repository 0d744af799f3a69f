import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as HttpServer from "@effect/platform/HttpServer"
import type * as HttpServerError from "@effect/platform/HttpServerError"
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { createServer } from "node:http"
import { publicUrl } from "./host.ts"

/** How a server responds to a request. */
export type App = Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest>

/** A server that is listening. */
export interface Serving {
  readonly url: string
  readonly openConnections: Effect.Effect<number>
}

/** Where a server listens. Port 0 takes any free port. */
export interface Address {
  readonly host: string
  readonly port: number
}

/**
 * Serves an app. Closing the scope ends all connections, idle or not. The server
 * creates no spans, because they would appear in the traces of the program under test.
 */
export const serve = (
  app: App,
  { host, port }: Address
): Effect.Effect<Serving, HttpServerError.ServeError, Scope.Scope> =>
  Effect.gen(function*() {
    const node = createServer()
    // closing the scope ends all connections, so Effect 4 has nothing to wait for
    const listening = { host, port, disablePreemptiveShutdown: true }
    const server = yield* NodeHttpServer.make(() => node, listening)
    yield* Effect.addFinalizer(() => Effect.sync(() => node.closeAllConnections()))
    yield* Effect.provideService(HttpServer.serveEffect(app), HttpServer.HttpServer, server)
    // without a listener, Node ignores an offer to upgrade to HTTP/2; with the platform's, the request would have no body
    node.removeAllListeners("upgrade")
    const taken = "port" in server.address ? server.address.port : port
    return {
      url: publicUrl(host, taken),
      openConnections: Effect.async<number>((resume) => {
        node.getConnections((_, count) => resume(Effect.succeed(count)))
      })
    }
  }).pipe(Effect.withTracerEnabled(false))
