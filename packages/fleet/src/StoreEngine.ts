/**
 * What an engine of the store does.
 *
 * @since 1.0.0
 */
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type { StoreError } from "./StoreError.ts"

/**
 * Bytes in the store.
 *
 * @since 1.0.0
 * @category models
 */
export interface Value {
  /** The encrypted bytes. */
  readonly bytes: Uint8Array
  /**
   * Orders an entry's values: a newer value has a higher fence. It is the store's time in milliseconds when the token was requested,
   * increased if necessary so that it is higher than the previous value's fence.
   */
  readonly fence: number
}

/**
 * What an entry contains. A value that the engine did not write (another type, no time to live, larger than `maxValueSize`) counts
 * as absent.
 *
 * @since 1.0.0
 * @category models
 */
export interface Look {
  readonly value: Option.Option<Value>
  /** When the entry was read, in milliseconds by the store's clock. */
  readonly now: number
}

/**
 * A lease that a process wants.
 *
 * @since 1.0.0
 * @category models
 */
export interface Wanted {
  readonly owner: string
  readonly duration: Duration.Duration
  /** The highest fence that the owner has read. It must read a value with a higher fence before it takes the lease. */
  readonly seen: number
}

/**
 * What an engine does. An entry has a name (64 hexadecimal digits), a value, and a lease. An engine that keeps the rules of
 * `StoreContract` can replace the engines of this package.
 *
 * @since 1.0.0
 * @category models
 */
export interface Service {
  /** Reads an entry. */
  readonly read: (name: string) => Effect.Effect<Look, StoreError>
  /**
   * Takes the lease of an entry, or prolongs it for its owner, unless another owner has it, or the value has a fence above `seen`.
   * Reads the entry too, at the same instant or (with the lease) later, whether the lease was taken or not.
   */
  readonly takeLease: (name: string, wanted: Wanted) => Effect.Effect<Look & { readonly isTaken: boolean }, StoreError>
  /** Gives the lease back, if this owner still has it. */
  readonly releaseLease: (name: string, owner: string) => Effect.Effect<void, StoreError>
  /**
   * Writes the value, unless there is one with a higher fence, and then gives the lease back, if this owner still has it. Returns whether
   * the value was written. The value expires at an instant of the store's clock, and not after a duration, because a store that was
   * paused may write it late. An engine without transactions may look first and then write.
   */
  readonly publish: (
    name: string,
    value: Value & { readonly expiresAt: number; readonly owner: string }
  ) => Effect.Effect<boolean, StoreError>
}

/**
 * The maximum size of a value in bytes. Larger ones count as absent.
 *
 * @since 1.0.0
 * @category constants
 */
export const maxValueSize: number = 256 * 1024
