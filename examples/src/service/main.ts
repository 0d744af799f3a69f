// A service to start from: it calls Data Access, checks its health, exports metrics, traces and logs, and ends gracefully.
//
// CREDIT_DATA_AUTH       v1 or v2, the version of the token endpoint. Default: v2.
// CREDIT_DATA_…          the variables of that version, such as CREDIT_DATA_CLIENT_ID.
// PORT                   the port of the service. Default: 3000.
// OTEL_EXPORTER_OTLP_ENDPOINT   the address of a collector. Without it, nothing is exported; /metrics is always there.

import { NodeRuntime } from "@effect/platform-node"
import { Layer } from "effect"
import { Logs } from "./observability.ts"
import { Service } from "./service.ts"

Service.pipe(Layer.provide(Logs), Layer.launch, NodeRuntime.runMain({ disablePrettyLogger: true }))
