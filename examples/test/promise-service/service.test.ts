import { connectTest, type Connection, InvalidClient } from "@credit-data/promise"
import { once } from "node:events"
import { assert, it } from "vitest"
import { makeService } from "../../src/promise-service/service.ts"

/** Starts the service on a free port, and gets a path of it. */
const get = async (api: Connection, path: string) => {
  const server = makeService(api).listen(0, "127.0.0.1")
  try {
    await once(server, "listening")
    const address = server.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    const response = await fetch(`http://127.0.0.1:${port}${path}`)
    return { status: response.status, text: await response.text() }
  } finally {
    server.close()
    server.closeAllConnections()
    await api.close()
  }
}

it("the service responds for a consumer", async () => {
  const api = await connectTest(({ url }) => Response.json({ path: new URL(url).pathname }))
  const { status, text } = await get(api, "/consumers/c4711")
  assert.deepStrictEqual([status, JSON.parse(text)], [200, { id: "c4711", path: "/data-access/consumers/c4711" }])
  assert.deepStrictEqual(api.calls.map(({ method }) => method), ["GET"])
})

it("the service passes a 404 on, and makes the other failures of the API 503 or 500", async () => {
  for (const [status, expected] of [[404, 404], [429, 503], [502, 503], [401, 500], [403, 500]] as const) {
    const found = await get(await connectTest(() => new Response(null, { status })), "/consumers/42")
    assert.strictEqual(found.status, expected, `${status}`)
  }
})

it("the service responds with 500 when the token endpoint refuses the client, because a retry does not help", async () => {
  const api = await connectTest(() => new Response())
  const error = new InvalidClient("The client was refused", {
    environment: "sandbox",
    tokenEndpoint: "https://auth.example/oauth2/token",
    endpointStatus: 401,
    retryable: false
  })
  const refused: Connection = { ...api, call: () => Promise.reject(error) }
  assert.strictEqual((await get(refused, "/consumers/42")).status, 500)
})

it("the service is ready if the connection is", async () => {
  for (const [isReady, expected] of [[true, 200], [false, 503]] as const) {
    const api = { ...await connectTest(() => new Response()), ready: () => Promise.resolve(isReady) }
    assert.strictEqual((await get(api, "/health/ready")).status, expected)
  }
})

it("the service finds its routes whatever the query is", async () => {
  const api = await connectTest(({ url }) => Response.json({ path: new URL(url).pathname }))
  assert.strictEqual((await get(api, "/consumers/42?trace=1")).status, 200)
})
