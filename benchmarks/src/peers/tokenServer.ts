// A token endpoint in a separate process. The path /<id>/<delay>/<lifetime>/<failing>/… sets its behaviour: the delay of a
// response and the time for which it fails at first, both in milliseconds, and the lifetime of a token in seconds. `/count/<id>`
// returns the number of token requests under an id, `/down/<id>` and `/up/<id>` make all token requests under it fail and succeed, and
// `/shift/<milliseconds>` puts the clock forward. `/api` is a business API, `/refused` rejects every token, and `/revoked` the first one.

import { createServer } from "node:http"
import { listen } from "../listen.ts"

const encoded = (part: unknown) => Buffer.from(JSON.stringify(part)).toString("base64url")

/** A JSON Web Token without a signature. One of the libraries reads the end of a token from it, and `load` does. */
const jwt = (count: number, expiresAt: number) =>
  [encoded({ alg: "none", typ: "JWT" }), encoded({ exp: Math.floor(expiresAt / 1_000), expiresAt, count }), ""].join(
    "."
  )

/** The number of a token, from its claims. */
const countOf = (authorization = ""): unknown => {
  const claims: unknown = JSON.parse(Buffer.from(authorization.split(".")[1] ?? "", "base64url").toString())
  return typeof claims === "object" && claims !== null && "count" in claims ? claims.count : undefined
}

const down = new Set<string>()
let shift = 0

const seen = new Map<string, { count: number; readonly since: number }>()

const server = createServer((request, response) => {
  const [, id = "", delay, lifetime, failing] = (request.url ?? "").split("/")
  const respond = (status: number, body: unknown, after: number) =>
    setTimeout(() => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))
    }, after)
  request.resume().on("end", () => {
    if (id === "api") return respond(200, { id: 42 }, 0)
    if (id === "refused") return respond(401, {}, 0)
    if (id === "revoked") return respond(countOf(request.headers.authorization) === 1 ? 401 : 200, {}, 0)
    if (id === "down" || id === "up") {
      if (id === "down") down.add(delay ?? "")
      else down.delete(delay ?? "")
      return respond(200, {}, 0)
    }
    if (id === "shift") {
      shift = Number(delay)
      return respond(200, {}, 0)
    }
    if (id === "count") return respond(200, { count: seen.get(delay ?? "")?.count ?? 0 }, 0)
    const requests = seen.get(id) ?? { count: 0, since: Date.now() }
    seen.set(id, requests)
    requests.count++
    const expiresAt = Date.now() + shift + Number(lifetime) * 1_000
    if (down.has(id) || Date.now() - requests.since < Number(failing)) {
      return respond(500, { error: "server_error" }, Number(delay))
    }
    return respond(
      200,
      { access_token: jwt(requests.count, expiresAt), expires_in: Number(lifetime), token_type: "Bearer" },
      Number(delay)
    )
  })
})

// on a busy machine, a connection is idle for longer than the default of 5 s, and its next request would fail
server.keepAliveTimeout = 60_000

listen(server)
