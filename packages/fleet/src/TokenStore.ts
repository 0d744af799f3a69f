/**
 * The store that the processes of a fleet share, as a port to an engine, and two engines.
 *
 * @since 1.0.0
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as ConfigError from "effect/ConfigError"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Option from "effect/Option"
import * as files from "./internal/files.ts"
import * as memory from "./internal/memory.ts"
import type { StoreError } from "./StoreError.ts"

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
export interface Value {
  /** The sealed bytes. */
  readonly bytes: Uint8Array
  /** The fence of the lease under which they were written. */
  readonly fence: number
}

/**
 * A lease that was taken.
 *
 * @since 1.0.0
 * @category models
 */
export interface Lease {
  /** A number that is higher than the number of every earlier lease and value of the entry. */
  readonly fence: number
  /** When the lease was taken, in milliseconds by the store's clock. */
  readonly takenAt: number
}

/**
 * Bytes that were read from the store.
 *
 * @since 1.0.0
 * @category models
 */
export interface StoredValue extends Value {
  /** How long the value still lives, by the store's clock. */
  readonly remaining: Duration.Duration
}

/**
 * What an entry can contain at the same time: a token and a failure.
 *
 * @since 1.0.0
 * @category models
 */
export type Slot = "Token" | "Failure"

/**
 * What the slots of an entry contain. A value that the engine did not write (another type, no time to live, larger than
 * `maxValueSize`) counts as absent.
 *
 * @since 1.0.0
 * @category models
 */
export type Slots = Readonly<Record<Slot, Option.Option<StoredValue>>>

/**
 * What an engine does. An entry has a name (64 hexadecimal digits), two slots with values, and a lease. An engine that keeps
 * the rules of `StoreContract` can replace the engines of this package.
 *
 * @since 1.0.0
 * @category models
 */
export interface Service {
  /** Reads both slots of an entry at one instant. */
  readonly read: (name: string) => Effect.Effect<Slots, StoreError>
  /**
   * Takes the lease of an entry, unless another owner has it, or a slot contains a value with a fence above `seen`. Its fence is
   * higher than the fence of every earlier lease and every stored value of this entry, and higher than `above`.
   *
   * Reads both slots too, at the same instant or (with the lease) later, whether the lease was taken or not.
   */
  readonly takeLease: (name: string, lease: {
    readonly owner: string
    readonly duration: Duration.Duration
    /** The highest fence that the owner has seen. */
    readonly above: number
    /** The highest fence of the values that the owner has read. It must read newer values before it takes the lease. */
    readonly seen: number
  }) => Effect.Effect<{ readonly lease: Option.Option<Lease>; readonly slots: Slots }, StoreError>
  /** Prolongs the lease, if this owner still has it. Returns whether it does. */
  readonly renewLease: (name: string, lease: {
    readonly owner: string
    readonly duration: Duration.Duration
  }) => Effect.Effect<boolean, StoreError>
  /** Gives the lease back, if this owner still has it. */
  readonly releaseLease: (name: string, owner: string) => Effect.Effect<void, StoreError>
  /**
   * Writes a slot, unless it contains a value with a higher fence. Returns whether it was written. The value ends at an instant
   * of the store's clock and not after a time, because a store that stood still may write it late.
   */
  readonly publish: (
    name: string,
    slot: Slot,
    value: Value & { readonly expiresAt: number }
  ) => Effect.Effect<boolean, StoreError>
}

/**
 * The maximum size of a value in bytes. Larger ones count as absent.
 *
 * @since 1.0.0
 * @category constants
 */
export const maxValueSize: number = memory.maxValueSize

/**
 * A store in the memory of this process, for tests. It counts time with the clock that is in use when the layer is built.
 *
 * @since 1.0.0
 * @category layers
 */
export const layerMemory: Layer.Layer<TokenStore> = Layer.effect(TokenStore, memory.make)

/**
 * A store in a folder of one machine, for the processes on it. Not for network file systems, which do not keep the promises that
 * it needs (an exclusive creation, an atomic rename), and not for machines that share a folder: their clocks differ.
 *
 * The folder is created if it is missing, with access for its owner only. All files in it have the mode 0600.
 *
 * Building the layer fails with a `ConfigError` if the folder cannot be created, or if it exists and other users can enter it or own it. A
 * folder that is deleted while the store is in use is created again.
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
  Layer.effect(TokenStore, files.make(options))
