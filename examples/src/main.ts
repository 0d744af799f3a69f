// The main use case, end to end: get a token, call the API, replace V1 with V2, handle a refusal.
//
// Without CREDIT_DATA_* variables, the program starts a simulator of the service in this process. With them, it obtains a
// token from the environment that they name, prints its scopes and lifetime, and does not call the API.

import { AuthV1 } from "@credit-data/auth-v1"
import { AuthV2 } from "@credit-data/auth-v2"
import { AccessTokens } from "@credit-data/core"
import { DataAccess, EnablementServices, Furnishment } from "@credit-data/http-client"
import { Simulator } from "@credit-data/simulator"
import { NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { Config, Console, DateTime, Duration, Effect, Layer, Redacted } from "effect"

/** The transport for a server: `node:http` with keep-alive connections. */
const Http = NodeHttpClient.layerWithoutAgent.pipe(
  Layer.provide(NodeHttpClient.makeAgentLayer({ keepAlive: true, timeout: 4_000 }))
)

/** The clients of the three groups share one supply of tokens. */
const Clients = Layer.mergeAll(DataAccess.layer(), Furnishment.layer(), EnablementServices.layer())

// ---- what a program does -------------------------------------------------------------------------------------------

const reportToken = Effect.gen(function*() {
  const tokens = yield* AccessTokens.AccessTokens
  const token = yield* tokens.get
  const lifetime = DateTime.distanceDuration(token.requestedAt, token.expiresAt)
  yield* row("token granted", token.scopes.join(" "))
  yield* row("lifetime", Duration.format(lifetime))
})

const callEachGroup = Effect.gen(function*() {
  const dataAccess = yield* DataAccess.DataAccess
  const furnishment = yield* Furnishment.Furnishment
  const enablementServices = yield* EnablementServices.EnablementServices
  const responses = [
    yield* dataAccess.get("/data-access/consumers/42"),
    yield* furnishment.get("/furnishment/submissions/7"),
    yield* enablementServices.get("/enablement-services/offers/1")
  ]
  for (const { request, status } of responses) {
    yield* row(`${request.method} ${new URL(request.url).pathname}`, String(status))
  }
})

// ---- how it is composed --------------------------------------------------------------------------------------------

const overV2 = AuthV2.layerConfig()
const overV1 = AuthV1.layerConfig() // a migration changes this word
const withWrongCredentials = AuthV2.layerConfig({
  clientId: Config.succeed("another-client"),
  clientSecret: Config.succeed(Redacted.make("not the secret"))
})

const runOver = (auth: typeof overV2) =>
  Effect.zipRight(reportToken, callEachGroup).pipe(
    Effect.provide(Clients.pipe(Layer.provideMerge(auth), Layer.provide(Http)))
  )

// ---- the demonstration ---------------------------------------------------------------------------------------------

const countTokenRequests = <A, E, R>(program: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const simulator = yield* Simulator.Simulator
    const before = yield* simulator.tokenRequests
    yield* program
    yield* row("token requests", String((yield* simulator.tokenRequests) - before))
  })

const demonstration = Effect.gen(function*() {
  yield* Console.log("Against a simulator of the service, in this process (no CREDIT_DATA_* variable is set).")

  yield* heading("Auth V2: one token for three endpoint groups")
  yield* countTokenRequests(runOver(overV2))

  yield* heading("Auth V1: the same program, one word changed")
  yield* countTokenRequests(runOver(overV1))

  yield* heading("Wrong credentials: a typed failure, handled by its tag")
  yield* runOver(withWrongCredentials).pipe(
    Effect.catchTag("InvalidClient", (error) => row(error._tag, error.message))
  )

  yield* Console.log(
    "\nEverything went as expected, the refusal included. Next: docs/get-started.md writes a service and its test."
  )
}).pipe(Effect.provide(Simulator.layerConfigProvider.pipe(Layer.provideMerge(Simulator.layer()))))

const realEnvironment = Effect.gen(function*() {
  const { environment } = yield* AccessTokens.AccessTokens
  yield* heading(`Auth V2 of ${environment.name}: a token, and nothing else is sent`)
  yield* reportToken
}).pipe(Effect.provide(overV2.pipe(Layer.provide(Http))))

const heading = (text: string) => Console.log(`\n${text}`)
const row = (name: string, value: string) => Console.log(`  ${name.padEnd(36)} ${value}`)

const hasVariables = Object.keys(process.env).some((name) => name.startsWith("CREDIT_DATA_"))

NodeRuntime.runMain(hasVariables ? realEnvironment : demonstration)
