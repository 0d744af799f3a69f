import { type Connection, isRetryable } from "@credit-data/promise"
import { createServer, type Server } from "node:http"
import { log } from "./log.ts"

/** A status, and a body if there is one. */
type Reply = readonly [status: number, body?: unknown]

/** What the API returns about a consumer. */
const isConsumer = (body: unknown): body is { readonly path: string } =>
  typeof body === "object" && body !== null && "path" in body && typeof body.path === "string"

// What the callers of this service get. 503: the same request can succeed later. 500: it cannot, and the owners of this
// service have to act. A 401 or 403 of the API is never passed on, because a caller would take it for a problem with its
// own credentials. A log line has no id, which is personal data.

const failed = (why: string, status: 500 | 503): Reply => {
  log("ERROR", `A call of Data Access failed: ${why}`)
  return [status]
}

const read = async (api: Connection, id: string): Promise<Reply> => {
  const signal = AbortSignal.timeout(10_000)
  try {
    const response = await api.call("dataAccess", "GET", "/data-access/consumers/{id}", { id }, { signal })
    const { status } = response
    if (status === 404) return [404]
    if (status === 429 || status >= 500) return failed(`status ${status}`, 503)
    const body: unknown = response.ok ? await response.json() : undefined
    return isConsumer(body)
      ? [200, { id, path: body.path }]
      : failed(`status ${status}, or another body than expected`, 500)
  } catch (error) {
    return failed(error instanceof Error ? error.name : "unknown", isRetryable(error) ? 503 : 500)
  }
}

const reply = async (api: Connection, path: string): Promise<Reply> => {
  if (path === "/health/live") return [200]
  if (path === "/health/ready") return [await api.ready() ? 200 : 503]
  const [, id] = /^\/consumers\/(\w+)$/.exec(path) ?? []
  return id === undefined ? [404] : read(api, id)
}

/** The service. Each response closes its connection while the server ends, so that its client uses another instance. */
export const makeService = (api: Connection): Server => {
  // longer than load balancers keep an idle connection: if the server closed it first, a request could be on its way
  const server = createServer({ keepAliveTimeout: 75_000 }, async ({ method, url = "/" }, response) => {
    const [path = ""] = url.split("?")
    const [status, body] = method === "GET" ? await reply(api, path) : [405]
    if (!server.listening) response.setHeader("connection", "close")
    if (body !== undefined) response.setHeader("content-type", "application/json")
    response.writeHead(status).end(body === undefined ? undefined : JSON.stringify(body))
  })
  return server
}
