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
 * The store that the processes of a fleet share. It contains encrypted bytes, and is independent of tokens.
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
 * A store in a folder of one machine, for the processes on it. Not for network file systems, which lack exclusive creation and atomic
 * rename, and not for machines that share a folder: their clocks differ.
 *
 * The folder is created if it is missing, with access for its owner only. All files in it have the mode 0600. An entry has one file for
 * its value and one for its lease. If a process was killed, the process that takes over leaves one more file. A store that is built at
 * least a week later removes it.
 *
 * The operations on a lease are several system calls. A process that is stopped between two of them for longer than its lease can have the
 * lease together with another process. Both then request a token, and the processes use the newer one.
 *
 * Building the layer fails with a `ConfigError` if the folder cannot be created or written, or if other users can enter it. A folder that
 * is deleted while the store is in use is created again.
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
