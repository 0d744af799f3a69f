/**
 * The store that the processes of a fleet share, as a port to an engine, and two engines.
 *
 * @since 1.0.0
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as ConfigError from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import * as files from "./internal/files.ts"
import * as memory from "./internal/memory.ts"
import * as port from "./internal/port.ts"

/**
 * The store that the processes of a fleet share. It contains sealed bytes, and is independent of tokens.
 *
 * @since 1.0.0
 * @category services
 */
export class TokenStore extends Context.Tag("@credit-data/fleet/TokenStore")<TokenStore, Service>() {}

/**
 * Bytes in the store.
 *
 * @since 1.0.0
 * @category models
 */
export interface Value extends port.Value {}

/**
 * What an entry contains.
 *
 * @since 1.0.0
 * @category models
 */
export interface Look extends port.Look {}

/**
 * A lease that a process wants.
 *
 * @since 1.0.0
 * @category models
 */
export interface Wanted extends port.Wanted {}

/**
 * What an engine does. An engine that keeps the rules of `StoreContract` can replace the engines of this package.
 *
 * @since 1.0.0
 * @category models
 */
export interface Service extends port.Service {}

/**
 * The maximum size of a value in bytes. Larger ones count as absent. A token has at most 64 KiB.
 *
 * @since 1.0.0
 * @category constants
 */
export const maxValueSize: number = port.maxValueSize

/**
 * A store in the memory of this process, for tests. It counts time with the clock that is in use when the layer is built.
 *
 * @since 1.0.0
 * @category layers
 */
export const layerMemory: Layer.Layer<TokenStore> = Layer.effect(TokenStore, memory.make)

/**
 * A store in a folder of one machine, for the processes on it. Not for network file systems, which lack exclusive creation and atomic
 * rename, and not for machines that share a folder: their clocks differ.
 *
 * The folder is created if it is missing, with access for its owner only. All files in it have the mode 0600. An entry has one file for
 * its value and one for its lease. A process that takes over from one that was killed leaves one more file, which a store removes when
 * it is built a week later.
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
  Layer.scoped(TokenStore, files.make(options.directory))
