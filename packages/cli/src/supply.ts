import * as AuthV1 from "@credit-data/auth-v1/AuthV1"
import * as AuthV2 from "@credit-data/auth-v2/AuthV2"
import type { AccessToken } from "@credit-data/core/AccessToken"
import * as AccessTokens from "@credit-data/core/AccessTokens"
import { within } from "@credit-data/core/Internal"
import type * as TokenEndpoint from "@credit-data/core/TokenEndpoint"
import type { TokenError } from "@credit-data/core/TokenError"
import * as Variables from "@credit-data/core/Variables"
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { exitCode } from "./exitCode.ts"
import { Failure } from "./failure.ts"
import { waiting } from "./terminal.ts"
import * as Transport from "./transport.ts"

export type Version = "v1" | "v2"

/** The time after which the user no longer waits, in milliseconds. */
interface Patience {
  readonly timeout: number | undefined
}

/** The choice of the user. */
interface Choice extends Patience {
  readonly auth: Version | undefined
  readonly cache: boolean
  readonly verbose: boolean
}

/** The version that the variables select. */
export const versionConfig: Config.Config<Version> = Config.withDefault(
  Variables.literal("CREDIT_DATA_AUTH", { description: "the version of the token endpoint", values: ["v1", "v2"] }),
  "v2"
)

/** The version to use. */
export const versionOf = ({ auth }: Pick<Choice, "auth">): Effect.Effect<Version, ConfigError.ConfigError> =>
  auth === undefined
    ? Effect.map(Variables.read({ version: versionConfig }), ({ version }) => version)
    : Effect.succeed(auth)

/** The token endpoint of a version. Its failure explains more than the end of the user's patience, so it comes first. */
export const endpointLayer = (
  version: Version,
  { timeout }: Patience = { timeout: undefined }
): Layer.Layer<TokenEndpoint.TokenEndpoint, ConfigError.ConfigError, HttpClient.HttpClient> => {
  const settings = timeout === undefined ? {} : { deadline: timeout * 0.9 }
  return version === "v1" ? AuthV1.layerTokenEndpointConfig(settings) : AuthV2.layerTokenEndpointConfig(settings)
}

/** Fails when the user's patience ends. Shows a spinner until then. */
export const patiently = ({ timeout }: Patience) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  waiting(
    timeout === undefined ? effect : within(timeout, () =>
      new Failure({
        code: exitCode.unavailable,
        message: `Timed out after ${timeout} ms (--timeout). Use --verbose to see where.`
      }))(effect)
  )

/** A token that covers all requested scopes. */
export const covering = (
  patience: Patience
): Effect.Effect<AccessToken, TokenError | Failure, AccessTokens.AccessTokens> =>
  Effect.gen(function*() {
    const { get, requestedScopes } = yield* AccessTokens.AccessTokens
    const token = yield* patiently(patience)(get)
    const missing = token.missing(requestedScopes)
    if (missing.length === 0) return token
    return yield* new Failure({
      code: exitCode.scopeMissing,
      message: `The token does not cover ${missing.join(" ")}. ` +
        "Ask the operator to grant it, or remove it from CREDIT_DATA_SCOPES."
    })
  })

/** Loaded only if it is used, because it takes longer than the rest of the supply. */
const cache = Effect.promise(() => import("./cache.ts"))

/** The supply for the choice of the user. */
export const layer = (
  choice: Choice
): Layer.Layer<AccessTokens.AccessTokens | HttpClient.HttpClient, ConfigError.ConfigError | Failure> =>
  Layer.unwrapEffect(
    Effect.map(versionOf(choice), (version) =>
      Layer.provide(
        choice.cache
          ? Layer.unwrapEffect(Effect.map(cache, ({ supplyLayer }) => supplyLayer(choice.auth)))
          : AccessTokens.layer(),
        endpointLayer(version, choice)
      ))
  ).pipe(Layer.provideMerge(Transport.layer(choice)))
