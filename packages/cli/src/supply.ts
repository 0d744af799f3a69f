import * as AuthV1 from "@credit-data/auth-v1/AuthV1"
import * as AuthV2 from "@credit-data/auth-v2/AuthV2"
import type { AccessToken } from "@credit-data/core/AccessToken"
import * as AccessTokens from "@credit-data/core/AccessTokens"
import { within } from "@credit-data/core/Internal"
import type * as TokenEndpoint from "@credit-data/core/TokenEndpoint"
import type { TokenError } from "@credit-data/core/TokenError"
import * as Variables from "@credit-data/core/Variables"
import * as SharedTokens from "@credit-data/fleet/SharedTokens"
import * as TokenStore from "@credit-data/fleet/TokenStore"
import * as Plan from "@credit-data/migration/Plan"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Config from "effect/Config"
import * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { tokenFolder } from "./cacheFolders.ts"
import { exitCode } from "./exitCode.ts"
import { Failure, wrongUsage } from "./failure.ts"
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

/** The version to use. In the stage `shadow`, callers get the V1 token. */
export const versionOf = ({ auth }: Pick<Choice, "auth">): Effect.Effect<Version, ConfigError.ConfigError> =>
  auth === undefined
    ? Effect.map(
      Variables.read({ stage: Config.withDefault(Plan.config.stage, "v2") }),
      ({ stage }) => stage === "v2" ? "v2" : "v1"
    )
    : Effect.succeed(auth)

/** The folder of the cached tokens. */
export const cacheDirectory: Effect.Effect<string, Failure> = Effect.try({
  try: tokenFolder,
  catch: () => wrongUsage("This user has no home folder for the cache. Set XDG_CACHE_HOME to the path of a folder.")
})

/** The error for a client secret that is too short to seal tokens, in this command's words. */
export const shortSecret = <E>(error: E): E | Failure =>
  ConfigError.isConfigError(error) && ConfigError.isInvalidData(error) && error.path.includes("clientSecret")
    ? wrongUsage(
      "--cache needs a client secret of at least 32 characters, because it seals the token with the secret. " +
        "CREDIT_DATA_CLIENT_SECRET is shorter. Run the command without --cache, or ask the operator for a longer secret."
    )
    : error

/** The store of the cached tokens. */
export const cacheLayer: Layer.Layer<TokenStore.TokenStore, Failure, FileSystem.FileSystem> = Layer.unwrapEffect(
  Effect.map(
    cacheDirectory,
    (directory) =>
      Layer.mapError(TokenStore.layerFileSystem({ directory }), (error) =>
        wrongUsage(
          `The cache folder ${directory} cannot be used. ${ConfigError.isInvalidData(error) ? error.message : ""}. ` +
            "To use another folder, set XDG_CACHE_HOME."
        ))
  )
)

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
        message:
          `There was no result within ${timeout} ms, the limit of --timeout. Use --verbose to see what was waited for.`
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

/** The supply for the choice of the user. */
export const layer = (
  choice: Choice
): Layer.Layer<AccessTokens.AccessTokens | HttpClient.HttpClient, ConfigError.ConfigError | Failure> =>
  Layer.unwrapEffect(
    Effect.map(versionOf(choice), (version) =>
      choice.cache
        ? SharedTokens.layer().pipe(
          Layer.mapError(shortSecret),
          Layer.provide([endpointLayer(version, choice), Layer.provide(cacheLayer, NodeFileSystem.layer)])
        )
        : Layer.provide(AccessTokens.layer(), endpointLayer(version, choice)))
  ).pipe(Layer.provideMerge(Transport.layer(choice)))
