import * as AuthV1 from "@credit-data/auth-v1/AuthV1"
import * as AuthV2 from "@credit-data/auth-v2/AuthV2"
import type * as ClientCredentials from "@credit-data/core/ClientCredentials"
import * as Variables from "@credit-data/core/Variables"
import { ofFetch } from "@credit-data/http-client/Internal"
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type { Credentials, Options } from "../Connection.ts"
import { logging } from "./logging.ts"
import { makeNodeFetch } from "./nodeFetch.ts"
import type { Parts } from "./open.ts"
import { plain } from "./plain.ts"

const transport = ({ agent, fetch }: Options) => {
  if (fetch !== undefined) return { fetch, sender: ofFetch(fetch, plain), release: () => {} }
  const node = makeNodeFetch({ agent })
  return { fetch: node.fetch, sender: node.sender(plain), release: node.close }
}

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

const credentialsOf = (read: () => Promise<Credentials>): Effect.Effect<ClientCredentials.ClientCredentials, unknown> =>
  Effect.map(Effect.tryPromise({ try: async () => read(), catch: identity }), (found) => {
    // a program without types may return nothing, which the supply reports
    const { clientId, clientSecret }: Credentials = { ...found }
    return { clientId, clientSecret: Redacted.make(clientSecret) }
  })

/** A program without types may pass anything. */
const check = ({ agent, credentials, fetch, log, variables }: Options): void => {
  const expect = (name: string, value: unknown, isExpected: boolean, what: string) => {
    if (value !== undefined && !isExpected) throw new TypeError(`Expected the option ${name} to be ${what}`)
  }
  expect("credentials", credentials, typeof credentials === "function", "a function that returns a Promise")
  expect("fetch", fetch, typeof fetch === "function", "a function like the global fetch")
  expect("variables", variables, typeof variables === "object" && variables !== null, "an object")
  expect(
    "agent",
    agent,
    typeof agent === "object" && agent !== null && "sockets" in agent,
    "an http.Agent or an https.Agent"
  )
  for (const level of ["debug", "info", "warn", "error"] as const) {
    expect(`log.${level}`, log, typeof log?.[level] === "function", "a function")
  }
  if (agent !== undefined && fetch !== undefined) {
    throw new TypeError("Expected the option agent or fetch, and not both")
  }
}

/** The parts of the real service. */
export const service = (options: Options): Parts => {
  check(options)
  const { credentials, log } = options
  const settings = { credentials: credentials === undefined ? undefined : credentialsOf(credentials) }
  const { fetch, release, sender } = transport(options)
  return {
    supply: Layer.unwrapEffect(
      Effect.map(
        Variables.read({ version }),
        ({ version }) => version === "v1" ? AuthV1.layerConfig(settings) : AuthV2.layerConfig(settings)
      )
    ).pipe(
      Layer.provide(Layer.provide(FetchHttpClient.layer, Layer.succeed(FetchHttpClient.Fetch, fetch))),
      Layer.provide(Layer.merge(Layer.setConfigProvider(provider(options)), logging(log)))
    ),
    sender,
    release
  }
}
