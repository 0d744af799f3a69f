import { HttpApiBuilder, HttpServerResponse } from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { Config, Effect, Layer } from "effect"
import { createServer } from "node:http"
import * as Net from "node:net"

// longer than load balancers keep an idle connection: if the server closed it first, a request could be on its way
const server = createServer({ keepAliveTimeout: 75_000 })

/** The server, on the port that PORT names. */
export const Server = NodeHttpServer.layerConfig(() => server, {
  port: Config.withDefault(Config.port("PORT"), 3000)
})

/** While the server ends, each response closes its connection, so that its client uses another instance. */
export const Closing = HttpApiBuilder.middleware((app) =>
  Effect.map(
    app,
    (response) => server.listening ? response : HttpServerResponse.setHeader(response, "connection", "close")
  )
)

/** Longer than any request, and shorter than what an orchestrator waits between SIGTERM and SIGKILL. */
const limit = "20 seconds"

/** Stops listening, and waits until all connections are closed. */
const closed = Effect.async<void>((resume) => {
  // `http.Server` would also close idle connections, on which a load balancer may just have sent a request
  Net.Server.prototype.close.call(server, () => resume(Effect.void))
})

const closeIdle = Effect.delay(Effect.sync(() => server.closeIdleConnections()), "5 seconds")

/**
 * When it ends, the server accepts no more connections, and responds to the requests on its open ones. It closes unused
 * connections after five seconds, and all others after `limit`. Provide the service
 * to this layer, so that it ends first.
 */
export const Draining = Layer.scopedDiscard(
  Effect.addFinalizer(() =>
    Effect.interruptible(Effect.raceFirst(closed, Effect.zipRight(closeIdle, Effect.never))).pipe(
      Effect.timeoutOption(limit),
      Effect.andThen(Effect.sync(() => server.closeAllConnections()))
    )
  )
)
