/**
 * The decisions of the supply as pure functions, for simulations, and what the packages of this project share. It may change in any
 * version, without a notice.
 *
 * @since 1.0.0
 */

/**
 * Sends values to listeners, and counts those that are lost.
 *
 * @since 1.0.0
 * @category unstable
 */
export * as Broadcast from "./internal/supply/broadcast.ts"

/**
 * Points in time on both clocks.
 *
 * @since 1.0.0
 * @category unstable
 */
export * as Instant from "./internal/instant.ts"

/**
 * The pauses after failures.
 *
 * @since 1.0.0
 * @category unstable
 */
export * as Pause from "./internal/supply/pause.ts"

/**
 * What follows a failed token request.
 *
 * @since 1.0.0
 * @category unstable
 */
export * as Recovery from "./internal/supply/recovery.ts"

export {
  /**
   * A layer that is reused only where its configuration and its requirements are the same.
   *
   * @since 1.0.0
   * @category unstable
   */
  sharedLayer
} from "./internal/sharedLayer.ts"

export {
  /**
   * A time limit that also holds in uninterruptible regions.
   *
   * @since 1.0.0
   * @category unstable
   */
  within
} from "./internal/within.ts"

/**
 * The state of a supply, and what a caller gets.
 *
 * @since 1.0.0
 * @category unstable
 */
export * as TokenLife from "./internal/supply/tokenLife.ts"
