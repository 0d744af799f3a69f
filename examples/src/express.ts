// Express 5 without Effect: one connection for the whole process.

import { connect, isRetryable } from "@credit-data/promise"
import express, { type ErrorRequestHandler } from "express"

const api = await connect()
const app = express()

// a 401 or 403 of the API is not for this service's own callers
const statusFor = (status: number) => status === 404 ? 404 : status === 429 || status >= 500 ? 503 : 500

// during a shutdown, each response closes its connection
app.use((_, response, next) => {
  if (!server.listening) response.set("connection", "close")
  next()
})

app.get("/consumers/:id", async ({ params: { id } }, response) => {
  const signal = AbortSignal.timeout(15_000)
  const consumer = await api.call("dataAccess", "GET", "/data-access/consumers/{id}", { id }, { signal })
  if (consumer.ok) response.json(await consumer.json())
  else response.status(statusFor(consumer.status)).end()
})

app.get("/health/ready", async (_, response) => {
  response.status(await api.ready() ? 200 : 503).end()
})

const failed: ErrorRequestHandler = (error, _request, response, next) => {
  if (isRetryable(error)) response.status(503).end()
  else next(error)
}
app.use(failed)

const port = Number(process.env["PORT"] ?? 3000)
const server = app.listen(port, (error) => {
  if (error !== undefined) throw error
  console.log(`Listening on ${port}`)
})

// not `once`: a second signal must not end the process
process.on("SIGTERM", () => {
  server.close(() => void api.close())
  setTimeout(() => server.closeAllConnections(), 20_000).unref()
})
