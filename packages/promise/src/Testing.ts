/**
 * A connection for tests, without a server and without credentials.
 *
 * @since 1.0.0
 */
import * as AccessTokens from "@credit-data/core/AccessTokens"
import { ofFetch } from "@credit-data/http-client/Internal"
import * as Layer from "effect/Layer"
import type { Connection } from "./Connection.ts"
import { logging } from "./internal/logging.ts"
import { open } from "./internal/open.ts"
import { plain } from "./internal/plain.ts"

/**
 * A connection whose calls go to a function of the test.
 *
 * @since 1.0.0
 * @category models
 */
export interface TestConnection extends Connection {
  /** The requests so far, in order. Their bodies have not been read. */
  readonly calls: ReadonlyArray<Request>
}

/**
 * Opens a connection whose requests go to this function, without a server and without credentials. The function gets each request, and returns
 * its response: after a 401, it gets the request again with another token. If it throws an error of this package, the call rejects with that
 * error. To imitate a broken connection, throw a plain `Error`: the call rejects with a `CallError`. The base URL is `http://localhost`.
 *
 * @since 1.0.0
 * @category constructors
 * @example
 * ```ts
 * import { connectTest } from "@credit-data/promise"
 *
 * export const test = async () => {
 *   const api = await connectTest(() => Response.json({ id: 42 }))
 *   const response = await api.dataAccess("/data-access/consumers/42")
 *   console.log(await response.json()) // { id: 42 }
 *   console.log(api.calls.map(({ method, url }) => `${method} ${url}`)) // [ 'GET http://localhost/data-access/consumers/42' ]
 * }
 * ```
 */
export const connectTest = async (
  respond: (request: Request) => Response | Promise<Response>
): Promise<TestConnection> => {
  const calls: Array<Request> = []
  const connection = await open({
    supply: Layer.provide(AccessTokens.layerTest(), logging()),
    sender: ofFetch(async (input, init) => {
      const request = new Request(input, init)
      calls.push(request.clone())
      return respond(request)
    }, plain),
    release: () => {}
  })
  return { ...connection, calls }
}
