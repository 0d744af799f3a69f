/**
 * An imitation of the service: the authorization servers of V1 and V2, and the business API.
 *
 * @since 1.0.0
 */
import * as AccessScope from "@credit-data/core/AccessScope"
import type * as AccessToken from "@credit-data/core/AccessToken"
import type * as ClientCredentials from "@credit-data/core/ClientCredentials"
import type * as Environment from "@credit-data/core/Environment"
import type * as HttpServerError from "@effect/platform/HttpServerError"
import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import type * as ConfigError from "effect/ConfigError"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import type * as DateTime from "effect/DateTime"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type * as Stream from "effect/Stream"
import type * as Change from "./Change.ts"
import type * as Fault from "./Fault.ts"
import type * as Fixture from "./Fixture.ts"
import { make } from "./internal/make.ts"
import type * as IssuedToken from "./IssuedToken.ts"
import type * as Received from "./Received.ts"

/**
 * A running imitation of the service.
 *
 * @since 1.0.0
 * @category services
 */
export class Simulator extends Context.Tag("@credit-data/simulator/Simulator")<Simulator, Service>() {}

/**
 * Which requests a fault applies to, and how often.
 *
 * @since 1.0.0
 * @category models
 */
export interface FaultOptions extends Fault.Selection {
  /** How many requests it applies to. `Infinity` stands for all, until the faults are cleared. Default: 1. */
  readonly times?: number | undefined
}

/**
 * What a test can read from a simulator, and how it controls it.
 *
 * @since 1.0.0
 * @category models
 */
export interface Service {
  /** The environment, with the addresses of its servers. */
  readonly environment: Environment.Environment & { readonly authV1Url: string; readonly authV2Url: string }
  /** The credentials that it accepts now. */
  readonly credentials: Effect.Effect<ClientCredentials.ClientCredentials>
  /** The newest 1 000 requests that its servers have received, in order. */
  readonly received: Effect.Effect<ReadonlyArray<Received.Received>>
  /** How many requests the token endpoints have received since the start or the last reset. */
  readonly tokenRequests: Effect.Effect<number>
  /** How many requests each server has received since the start or the last reset. */
  readonly counts: Effect.Effect<Readonly<Record<Received.Server, number>>>
  /**
   * The changes after this revision, and then the new ones, in order. 0 stands for the start, and -1 gives the start too, as a reset
   * with its settings. A slow listener gets a request or a token in its latest state only.
   */
  readonly changes: (after: number) => Stream.Stream<Change.Change>
  /** Waits until the server has received this many requests since the start or the last reset. */
  readonly awaitReceived: (server: Received.Server, count: number) => Effect.Effect<void>
  /** How many connections to its servers are open now. */
  readonly openConnections: Effect.Effect<number>
  /**
   * Applies this fault to the next requests to the token endpoints; to one by default. `times: Infinity` applies it until
   * `clearFaults`. A request gets the first fault that applies to it.
   */
  readonly failTokenRequests: (fault: Fault.Fault, options?: FaultOptions) => Effect.Effect<void>
  /** Applies this fault to the next requests to the business API. The options are those of `failTokenRequests`. */
  readonly failCalls: (fault: Fault.Fault, options?: FaultOptions) => Effect.Effect<void>
  /** The faults that wait for their requests, in order. */
  readonly faults: Effect.Effect<ReadonlyArray<Fault.Pending>>
  /** Removes the waiting fault with this id, and returns whether there was one. */
  readonly removeFault: (id: number) => Effect.Effect<boolean>
  /** Removes the faults that wait. */
  readonly clearFaults: Effect.Effect<void>
  /** The newest 1 000 issued tokens, in order. */
  readonly tokens: Effect.Effect<ReadonlyArray<IssuedToken.IssuedToken>>
  /** Makes this token invalid: the business API rejects it with 401. */
  readonly revokeToken: (token: AccessToken.AccessToken) => Effect.Effect<void>
  /** Makes the token with this id invalid, and returns whether there is one. */
  readonly revokeTokenById: (id: number) => Effect.Effect<boolean>
  /** Makes every token invalid that was issued so far. */
  readonly revokeTokens: Effect.Effect<void>
  /** The scopes that V2 grants if they are requested. */
  readonly grantedScopes: Effect.Effect<ReadonlyArray<AccessScope.AccessScope>>
  /** From now on, V2 grants only these scopes. Tokens that were already issued keep theirs. */
  readonly grantScopes: (scopes: ReadonlyArray<AccessScope.AccessScope>) => Effect.Effect<void>
  /** Changes the client secret, and returns the new credentials. Tokens that were already issued stay valid. */
  readonly rotateSecret: Effect.Effect<ClientCredentials.ClientCredentials>
  /**
   * From now on, this function handles the calls of the business API that have a valid token which covers their group, unless there
   * are fixtures.
   */
  readonly handleCalls: (
    handle: (call: Received.Received) => Effect.Effect<HttpServerResponse.HttpServerResponse>
  ) => Effect.Effect<void>
  /**
   * The current fixtures. Each contains the response to its next call, followed by the rest of its sequence.
   */
  readonly fixtures: Effect.Effect<ReadonlyArray<Fixture.Fixture>>
  /**
   * Replaces the fixtures. While there are any, a call with a valid token gets the fixture for its method, path and query, or the status
   * 404 or 405.
   */
  readonly setFixtures: (fixtures: ReadonlyArray<Fixture.Fixture>) => Effect.Effect<void>
  /** The clock of the simulator: the Effect Clock and what `advanceClock` added. */
  readonly now: Effect.Effect<DateTime.Utc>
  /** How far its clock is ahead of the Effect Clock. */
  readonly advanced: Effect.Effect<Duration.Duration>
  /** Advances the clock of the simulator. Tokens expire, and delays end, that much earlier for the program under test. */
  readonly advanceClock: (duration: Duration.DurationInput) => Effect.Effect<void>
  /**
   * Replaces the client secrets and the tokens of this simulator in a text. A text that contains one in base64, for example, is
   * replaced as a whole.
   */
  readonly mask: (text: string) => string
  /**
   * Restores the settings of the start, makes all tokens invalid, forgets all requests, and begins to count at 0. The connections of
   * received requests that wait for a response are reset.
   */
  readonly reset: Effect.Effect<void>
}

