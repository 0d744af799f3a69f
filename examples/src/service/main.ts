// A service to start from: it calls Data Access, checks its health, exports metrics, traces and logs, and ends gracefully.
//
// CREDIT_DATA_AUTH       v1 or v2, the version of the token endpoint. Default: v2.
// CREDIT_DATA_…          the variables of that version, such as CREDIT_DATA_CLIENT_ID.
// SECRETS_FOLDER         a folder with files that are named like variables, as Kubernetes mounts a secret. A variable takes precedence.
// PORT                   the port of the service. Default: 3000.
// OTEL_EXPORTER_OTLP_ENDPOINT   the address of a collector. Without it, nothing is exported; /metrics is always there.

import { PlatformConfigProvider } from "@effect/platform"
import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { Config, Effect, Layer, Option } from "effect"
import { Logs } from "./observability.ts"
import { Draining } from "./server.ts"
import { Service } from "./service.ts"

const Files = Layer.unwrapEffect(
  Effect.map(
    Config.option(Config.nonEmptyString("SECRETS_FOLDER")),
    Option.match({
      onNone: () => Layer.empty,
      onSome: (folder) =>
        PlatformConfigProvider.layerFileTreeAdd({ rootDirectory: folder }).pipe(Layer.provide(NodeContext.layer))
    })
  )
)

// The first signal begins the end, and further ones change nothing. Without these listeners, SIGHUP or a second SIGTERM could end the process
// at once, and with it the open requests.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => {})
process.on("SIGHUP", () => process.emit("SIGTERM"))

Draining.pipe(
  Layer.provide(Service),
  Layer.provide(Files),
  Layer.launch,
  Effect.tapErrorCause(Effect.logFatal),
  Effect.provide(Logs),
  NodeRuntime.runMain({ disableErrorReporting: true, disablePrettyLogger: true })
)
