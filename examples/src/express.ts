// Express 5 without Effect: one connection for the whole process, and a status for each failure.

import { connect, isRetryable } from "@credit-data/promise"
import express, { type ErrorRequestHandler } from "express"

const api = await connect()
const app = express()

app.get("/consumers/:id", async ({ params: { id } }, response) => {
  const signal = AbortSignal.timeout(15_000)
  const consumer = await api.call("dataAccess", "GET", "/data-access/consumers/{id}", { id }, { signal })
  response.status(consumer.status).json(await consumer.json())
})

app.get("/health/ready", async (_, response) => {
  response.status((await api.status()).usable ? 200 : 503).end()
})

// Express recognizes it by its four parameters
const failed: ErrorRequestHandler = (error, _request, response, _next) => {
  response.status(isRetryable(error) ? 503 : 500).end()
}
app.use(failed)

const port = Number(process.env["PORT"] ?? 3000)
const server = app.listen(port, () => console.log(`Listening on ${port}`))

process.once("SIGTERM", () => server.close(() => void api.close()))
