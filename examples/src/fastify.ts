// Fastify without Effect: the connection logs with Fastify's logger, and closes after the server.

import { connect, isRetryable } from "@credit-data/promise"
import fastify from "fastify"

const app = fastify({ logger: { level: "warn" } })
const api = await connect({ log: app.log })

app.get<{ Params: { id: string } }>("/consumers/:id", async ({ params: { id } }, reply) => {
  const signal = AbortSignal.timeout(15_000)
  const consumer = await api.call("dataAccess", "GET", "/data-access/consumers/{id}", { id }, { signal })
  return reply.status(consumer.status).send(await consumer.json())
})

app.get("/health/ready", async (_, reply) => reply.status((await api.status()).usable ? 200 : 503).send())

app.setErrorHandler((error, _, reply) => reply.status(isRetryable(error) ? 503 : 500).send())

app.addHook("onClose", () => api.close())

const port = Number(process.env["PORT"] ?? 3000)
await app.listen({ port })
console.log(`Listening on ${port}`)

process.once("SIGTERM", () => void app.close())
