// One token supply for each tenant, built when the tenant first calls. The secret manager fails once, and the next call works.

import { AuthV2 } from "@credit-data/auth-v2"
import { ClientCredentials } from "@credit-data/core"
import { DataAccess, GroupClient } from "@credit-data/http-client"
import { Simulator } from "@credit-data/simulator"
import { NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { Console, Context, Data, Effect, Layer, LayerMap, Scope } from "effect"

class SecretManagerDown extends Data.TaggedError("SecretManagerDown")<{ readonly tenant: string }> {}

/** Your client of a secret manager. */
class SecretManager extends Context.Tag("SecretManager")<SecretManager, {
  readonly read: (tenant: string) => Effect.Effect<ClientCredentials.ClientCredentials, SecretManagerDown>
}>() {}

/** Here, the simulator replaces a secret manager, which fails for the first time. */
const Secrets = Layer.effect(
  SecretManager,
  Effect.map(Simulator.Simulator, ({ credentials }) => {
    let reads = 0
    return {
      read: (tenant) =>
        Effect.suspend(() => ++reads === 1 ? Effect.fail(new SecretManagerDown({ tenant })) : credentials)
    }
  })
)

class Tenants extends LayerMap.Service<Tenants>()("Tenants", {
  lookup: (tenant: string) =>
    // Effect could share a layer const in here between the tenants, with the token of the first one
    Layer.fresh(
      DataAccess.layer().pipe(
        Layer.provide(
          AuthV2.layerConfig({ credentials: ClientCredentials.from(SecretManager, (secrets) => secrets.read(tenant)) })
        )
      )
    ),
  idleTimeToLive: "1 hour"
}) {}

/**
 * The clients of a tenant, built with the map's services, and not with those of the first caller. A build that fails or is interrupted is
 * forgotten, so the tenant's next call builds them again.
 */
const clientsOf = (tenant: string) =>
  Layer.scopedContext(
    Effect.onError(Layer.build(Tenants.get(tenant)), () => Tenants.invalidate(tenant)).pipe(
      Effect.mapInputContext((caller: Context.Context<Scope.Scope | Tenants>) =>
        Context.pick(Scope.Scope, Tenants)(caller)
      )
    )
  )

const consumer = (tenant: string, id: string) =>
  Effect.flatMap(DataAccess.DataAccess, GroupClient.call("GET", "/data-access/consumers/{id}", { id })).pipe(
    Effect.map(({ status }) => `${tenant}: ${status}`),
    Effect.provide(clientsOf(tenant)),
    Effect.catchTag("SecretManagerDown", () => Effect.succeed(`${tenant}: the secret manager is down`))
  )

Effect.gen(function*() {
  const { tokenRequests } = yield* Simulator.Simulator
  for (const id of ["41", "42", "43"]) yield* Console.log(yield* consumer("acme", id))
  yield* Console.log(`token requests: ${yield* tokenRequests}`)
}).pipe(
  Effect.provide(
    Tenants.Default.pipe(
      Layer.provide(Layer.merge(NodeHttpClient.layer, Secrets)),
      Layer.provideMerge(Layer.provideMerge(Simulator.layerConfigProvider, Simulator.layer()))
    )
  ),
  NodeRuntime.runMain
)
