// Fastify without Effect: the connection logs with Fastify's logger, and closes with the server.

import { connect, isRetryable } from "@credit-data/promise"
import fastify, { type FastifyError } from "fastify"

const app = fastify({ logger: { level: "warn" } })
const api = await connect({ log: app.log })

// a 401 or 403 of the API is not for this service's own callers
const statusFor = (status: number) => status === 404 ? 404 : status === 429 || status >= 500 ? 503 : 500

app.get<{ Params: { id: string } }>("/consumers/:id", async ({ params: { id } }, reply) => {
  const signal = AbortSignal.timeout(15_000)
  const consumer = await api.call("dataAccess", "GET", "/data-access/consumers/{id}", { id }, { signal })
  return consumer.ok ? reply.send(await consumer.json()) : reply.status(statusFor(consumer.status)).send()
})

app.get("/health/ready", async (_, reply) => reply.status(await api.ready() ? 200 : 503).send())

app.setErrorHandler((error: FastifyError, request, reply) => {
  request.log.error({ failure: error.name }, "A request failed.")
  return reply.status(error.statusCode ?? (isRetryable(error) ? 503 : 500)).send()
})

app.addHook("onClose", () => api.close())

const port = Number(process.env["PORT"] ?? 3000)
await app.listen({ port })
console.log(`Listening on ${port}`)

// not `once`: a second signal must not end the process
process.on("SIGTERM", () => void app.close())
