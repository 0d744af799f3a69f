// Reads bodies of a server that has closed their connection. Its arguments are a transport and the address of the server.

import { HttpClient } from "@effect/platform"
import { NodeRuntime } from "@effect/platform-node"
import { Effect } from "effect"
import { transport } from "../../src/programOptions.ts"

HttpClient.get(process.argv[3] ?? "").pipe(
  Effect.flatMap((response) => Effect.exit(Effect.delay(response.text, "100 millis"))),
  Effect.repeat({ times: 4 }),
  Effect.provide(transport),
  NodeRuntime.runMain
)
