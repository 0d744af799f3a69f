import type { RedisClient } from "@credit-data/store-redis/RedisClient"
import * as five from "ioredis"
import type { ClusterOptions, RedisOptions as Options } from "ioredis"
import * as six from "ioredis-6"

/** The classes of `Connector` differ by nominal types only. */
type RedisOptions = Omit<Options, "Connector">

type Client = RedisClient & { readonly disconnect: () => void }

interface Connection {
  readonly options: { password?: string | null | undefined }
}

/** What the recipes use of ioredis, whatever its version is. */
interface Driver {
  readonly Redis: new(options: RedisOptions) => Client & Connection
  readonly Cluster: new(
    nodes: Array<{ host: string; port: number }>,
    options: Omit<ClusterOptions, "redisOptions"> & { readonly redisOptions?: RedisOptions }
  ) => Client & { readonly on: (event: "+node", listener: (node: Connection) => void) => unknown }
}

/** The recipes in the example of `RedisClient`. A test compares the example with the lines between the two comments. */
const recipesOf = ({ Cluster, Redis }: Driver) => {
  // begin
  // a dead connection is given up after 2 seconds, and an operation does not wait for the next connection
  const limits = { socketTimeout: 2_000, connectTimeout: 2_000, maxRetriesPerRequest: 0, enableOfflineQueue: false }

  const withPassword = (password: () => string, options: RedisOptions) => {
    const client = new Redis({
      ...limits,
      ...options,
      password: password(),
      // after a failover, or when the server begins to require a password, only another connection works
      reconnectOnError: ({ message }) => /READONLY|NOAUTH/.test(message)
    })
    // the next connection uses the current password
    client.on("close", () => {
      client.options.password = password()
    })
    return client
  }

  // The master that the sentinels monitor.
  const bySentinels = (sentinels: Array<{ host: string; port: number }>, password: () => string) =>
    withPassword(password, { sentinels, name: "main", username: "credit-data" })

  // A server of a cloud, whose password is a token that expires.
  const byToken = (host: string, token: () => string, options: RedisOptions = {}) =>
    withPassword(token, { host, tls: {}, username: "credit-data", ...options })

  // A cluster over TLS.
  const ofCluster = (
    nodes: Array<{ host: string; port: number }>,
    password: () => string,
    options: RedisOptions = {}
  ) => {
    const client = new Cluster(nodes, {
      // the certificates contain host names, and not the addresses that they resolve to
      dnsLookup: (address, callback) => callback(null, address),
      enableOfflineQueue: false,
      redisOptions: { ...limits, tls: {}, username: "credit-data", password: password(), ...options }
    })
    // the next connection to a node uses the current password
    client.on("+node", (node) => {
      node.options.password = password()
    })
    return client
  }
  // end
  return { bySentinels, byToken, ofCluster, withPassword, Redis, Cluster }
}

/** The recipes with each version of ioredis that the store accepts. */
export const recipes = { "ioredis 5": recipesOf(five), "ioredis 6": recipesOf(six) }
