/**
 * The store that the processes of a fleet share, as a port to an engine, and two engines.
 *
 * @since 1.0.0
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as ConfigError from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import * as fileEngine from "./internal/fileEngine.ts"
import * as memoryEngine from "./internal/memoryEngine.ts"
import type { Service } from "./StoreEngine.ts"

/**
 * The store that the processes of a fleet share. It contains encrypted bytes.
 *
 * @since 1.0.0
 * @category services
 */
export class TokenStore extends Context.Tag("@credit-data/fleet/TokenStore")<TokenStore, Service>() {}

/**
 * A store in the memory of this process, for tests. It counts time with the clock that is in use when the layer is built.
 *
 * @since 1.0.0
 * @category layers
 */
export const layerMemory: Layer.Layer<TokenStore> = Layer.effect(TokenStore, memoryEngine.make)

/**
 * A store in a folder of one machine, for the processes of one user on it. Not for network file systems, and not for machines that share a
 * folder: their clocks differ.
 *
 * The folder is created if it is missing, with access for its owner only. Building the layer fails with a `ConfigError` if the folder cannot
 * be created or written, or if other users can enter it.
 *
 * @since 1.0.0
 * @category layers
 * @example
 * ```ts
 * import { TokenStore } from "@credit-data/fleet"
 *
 * export const Store = TokenStore.layerFileSystem({ directory: "/var/lib/my-service/tokens" })
 * ```
 */
export const layerFileSystem = (options: {
  /** The path of the folder. */
  readonly directory: string
}): Layer.Layer<TokenStore, ConfigError.ConfigError, FileSystem.FileSystem> =>
  Layer.scoped(TokenStore, fileEngine.make(options.directory))
