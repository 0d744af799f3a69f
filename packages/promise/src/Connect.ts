/**
 * Opens a connection to the credit-data API, for programs that do not use Effect.
 *
 * @since 1.0.0
 */
import type { Connection, Options } from "./Connection.ts"
import { open } from "./internal/open.ts"
import { service } from "./internal/service.ts"

/**
 * Opens a connection. It reads and checks the configuration. The first call requests the token.
 *
 * Rejects with a `ConfigError` that lists what is wrong with the variables, or with a `TypeError` that names a wrong option.
 *
 * @since 1.0.0
 * @category constructors
 * @example
 * ```ts
 * import { connect } from "@credit-data/promise"
 *
 * export const main = async () => {
 *   const api = await connect()
 *   const response = await api.dataAccess("/data-access/consumers/42")
 *   console.log(response.status, await response.json())
 *   await api.close()
 * }
 * ```
 */
export const connect = async (options: Options = {}): Promise<Connection> => open(service(options))
