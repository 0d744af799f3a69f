import { script, start } from "@credit-data/test-support/childProcess"
import { Simulator } from "@credit-data/simulator"
import { Command, HttpClient } from "@effect/platform"
import { Effect } from "effect"
import { createServer } from "node:net"
import { files } from "@credit-data/tools/telemetry/files"

/** A port that was free a moment ago. */
export const freePort = Effect.async<number>((resume) => {
  const server = createServer()
  server.listen(0, "127.0.0.1", () => {
    const address = server.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    server.close(() => resume(Effect.succeed(port)))
  })
})

/** Starts the example service as a child process against the simulator. */
export const startService = Effect.fnUntraced(function*(variables: Record<string, string> = {}) {
  const port = yield* freePort
  const { child, end, printed } = yield* start(
    script(files.service).pipe(
      Command.env({ ...(yield* Simulator.variables), PORT: String(port), ...variables })
    )
  )
  yield* printed("Listening on")
  const url = `http://127.0.0.1:${port}`
  return {
    port,
    url,
    get: (path: string) =>
      Effect.flatMap(
        HttpClient.get(`${url}${path}`),
        (response) =>
          Effect.map(response.text, (text) => ({ status: response.status, text, headers: response.headers }))
      ),
    /** Ends the service as an orchestrator does, and returns its output and how long it took. */
    stop: Effect.timed(Effect.zipRight(child.kill("SIGTERM"), end))
  }
})
