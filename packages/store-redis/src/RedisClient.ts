/**
 * The `ioredis` client that you pass to a store.
 *
 * @since 1.0.0
 */

/**
 * The members of an `ioredis` client that a store uses. `Redis` and `Cluster` have them.
 *
 * The example contains clients for Sentinel, for a cloud server whose password is a token, and for a cluster over TLS. They read
 * the password again for each new connection.
 *
 * @since 1.0.0
 * @category models
 * @example
 * ```ts
 * import { Cluster, Redis, type RedisOptions } from "ioredis"
 *
 * // a dead connection is given up after 2 seconds, and an operation does not wait for the next connection
 * const limits = { socketTimeout: 2_000, connectTimeout: 2_000, maxRetriesPerRequest: 0, enableOfflineQueue: false }
 *
 * const withPassword = (password: () => string, options: RedisOptions) => {
 *   const client = new Redis({
 *     ...limits,
 *     ...options,
 *     password: password(),
 *     // after a failover, or when the server begins to require a password, only another connection works
 *     reconnectOnError: ({ message }) => /READONLY|NOAUTH/.test(message)
 *   })
 *   // the next connection uses the current password
 *   client.on("close", () => {
 *     client.options.password = password()
 *   })
 *   return client
 * }
 *
 * // The master that the sentinels monitor.
 * export const bySentinels = (sentinels: Array<{ host: string; port: number }>, password: () => string) =>
 *   withPassword(password, { sentinels, name: "main", username: "credit-data" })
 *
 * // A server of a cloud, whose password is a token that expires.
 * export const byToken = (host: string, token: () => string, options: RedisOptions = {}) =>
 *   withPassword(token, { host, tls: {}, username: "credit-data", ...options })
 *
 * // A cluster over TLS.
 * export const ofCluster = (
 *   nodes: Array<{ host: string; port: number }>,
 *   password: () => string,
 *   options: RedisOptions = {}
 * ) => {
 *   const client = new Cluster(nodes, {
 *     // the certificates contain host names, and not the addresses that they resolve to
 *     dnsLookup: (address, callback) => callback(null, address),
 *     enableOfflineQueue: false,
 *     redisOptions: { ...limits, tls: {}, username: "credit-data", password: password(), ...options }
 *   })
 *   // the next connection to a node uses the current password
 *   client.on("+node", (node) => {
 *     node.options.password = password()
 *   })
 *   return client
 * }
 * ```
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
