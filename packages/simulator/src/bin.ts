#!/usr/bin/env node
import * as Variables from "@credit-data/core/Variables"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Config from "effect/Config"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Simulator from "./Simulator.ts"

/** The port of the business API. The authorization servers of V1 and V2 use the next two ports. */
const port = Config.port("SIMULATOR_PORT").pipe(
  Config.withDefault(7400),
  Effect.filterOrFail(
    (first) => first <= 65_533,
    () => Variables.invalid(["SIMULATOR_PORT"], "Expected a port, and room for two more")
  )
)

const instructions = (variables: Record<string, string>) =>
  `\
The simulator of the credit-data service is running. Ctrl-C ends it.

The variables for a program that uses it:

${Object.entries(variables).map(([name, value]) => `  export ${name}='${value}'`).join("\n")}

A token from Auth V2, with these variables set:

  TOKEN=$(curl --silent "$CREDIT_DATA_AUTH_V2_URL/oauth2/token" \\
    --data-urlencode "client_id=$CREDIT_DATA_CLIENT_ID" \\
    --data-urlencode "client_secret=$CREDIT_DATA_CLIENT_SECRET" \\
    --data-urlencode "audience=$CREDIT_DATA_AUDIENCE" \\
    --data-urlencode "scope=$CREDIT_DATA_SCOPES" \\
    --data-urlencode "grant_type=client_credentials" | sed 's/.*"access_token":"\\([^"]*\\).*/\\1/')

A token from Auth V1: the same with "$CREDIT_DATA_AUTH_V1_URL/oauth/token", and without scope.

A call with that token:

  curl --silent "$CREDIT_DATA_BASE_URL/data-access/consumers/42" --header "Authorization: Bearer $TOKEN"`

const layer = Layer.unwrapEffect(
  Effect.map(port, (first) => Simulator.layer({ ports: { Api: first, AuthV1: first + 1, AuthV2: first + 2 } }))
)

Simulator.variables.pipe(
  Effect.flatMap((variables) => Console.log(instructions(variables))),
  Effect.zipRight(Effect.never),
  Effect.provide(layer),
  Effect.catchTag(
    "ServeError",
    () =>
      Effect.flatMap(port, (first) =>
        Console.error(
          `One of the ports ${first} to ${first + 2} is taken. Set SIMULATOR_PORT to the first of three free ports.`
        )).pipe(Effect.zipRight(Effect.fail("the simulator did not start")))
  ),
  NodeRuntime.runMain
)
