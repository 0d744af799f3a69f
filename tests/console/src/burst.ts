import { SimulatorConsole } from "@credit-data/simulator"
import { listen } from "@credit-data/test-support/listen"
import { Effect, Layer } from "effect"
import { createServer } from "node:http"
import { send } from "./client.ts"

const event = (id: number) => {
  const request = {
    id,
    server: "Api",
    receivedAt: "2026-01-01T00:00:00.000Z",
    method: "GET",
    url: `/data-access/${id}`,
    ordinal: id,
    token: null,
    issuedToken: null,
    original: null,
    fault: null,
    status: 200,
    error: null,
    milliseconds: 1
  }
  const pending = { ...request, status: null, milliseconds: null }
  return [pending, request].map((data) => `id: run.${id}\nevent: request\ndata: ${JSON.stringify(data)}\n\n`).join("")
}

/** Serves the page of an admin server with this many requests in its stream, faster than a simulator can receive them. */
export const burst = (requests: number) =>
  Layer.scoped(
    SimulatorConsole.SimulatorConsole,
    Effect.gen(function*() {
      const { key, url } = yield* SimulatorConsole.SimulatorConsole
      const { body, headers } = yield* send(url)
      const server = createServer((request, response) => {
        if (request.url?.startsWith("/api/v1/events") === true) {
          response.writeHead(200, { "content-type": "text/event-stream" })
          for (let id = 1; id <= requests; id++) response.write(event(id))
        } else response.writeHead(200, Object.fromEntries(headers)).end(body)
      })
      return { key, url: `http://127.0.0.1:${yield* listen(server)}` }
    })
  ).pipe(Layer.provide(SimulatorConsole.layer()))