/**
 * The optional settings of a simulator. Each has a default.
 *
 * @since 1.0.0
 * @category models
 */
export interface Settings {
  /**
   * The lifetime of its tokens by the Effect Clock: at least 1 second, because `expires_in` is in whole seconds. Default: 24
   * hours, as in the contract.
   */
  readonly tokenLifetime?: Duration.DurationInput | undefined
  /**
   * Rounds the instants at which a token is issued and expires down to whole seconds. The API then rejects a token up to one second
   * before its `expires_in` is over. Default: false.
   */
  readonly wholeSeconds?: boolean | undefined
  /** The credentials that it accepts. Default: built-in credentials. */
  readonly credentials?: ClientCredentials.ClientCredentials | undefined
  /** Responses of the business API. Default: none, so that a call gets its group, method and path. */
  readonly fixtures?: ReadonlyArray<Fixture.Fixture> | undefined
  /**
   * The address on which its servers listen. Default: `127.0.0.1`. With `0.0.0.0`, other machines can reach the simulator, but these
   * packages refuse its addresses, because they accept plain http only for loopback addresses.
   */
  readonly host?: string | undefined
  /** The ports of its servers. Default: free ports. */
  readonly ports?: Readonly<Record<Received.Server, number>> | undefined
}

/**
 * Starts a simulator, which stops when its scope closes. It responds as the contract of the service specifies. Where the
 * contract specifies nothing, it follows RFC 6749 (token endpoints) and RFC 6750 (business API). The paths of its business API
 * are our choice: those below `/data-access/`, `/furnishment/` and `/enablement-services/`.
 *
 * Building the layer fails with a `ServeError` if it cannot listen on a port, and with a `ConfigError` if `tokenLifetime` is not valid.
 *
 * @since 1.0.0
 * @category layers
 * @example
 * ```ts
 * import { AuthV2 } from "@credit-data/auth-v2"
 * import { DataAccess } from "@credit-data/http-client"
 * import { Simulator } from "@credit-data/simulator"
 * import { NodeHttpClient } from "@effect/platform-node"
 * import { Layer } from "effect"
 *
 * export const Test = DataAccess.layer().pipe(
 *   Layer.provide(AuthV2.layerConfig()),
 *   Layer.provide(NodeHttpClient.layer),
 *   Layer.provide(Simulator.layerConfigProvider),
 *   Layer.provideMerge(Simulator.layer())
 * )
 * ```
 */
export const layer = (
  settings: Settings = {}
): Layer.Layer<Simulator, HttpServerError.ServeError | ConfigError.ConfigError> =>
  Layer.scoped(
    Simulator,
    make({
      tokenLifetime: settings.tokenLifetime ?? "24 hours",
      wholeSeconds: settings.wholeSeconds ?? false,
      credentials: settings.credentials ??
        { clientId: "simulated-client", clientSecret: Redacted.make("simulated-secret-0123456789abcdefghijklm") },
      fixtures: settings.fixtures ?? [],
      host: settings.host ?? "127.0.0.1",
      ports: settings.ports ?? { Api: 0, AuthV1: 0, AuthV2: 0 }
    })
  )

/**
 * The variables `CREDIT_DATA_*` that make a program use the simulator, for child processes. They contain the client secret in clear
 * text.
 *
 * @since 1.0.0
 * @category config
 * @example
 * ```ts
 * import { Simulator } from "@credit-data/simulator"
 * import { Effect } from "effect"
 * import { spawn } from "node:child_process"
 *
 * export const server = Effect.map(Simulator.variables, (variables) =>
 *   spawn("node", ["server.js"], { env: { ...process.env, ...variables } }))
 * ```
 */
export const variables: Effect.Effect<Record<string, string>, never, Simulator> = Effect.gen(function*() {
  const { credentials, environment } = yield* Simulator
  const { clientId, clientSecret } = yield* credentials
  return {
    CREDIT_DATA_ENVIRONMENT: environment.name,
    CREDIT_DATA_AUDIENCE: environment.audience,
    CREDIT_DATA_BASE_URL: environment.baseUrl,
    CREDIT_DATA_AUTH_V1_URL: environment.authV1Url,
    CREDIT_DATA_AUTH_V2_URL: environment.authV2Url,
    CREDIT_DATA_CLIENT_ID: clientId,
    CREDIT_DATA_CLIENT_SECRET: Redacted.value(clientSecret),
    CREDIT_DATA_SCOPES: AccessScope.all.join(" ")
  }
})

/**
 * Sets the `variables` in the ConfigProvider, so that `AuthV1.layerConfig()` and `AuthV2.layerConfig()` use the simulator. On Effect 3, this
 * also applies to layers that are built later, so use it with one simulator only.
 *
 * @since 1.0.0
 * @category layers
 */
export const layerConfigProvider: Layer.Layer<never, never, Simulator> = Layer.unwrapEffect(
  Effect.gen(function*() {
    const own = new Map(Object.entries(yield* variables))
    const others = yield* Effect.configProviderWith(Effect.succeed)
    return Layer.setConfigProvider(ConfigProvider.orElse(ConfigProvider.fromMap(own), () => others))
  })
)
