import type * as AccessTokens from "@credit-data/core/AccessTokens"
import type * as TokenEndpoint from "@credit-data/core/TokenEndpoint"
import { loadStored, Sealing } from "@credit-data/fleet/Internal"
import * as SharedTokens from "@credit-data/fleet/SharedTokens"
import * as TokenStore from "@credit-data/fleet/TokenStore"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import type * as FileSystem from "@effect/platform/FileSystem"
import * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { type Accepted, present } from "./cachedToken.ts"
import { tokenFolder } from "./userFolders.ts"
import { type Failure, wrongUsage } from "./failure.ts"
import type * as Supply from "./supply.ts"

/** The folder of the cached tokens. */
export const directory: Effect.Effect<string, Failure> = Effect.try({
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
export const storeLayer: Layer.Layer<TokenStore.TokenStore, Failure, FileSystem.FileSystem> = Layer.unwrapEffect(
  Effect.map(
    directory,
    (directory) =>
      Layer.mapError(TokenStore.layerFileSystem({ directory }), (error) =>
        wrongUsage(
          `The cache folder ${directory} cannot be used. ${ConfigError.isInvalidData(error) ? error.message : ""}. ` +
            "To use another folder, set XDG_CACHE_HOME."
        ))
  )
)

/** The time in which variables are not accepted anew, in milliseconds. */
const acceptedFor = 24 * 60 * 60 * 1_000

/** Remembers that the variables are accepted, for `cachedToken`. Those of V1 are not, because its warning appears each time. */
const remember = (auth: Supply.Version | undefined) =>
  Effect.gen(function*() {
    const { parts } = yield* Effect.promise(loadStored)
    const { endpoint, present: { name: entry }, store } = yield* parts
    if (endpoint.version !== "V2") return
    const { name, secret } = present(auth)
    const look = yield* store.read(name)
    if (Option.isSome(look.value)) return
    const accepted: Accepted = { entry, scopes: endpoint.requestedScopes }
    yield* store.publish(name, {
      bytes: Sealing.seal({ secret, name, fence: look.now }, JSON.stringify(accepted)),
      fence: look.now,
      expiresAt: look.now + acceptedFor,
      owner: name
    })
  })

/** The supply whose tokens are cached. */
export const supplyLayer = (auth: Supply.Version | undefined): Layer.Layer<
  AccessTokens.AccessTokens,
  ConfigError.ConfigError | Failure,
  TokenEndpoint.TokenEndpoint
> =>
  SharedTokens.layer().pipe(
    // without it, only the next command takes longer
    Layer.tap(() => Effect.ignore(remember(auth))),
    Layer.mapError(shortSecret),
    Layer.provide(Layer.provide(storeLayer, NodeFileSystem.layer))
  )
