import * as AuthV1 from "@credit-data/auth-v1/AuthV1"
import * as AuthV2 from "@credit-data/auth-v2/AuthV2"
import type * as ClientCredentials from "@credit-data/core/ClientCredentials"
import * as Variables from "@credit-data/core/Variables"
import * as DataAccess from "@credit-data/http-client/DataAccess"
import * as EnablementServices from "@credit-data/http-client/EnablementServices"
import * as Furnishment from "@credit-data/http-client/Furnishment"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type { Credentials, Options } from "../Connection.ts"
import { logging } from "./logging.ts"
import type { Layers } from "./open.ts"

const transport = ({ fetch }: Options) =>
  fetch === undefined
    ? NodeHttpClient.layerWithoutAgent.pipe(
      Layer.provide(NodeHttpClient.makeAgentLayer({ keepAlive: true, timeout: 4_000 }))
    )
    : Layer.provide(FetchHttpClient.layer, Layer.succeed(FetchHttpClient.Fetch, fetch))

const provider = ({ auth, variables }: Options): ConfigProvider.ConfigProvider => {
  const own = new Map(auth === undefined ? [] : [["CREDIT_DATA_AUTH", auth]])
  if (variables === undefined) return ConfigProvider.orElse(ConfigProvider.fromMap(own), () => ConfigProvider.fromEnv())
  const set = Object.entries(variables).flatMap(([name, value]) => value === undefined ? [] : [[name, value] as const])
  return ConfigProvider.fromMap(new Map([...set, ...own]))
}

const version = Config.withDefault(
  Variables.literal("CREDIT_DATA_AUTH", { description: "the version of the token endpoint", values: ["v1", "v2"] }),
  "v2"
)

const source = (read: () => Promise<Credentials>): Effect.Effect<ClientCredentials.ClientCredentials, unknown> =>
  Effect.map(Effect.tryPromise({ try: read, catch: identity }), (found) => {
    // a program without types may return nothing, which the supply reports
    const { clientId, clientSecret }: Credentials = { ...found }
    return { clientId, clientSecret: Redacted.make(clientSecret) }
  })

/** The layers of the real service. */
export const service = (options: Options): Layers => {
  const { credentials, log } = options
  const settings = { credentials: credentials === undefined ? undefined : source(credentials) }
  return {
    supply: Layer.unwrapEffect(
      Effect.map(
        Variables.read({ version }),
        ({ version }) => version === "v1" ? AuthV1.layerConfig(settings) : AuthV2.layerConfig(settings)
      )
    ).pipe(
      Layer.provideMerge(transport(options)),
      Layer.provide(Layer.merge(Layer.setConfigProvider(provider(options)), logging(log)))
    ),
    dataAccess: DataAccess.layer(),
    furnishment: Furnishment.layer(),
    enablementServices: EnablementServices.layer()
  }
}
