import { GroupClient } from "@credit-data/http-client"
import { isRequestError, kindOf } from "@credit-data/test-support/httpErrors"
import { HttpClientRequest } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { withDataAccess } from "../src/clients.ts"
import { serveHttp } from "../src/servers.ts"
import { transports } from "../src/transports.ts"

/** A server whose base path is `/v1`. Returns its base URL, and the targets of the requests as they arrived. */
const server = Effect.gen(function*() {
  const targets: Array<string | undefined> = []
  const url = yield* serveHttp((request, response) => {
    targets.push(request.url)
    response.end("{}")
  })
  return { baseUrl: `${url}/v1`, targets }
})

describe.each(transports)("the path of a call, over %s", (_name, transport) => {
  it.scoped("arrives with its values encoded, and without a fragment", () =>
    Effect.gen(function*() {
      const { baseUrl, targets } = yield* server
      yield* withDataAccess(baseUrl, transport, (client) =>
        Effect.gen(function*() {
          yield* client.get("/a#h")
          yield* client.execute(HttpClientRequest.get("/a?b=c", { hash: "h" }))
          yield* client.pipe(GroupClient.call("GET", "/consumers/{id}/score", { id: "a/b ü?c#d%2e" }))
          yield* client.get("/%252e%252e")
        }))
      assert.deepStrictEqual(targets, [
        "/v1/a",
        "/v1/a?b=c",
        "/v1/consumers/a%2Fb%20%C3%BC%3Fc%23d%252e/score",
        "/v1/%252e%252e"
      ])
    }))

  it.scoped("is not sent if a server could read it as a path outside the base path", () =>
    Effect.gen(function*() {
      const { baseUrl, targets } = yield* server
      const ids = ["..", "../../admin", "/../../admin", "//../admin", "/..;/..;", "..\\..\\admin"]
      yield* withDataAccess(baseUrl, transport, (client) =>
        Effect.gen(function*() {
          for (const id of ids) {
            const encoded = encodeURIComponent(id)
            const paths = [id, encoded, encoded.toLowerCase(), encoded.replaceAll(".", "%2e")]
            const calls = [
              ...paths.map((path) => client.get(`/consumers/${path}`)),
              client.get(`${baseUrl}/consumers/${encoded}`),
              client.pipe(GroupClient.call("GET", "/consumers/{id}", { id }))
            ]
            for (const call of calls) {
              const error = yield* Effect.flip(call)
              assert.strictEqual(isRequestError(error) ? kindOf(error) : error, "RequestError InvalidUrl", id)
            }
          }
        }))
      assert.deepStrictEqual(targets, [])
    }))
})
