#!/usr/bin/env node
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Config from "effect/Config"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { variables } from "./internal/variables.ts"
import * as Simulator from "./Simulator.ts"

/** The port of the business API; the authorization servers of V1 and V2 have the next two. */
const port = Config.integer("CREDIT_DATA_SIMULATOR_PORT").pipe(Config.withDefault(7400))

const instructions = (pairs: ReadonlyArray<readonly [name: string, value: string]>) =>
  `\
The simulator of the credit-data service is running. Ctrl-C ends it.

Variables that lead a program to it:

${pairs.map(([name, value]) => `  export ${name}='${value}'`).join("\n")}

A token from Auth V2, with these variables set:

  curl "$CREDIT_DATA_AUTH_V2_URL/oauth2/token" \\
    --data-urlencode "client_id=$CREDIT_DATA_CLIENT_ID" \\
    --data-urlencode "client_secret=$CREDIT_DATA_CLIENT_SECRET" \\
    --data-urlencode "audience=$CREDIT_DATA_AUDIENCE" \\
    --data-urlencode "scope=$CREDIT_DATA_SCOPES" \\
    --data-urlencode "grant_type=client_credentials"

A call with that token:

  curl "$CREDIT_DATA_BASE_URL/data-access/consumers/42" --header "Authorization: Bearer <access_token>"`

const layer = Layer.unwrapEffect(
  Effect.map(port, (first) => Simulator.layer({ ports: { Api: first, AuthV1: first + 1, AuthV2: first + 2 } }))
)

Simulator.Simulator.pipe(
  Effect.flatMap(variables),
  Effect.flatMap((pairs) => Console.log(instructions(pairs))),
  Effect.zipRight(Effect.never),
  Effect.provide(layer),
  NodeRuntime.runMain
)
