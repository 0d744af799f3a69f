/**
 * The client of `ioredis` that a program passes to a store.
 *
 * @since 1.0.0
 */

/**
 * What a store uses of a client. Every `Redis` and every `Cluster` of `ioredis` has it, whatever its version or its copy.
 *
 * @since 1.0.0
 * @category models
 */
export interface RedisClient {
  /** The state of the connection. */
  readonly status: string
  readonly on: (event: string, listener: (value: unknown) => void) => unknown
  readonly off: (event: string, listener: (value: unknown) => void) => unknown
  readonly defineCommand: (name: string, definition: { readonly lua: string; readonly numberOfKeys: number }) => void
  /** The nodes of a cluster. A client for one server has no such member. */
  readonly nodes?: () => ReadonlyArray<unknown>
}
