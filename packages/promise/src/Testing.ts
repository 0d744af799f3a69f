/**
 * A connection for tests, without a server and without credentials.
 *
 * @since 1.0.0
 */
import * as AccessTokens from "@credit-data/core/AccessTokens"
import * as DataAccess from "@credit-data/http-client/DataAccess"
import * as EnablementServices from "@credit-data/http-client/EnablementServices"
import type * as Fake from "@credit-data/http-client/Fake"
import * as Furnishment from "@credit-data/http-client/Furnishment"
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Connection } from "./Connection.ts"
import { open } from "./internal/open.ts"

/**
 * A connection whose calls go to a function of the test.
 *
 * @since 1.0.0
 * @category models
 */
export interface TestConnection extends Connection {
  /** The calls so far, in order. Their bodies have not been read. */
  readonly calls: ReadonlyArray<Request>
}

/** Of what a relative URL is a part, because a `Request` has an absolute one. */
const base = "http://localhost"

/**
 * Opens a connection whose calls go to this function, without a server and without credentials. The function gets the request of each
 * call, and returns its response. If it throws or rejects, the call rejects with the same reason. A relative URL begins with
 * `http://localhost`.
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
  const handler: Fake.Handler = ({ body, headers, method, url }) =>
    Effect.promise(async () => {
      const request = new Request(new URL(url, base), {
        method,
        headers,
        // a `fetch` has read the body
        ...(body._tag === "Uint8Array" && { body: new Uint8Array(body.body) })
      })
      calls.push(request.clone())
      return respond(request)
    })
  const connection = await open({
    supply: Layer.merge(AccessTokens.layerTest(), FetchHttpClient.layer),
    dataAccess: DataAccess.layerTest(handler),
    furnishment: Furnishment.layerTest(handler),
    enablementServices: EnablementServices.layerTest(handler)
  })
  return { ...connection, calls }
}
